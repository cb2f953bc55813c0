"""What an agent really used of a packet, so that "not found", "not packed" and "not used" can be told apart (AU-01, AU-04)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.core import clock
from apps.core.errors import FieldError, ValidationFailed
from apps.core.ids import parse_public_id
from apps.evidence.content import erase_texts, read_texts, store_text
from apps.evidence.redaction import redact
from apps.retrieval.models import RetrievalTrace, TraceAdoption, TraceCandidate
from apps.retrieval.traces import require_own
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from apps.tenants.access import Access


@dataclass(frozen=True, slots=True)
class Adoption:
    """One version of a memory and whether the agent used it; ``reason`` is private text."""

    memory_id: str
    version: int
    used: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class UseReported:
    memory_id: str
    version: int
    used: bool


@dataclass(frozen=True, slots=True)
class Reported:
    """What the trace says now about each version that was named in the report."""

    trace_id: str
    adopted: list[UseReported]


def report_adoptions(access: Access, trace_id: str, adopted: Sequence[Adoption]) -> Reported:
    """Note which packed versions were used and which were not; saying the same again changes nothing, the last word counts.

    Raises NotFound as get_trace does, and ValidationFailed: ``not_in_trace`` for a version that the query did not look at,
    ``not_packed`` for one that the packet did not hold, ``duplicate_item`` for one that is named twice.
    """
    with tenant_transaction(access):
        trace = require_own(access, trace_id)
        keys = [(parse_public_id("mem", one.memory_id), one.version) for one in adopted]
        rows = TraceCandidate.objects.filter(tenant_id=access.tenant_id, trace_id=trace.id)
        candidates = {(memory, version): chosen for memory, version, chosen in rows.values_list("memory_id", "version", "chosen")}
        _require_packed(keys, candidates)
        # One report at a time for a trace: two that name the same version would insert it twice.
        RetrievalTrace.objects.select_for_update(no_key=True).only("id").get(tenant_id=access.tenant_id, id=trace.id)
        _keep(access, trace.id, {(memory, version): one for (memory, version), one in zip(keys, adopted, strict=True) if memory})
    return Reported(trace_id, [UseReported(one.memory_id, one.version, one.used) for one in adopted])


def _require_packed(keys: Sequence[tuple[UUID | None, int]], candidates: Mapping[tuple[UUID, int], bool]) -> None:
    times = Counter(keys)
    errors = []
    for place, (memory, version) in enumerate(keys):
        at = f"/adopted/{place}/memory_id"
        if memory is None or (memory, version) not in candidates:
            errors.append(FieldError(at, "not_in_trace", "The query did not look at this version of this memory."))
        elif not candidates[memory, version]:
            errors.append(FieldError(at, "not_packed", "The packet did not hold this version of this memory."))
        elif times[memory, version] > 1:
            errors.append(FieldError(at, "duplicate_item", "This version of this memory is named more than once."))
    if errors:
        raise ValidationFailed(errors)


def _keep(access: Access, trace_id: UUID, said: Mapping[tuple[UUID, int], Adoption]) -> None:
    """Insert what is new and change what is said differently now; a reason that is replaced is erased."""
    known = {
        (row.memory_id, row.version): row
        for row in TraceAdoption.objects.filter(tenant_id=access.tenant_id, trace_id=trace_id).order_by("id")
    }
    texts = read_texts(access.tenant_id, [row.reason_id for row in known.values()])
    replaced = []
    for (memory, version), one in said.items():
        row = known.get((memory, version))
        reason = redact(one.reason).text if one.reason else None
        if row is None:
            row = TraceAdoption(tenant_id=access.tenant_id, trace_id=trace_id, memory_id=memory, version=version)
        elif row.used == one.used and (texts.get(row.reason_id) if row.reason_id else None) == reason:
            continue
        if row.reason_id is not None:
            replaced.append(row.reason_id)
        row.used, row.actor, row.at = one.used, access.actor, clock.now()
        row.reason_id = store_text(access.tenant_id, access.readable[0], reason)
        row.save()
    erase_texts(access.tenant_id, replaced)
