"""Deletion layer owned by evidence: the sources (design/05)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from uuid import UUID

from django.db import connection
from django.db.models import Q

from apps.core import clock
from apps.evidence.content import erase_texts
from apps.evidence.coverage import covered_events, restricted_events, usable
from apps.evidence.handing_out import told
from apps.evidence.models import Content, Derivation, Evidence, SourceEvent
from apps.evidence.targets import restrict
from apps.retention.layers import CHUNK, Cleared, Exported, Layer, Target
from apps.retention.models import DeletionJob

if TYPE_CHECKING:
    from collections.abc import Sequence


class Sources(Layer):
    """Events the deletion covers lose their text and everything made from it; sources that stay may not bring the memory back.

    An erased event keeps its row, so that its id, sent again, is known to be gone. Its derivations go: what also came from
    elsewhere then rests on that alone.
    """

    key: ClassVar[str] = "sources"

    def discover(self, target: Target) -> int:
        return covered_events(target).filter(erased_at=None).count() + restricted_events(target).count()

    def export(self, target: Target, cursor: str | None) -> Exported:
        """The events themselves, with everything that was sent with them."""
        after = Q(id__gt=UUID(cursor)) if cursor else Q()
        found = usable(covered_events(target).filter(after)).select_related("namespace", "retention_class").order_by("id")
        events = list(found[:CHUNK])
        return Exported(told(target.tenant_id, events), str(events[-1].id) if len(events) == CHUNK else None)

    def clear(self, target: Target, cursor: str | None) -> Cleared:
        """First the covered events in the order of their keys, then the restricted ones, then the reason of the request."""
        after = Q(id__gt=UUID(cursor)) if cursor else Q()
        found = covered_events(target).filter(after, erased_at=None).order_by("id").select_for_update(no_key=True)
        events = list(found[:CHUNK])
        _erase(target.tenant_id, events)
        if len(events) == CHUNK:
            return Cleared(CHUNK, str(events[-1].id))
        count = len(events)
        if target.fact_digest is not None:
            # Marked when the deletion was accepted; the count says how many stand under the mark for this memory.
            restrict(restricted_events(target), target.fact_digest)
            count += restricted_events(target).filter(no_rebuild__contains=[target.fact_digest]).count()
        _drop_reason(target)
        return Cleared(count, None)

    def verify(self, target: Target) -> int:
        """Counted from the texts' side: Content rows that covered events still point to, and rows that still say something."""
        names = list(covered_events(target).values_list("id", flat=True))
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM evidence_sourceevent e WHERE e.tenant_id = %s AND e.id = ANY(%s) AND ("
                "e.erased_at IS NULL OR e.content_sha256 <> '' OR e.fingerprint <> '' OR cardinality(e.topics) > 0 OR EXISTS ("
                "SELECT 1 FROM evidence_content c WHERE c.tenant_id = e.tenant_id "
                "AND c.id IN (e.content_id, e.reference_id, e.metadata_id)))",
                [target.tenant_id, names],
            )
            left = int(cursor.fetchone()[0])
        left += Derivation.objects.filter(Q(child__in=names) | Q(parent__in=names), tenant_id=target.tenant_id).count()
        if target.reason_content_id is not None:
            left += Content.objects.filter(tenant_id=target.tenant_id, id=target.reason_content_id).count()
        if target.fact_digest is not None:
            left += restricted_events(target).exclude(no_rebuild__contains=[target.fact_digest]).count()
        return left


def _erase(tenant_id: UUID, events: Sequence[SourceEvent]) -> None:
    """Take the texts away and leave tombstones."""
    if not events:
        return
    keys = [event.id for event in events]
    texts = [key for event in events for key in (event.content_id, event.reference_id, event.metadata_id) if key is not None]
    SourceEvent.objects.filter(tenant_id=tenant_id, id__in=keys).update(
        erased_at=clock.now(),
        covered=True,
        content=None,
        reference=None,
        metadata=None,
        content_sha256="",
        fingerprint="",
        redactions=[],
        topics=[],
        entities=[],
        no_rebuild=[],
    )
    erase_texts(tenant_id, texts)
    Derivation.objects.filter(Q(child_id__in=keys) | Q(parent_id__in=keys), tenant_id=tenant_id).delete()
    Evidence.objects.filter(tenant_id=tenant_id, event_id__in=keys).update(availability=Evidence.Availability.ERASED)


def _drop_reason(target: Target) -> None:
    if target.reason_content_id is not None:
        DeletionJob.objects.filter(tenant_id=target.tenant_id, pk=target.job_id).update(reason=None)
        erase_texts(target.tenant_id, [target.reason_content_id])
