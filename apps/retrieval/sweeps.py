"""What ends of traces: the whole trace, its words and what was reported about it, after the window written on it (RT-06)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from apps.evidence.content import erase_texts
from apps.retention.sweeps import CHUNK, Kept, Sweep
from apps.retrieval.models import RetrievalTrace, TraceAdoption, TraceCandidate

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction


class Traces(Sweep):
    key: ClassVar[str] = "traces"

    def count(self, tenant_id: UUID, now: datetime, kept: Kept) -> int:
        return self._rows(tenant_id, now, kept).count()

    def end(self, tx: TenantTransaction, access: Access, now: datetime, kept: Kept) -> int:  # noqa: ARG002 - no revision: no memory
        found = self._rows(access.tenant_id, now, kept).order_by("id").select_for_update(of=("self",), no_key=True)
        rows = list(found.values_list("id", "request_id")[:CHUNK])
        keys = [key for key, _ in rows]
        reports = TraceAdoption.objects.filter(tenant_id=access.tenant_id, trace_id__in=keys)
        texts = [text for text in (*(request for _, request in rows), *reports.values_list("reason_id", flat=True)) if text]
        reports.delete()
        TraceCandidate.objects.filter(tenant_id=access.tenant_id, trace_id__in=keys).delete()
        RetrievalTrace.objects.filter(tenant_id=access.tenant_id, id__in=keys).delete()
        erase_texts(access.tenant_id, texts)
        return len(rows)

    def _rows(self, tenant_id: UUID, now: datetime, kept: Kept) -> QuerySet[RetrievalTrace]:
        rows = RetrievalTrace.objects.filter(tenant_id=tenant_id, expires_at__lt=now).exclude(subject_id__in=kept.subjects)
        return rows.exclude(namespaces__overlap=list(kept.namespaces)) if kept.namespaces else rows
