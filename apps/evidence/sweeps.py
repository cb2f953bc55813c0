"""What ends of events: their texts, after the days of their class (RT-06). The event stays, without words."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from django.db.models import Q

from apps.evidence.content import erase_texts
from apps.evidence.models import Evidence, SourceEvent
from apps.retention.models import RetentionClass
from apps.retention.sweeps import CHUNK, Kept, Sweep

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

_TEXTS = ("content_id", "reference_id", "metadata_id")


class EventTexts(Sweep):
    """Counted from when the platform took the event in. "Unavailable" is said of evidence then, which is not "wrong" (LN-13)."""

    key: ClassVar[str] = "event_texts"

    def count(self, tenant_id: UUID, now: datetime, kept: Kept) -> int:
        return self._rows(tenant_id, now, kept).count()

    def end(self, tx: TenantTransaction, access: Access, now: datetime, kept: Kept) -> int:  # noqa: ARG002 - no revision: no memory
        found = self._rows(access.tenant_id, now, kept).order_by("id").select_for_update(of=("self",), no_key=True)
        rows = list(found[:CHUNK])
        keys = [row.id for row in rows]
        texts = [key for row in rows for key in (getattr(row, name) for name in _TEXTS) if key is not None]
        SourceEvent.objects.filter(tenant_id=access.tenant_id, id__in=keys).update(
            content=None, reference=None, metadata=None, content_sha256="", fingerprint="", redactions=[], topics=[], entities=[]
        )
        erase_texts(access.tenant_id, texts)
        Evidence.objects.filter(
            tenant_id=access.tenant_id, event_id__in=keys, availability=Evidence.Availability.AVAILABLE
        ).update(availability=Evidence.Availability.UNAVAILABLE)
        return len(rows)

    def _rows(self, tenant_id: UUID, now: datetime, kept: Kept) -> QuerySet[SourceEvent]:
        over = Q(pk__in=[])
        for row in RetentionClass.objects.filter(tenant_id=tenant_id):
            over |= Q(retention_class_id=row.id, ingested_at__lt=now - timedelta(days=row.content_days))
        speaking = Q(content__isnull=False) | Q(reference__isnull=False) | Q(metadata__isnull=False)
        rows = SourceEvent.objects.filter(over, speaking, tenant_id=tenant_id, erased_at=None)
        return rows.exclude(kept.of_namespace()).exclude(pk__in=kept.keys).exclude(subject_id__in=kept.subjects)
