"""What of a deleted target had already been given out (RY-06): the traces whose packet held it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.retention.exposures import Exposure
from apps.retrieval.models import TraceCandidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID


def find_exposures(tenant_id: UUID, memory_ids: Sequence[UUID]) -> Iterable[Exposure]:
    """One exposure per trace that packed one of these memories, oldest first."""
    rows = (
        TraceCandidate.objects.filter(tenant_id=tenant_id, memory_id__in=memory_ids, chosen=True)
        .order_by("trace__at", "trace_id")
        .values_list("trace_id", "trace__actor", "trace__at")
        .distinct()
    )
    return [Exposure(trace_id=trace_id, agent=agent, at=at) for trace_id, agent, at in rows]
