"""What the traces of a caller had handed out, for whoever wants it stopped (RY-06, RY-07)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from apps.retention.exposures import Exposure
from apps.retrieval.models import RetrievalTrace, TraceCandidate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.tenants.access import Access

MOST = 1000  # newest first


def find_handed_out(access: Access, trace_id: UUID | None, session_id: str | None) -> Sequence[Exposure] | None:
    """The traces of one's own subject that packed something; None when the trace or session is not the caller's.

    A session is known by its traces, and the present one also without any.
    """
    whose = Q(subject=None, actor_id=access.actor_id) if access.subject_id is None else Q(subject_id=access.subject_id)
    own = RetrievalTrace.objects.filter(whose, tenant_id=access.tenant_id)
    own = own.filter(namespaces__contained_by=list(access.readable))
    own = own.filter(pk=trace_id) if trace_id is not None else own.filter(session_id=session_id)
    if not own.exists():
        return [] if session_id is not None and session_id == access.session_id else None
    packed = TraceCandidate.objects.filter(tenant_id=access.tenant_id, chosen=True, trace_id__in=own.values("pk"))
    rows = own.filter(pk__in=packed.values("trace_id")).order_by("-at", "-id").values_list("id", "actor", "at")[:MOST]
    return [Exposure(trace_id=key, agent=agent, at=at) for key, agent, at in rows]
