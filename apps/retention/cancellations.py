"""Asking hosts to stop what they do with what they were given (RY-06, RY-07).

What was sent to a model cannot be recalled. A cancellation is recorded, says which traces had handed something out, and is shown
beside the exposures of a deletion: the result then tells what was asked to be stopped, and when.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from apps.audits import log
from apps.core.errors import NotFound
from apps.core.ids import parse_public_id, public_id
from apps.jobs.queue import publish
from apps.retention.exposures import Exposure
from apps.retention.models import Cancellation
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from apps.tenants.access import Access

# (access, trace key or None, session or None) → what the caller's own traces had handed out; None: they are not the caller's
TraceFinder = Callable[["Access", "UUID | None", "str | None"], "Sequence[Exposure] | None"]
_finders: list[TraceFinder] = []


@dataclass(frozen=True, slots=True)
class HandedOut:
    trace_id: str
    agent: str
    at: datetime


@dataclass(frozen=True, slots=True)
class CancellationView:
    """What was recorded. ``status`` never says more than that: whether a host stops is the host's to say."""

    cancellation_id: str
    status: str
    session_id: str | None
    trace_id: str | None
    requested_at: datetime
    exposures: list[HandedOut]


def set_trace_finder(finder: TraceFinder) -> None:
    """Filled by apps.retrieval, where the traces are."""
    _finders[:] = [finder]


def request_cancellation(access: Access, *, session_id: str | None, trace_id: str | None) -> CancellationView:
    """Record that what a trace or session handed out is to be used no further, and tell consumers of ``cancellation.requested``.

    Exactly one of the two is given. Raises NotFound for a trace or session that is not the caller's own (absent or foreign).
    """
    key = None if trace_id is None else parse_public_id("trc", trace_id)
    if trace_id is not None and key is None:
        raise NotFound
    with tenant_transaction(access):
        found = next((finder(access, key, session_id) for finder in _finders), None)
        if found is None:
            raise NotFound
        row = Cancellation.objects.create(
            tenant_id=access.tenant_id,
            session_id=session_id or "",
            traces=[one.trace_id for one in found] if key is None else [key],
            subject_id=access.subject_id,
            requested_by=access.actor_id,
        )
        publish(access, "cancellation.requested", [(row.id, 1)])
        log.record(
            access,
            "cancellation.requested",
            "trace" if key is not None else "session",
            trace_id or session_id or "",
            counts={"traces": len(row.traces), "exposures": len(found)},
        )
    return CancellationView(
        cancellation_id=str(row.id),
        status="recorded",
        session_id=session_id,
        trace_id=trace_id,
        requested_at=row.requested_at,
        exposures=[HandedOut(public_id("trc", one.trace_id), one.agent, one.at) for one in found],
    )


def requested_for(tenant_id: UUID, traces: Iterable[UUID]) -> dict[UUID, datetime]:
    """When somebody first asked to stop what each of these traces handed out; inside the tenant context."""
    wanted = set(traces)
    if not wanted:
        return {}
    rows = Cancellation.objects.filter(tenant_id=tenant_id, traces__overlap=list(wanted)).order_by("-requested_at")
    return {trace: row.requested_at for row in rows for trace in row.traces if trace in wanted}
