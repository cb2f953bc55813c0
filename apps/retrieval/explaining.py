"""Why a query did not give one memory: where it fell out, stage by stage (design/07 page 7, TC-12, AU-04).

What the trace holds is told as recorded. For a memory that the trace does not name, the question is asked again as a replay does,
and what comes out is told as found now. Ids, codes and counts; the terms that a memory lacks are words of the question, so they
are named only to a person who may read both, for a purpose.

A memory that is absent, another tenant's, deleted or out of the person's reach is one case: there is nothing to say about it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from apps.audits import log
from apps.core.ids import parse_public_id, public_id
from apps.memories.door import readable_memories
from apps.memories.models import Memory, MemoryVersion
from apps.retention.readiness import barrier_is_whole
from apps.retrieval.analysis import index_terms, query_terms
from apps.retrieval.authority import candidates
from apps.retrieval.filters import hard_filter
from apps.retrieval.models import TraceAdoption, TraceCandidate
from apps.retrieval.recall import Found
from apps.retrieval.replay import ask_again, places_of, trace_for_staff, words_are_gone
from apps.retrieval.traces import fate
from apps.retrieval.triage.vocabulary import Decision
from apps.retrieval.vocabulary import Fate, Lane, Outcome, Reason, Stage
from apps.retrieval.words_asked import may_read_question
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from apps.memories.revealing import Purpose
    from apps.retrieval.context import Candidate
    from apps.retrieval.models import RetrievalTrace
    from apps.retrieval.replay import Again
    from apps.tenants.access import Access


class Basis(StrEnum):
    """Whether the answer stands in the trace or was worked out for this question."""

    RECORDED = "recorded"
    NOW = "now"


class Finding(StrEnum):
    """What is said about one memory and one query."""

    GIVEN = "given"
    LEFT_OUT = "left_out"  # at a stage, for a reason
    NOT_RETRIEVED = "not_retrieved"  # triage skipped or asked: no memory was looked at
    UNAVAILABLE = "unavailable"  # nothing could be read
    WRITTEN_LATER = "written_later"
    OUT_OF_SCOPE = "out_of_scope"
    NOT_FOUND = "not_found"  # by no lane
    OUTWEIGHED = "outweighed"  # shares words, and more others than a lane brings share more
    CANNOT_TELL = "cannot_tell"  # the words of the question are gone, or the barrier cannot be read
    NOTHING = "nothing_to_say"


class Step(StrEnum):
    """How far a stage let the memory come."""

    PASSED = "passed"
    LOST = "lost"
    NOT_REACHED = "not_reached"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Words counted: those of the question, of these the ones anybody in scope uses, of these the ones this memory holds."""

    asked: int
    known: int
    held: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The answer. ``besides``: what would have kept it out anyway, worked out now. ``lacking``: only for who may read both."""

    memory_id: str
    finding: Finding
    basis: Basis
    stage: Stage | None = None
    reason: Reason | None = None
    version: int | None = None
    rank: int | None = None
    fate: Fate | None = None
    lanes: Mapping[str, int] = field(default_factory=dict)
    shared: Shared | None = None
    besides: Reason | None = None
    lacking: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[tuple[Stage, Step], ...]:
        """Every stage with how far the memory came; the relevance cut belongs to recall, although rights are decided before."""
        if self.finding is Finding.GIVEN:
            return tuple((stage, Step.PASSED) for stage in Stage)
        if self.stage is None or self.finding is Finding.NOTHING:
            return tuple((stage, Step.NOT_REACHED) for stage in Stage)
        place = list(Stage).index(self.stage)
        fallen = Step.UNKNOWN if self.finding is Finding.CANNOT_TELL else Step.LOST
        return tuple(
            (stage, Step.PASSED if number < place else fallen if number == place else Step.NOT_REACHED)
            for number, stage in enumerate(Stage)
        )


def explain(access: Access, trace_id: str, memory_id: str, *, purpose: Purpose | None = None) -> Explanation:
    """Why the query of a trace did not give a memory, or that it did; audited.

    With a ``purpose``, whoever may read the question and the memory is told the terms that the memory lacks. Raises NotPermitted
    for who may not open traces, and NotFound for an unknown or foreign trace.
    """
    with tenant_transaction(access):
        trace = trace_for_staff(access, trace_id)
        key = parse_public_id("mem", memory_id)
        memory = _seen(access, key) if key is not None else None
        if memory is None:
            found = Explanation(memory_id="", finding=Finding.NOTHING, basis=Basis.NOW)
        else:
            found = _recorded(trace, memory) or _worked_out(access, trace, memory, purpose)
        codes = [found.finding, found.basis, *([found.memory_id] if found.memory_id else [])]
        log.record(access, "trace.explained", "trace", trace_id, codes=codes)
        if found.lacking and purpose is not None:
            log.record(access, "content.revealed", "trace", trace_id, codes=[purpose, "lacking_terms"])
    return found


def _seen(access: Access, key: UUID) -> Memory | None:
    """The memory, as staff who may open traces see the rows of their whole tenant; what was deleted is not there."""
    return Memory.objects.filter(tenant_id=access.tenant_id, pk=key).exclude(state=Memory.State.REVOKED).first()


# -- what the trace says


def _recorded(trace: RetrievalTrace, memory: Memory) -> Explanation | None:
    name = public_id("mem", memory.id)
    rows = TraceCandidate.objects.filter(tenant_id=trace.tenant_id, trace_id=trace.id, memory_id=memory.id)
    row = rows.order_by("-chosen", "position", "id").first()
    if row is not None:
        return _of_row(trace, name, row)
    known = Explanation(memory_id=name, finding=Finding.NOTHING, basis=Basis.RECORDED)
    versions = MemoryVersion.objects.filter(tenant_id=trace.tenant_id, memory=memory)
    if not versions.filter(revision__lte=trace.snapshot_revision).exists():
        return replace(known, finding=Finding.WRITTEN_LATER)
    if trace.decision != Decision.RETRIEVE:
        return replace(known, finding=Finding.NOT_RETRIEVED, stage=Stage.TRIAGE)
    if memory.namespace_id not in trace.namespaces:
        return replace(known, finding=Finding.OUT_OF_SCOPE, stage=Stage.SCOPE, reason=Reason.OUT_OF_SCOPE_PROJECT)
    if trace.outcome == Outcome.UNAVAILABLE:
        return replace(known, finding=Finding.UNAVAILABLE, stage=Stage.AUTHORITY, reason=Reason.AUTHORITY_UNAVAILABLE)
    return None


def _of_row(trace: RetrievalTrace, name: str, row: TraceCandidate) -> Explanation:
    said = TraceAdoption.objects.filter(
        tenant_id=trace.tenant_id, trace_id=trace.id, memory_id=row.memory_id, version=row.version
    ).first()
    return Explanation(
        memory_id=name,
        finding=Finding.GIVEN if row.chosen else Finding.LEFT_OUT,
        basis=Basis.RECORDED,
        stage=None if row.chosen else Stage(row.components["stage"]),
        reason=Reason(row.reason) if row.reason else None,
        version=row.version,
        rank=row.position if row.chosen else None,
        fate=fate(chosen=row.chosen, used=said.used if said is not None else None),
        lanes=row.components.get("lanes", {}),
    )


# -- what is worked out now


def _worked_out(access: Access, trace: RetrievalTrace, memory: Memory, purpose: Purpose | None) -> Explanation:
    """The question again, with this memory looked for at every stage."""
    known = Explanation(memory_id=public_id("mem", memory.id), finding=Finding.CANNOT_TELL, basis=Basis.NOW, stage=Stage.RECALL)
    if not barrier_is_whole():
        return replace(known, stage=Stage.AUTHORITY)
    again = ask_again(trace)
    reader = again.attempt.access
    policies = {None, *reader.policies}
    if memory.namespace_id not in reader.readable or memory.access_policy_id not in policies:
        return replace(known, finding=Finding.LEFT_OUT, stage=Stage.AUTHORITY, reason=Reason.POLICY_RESTRICTED)
    row = _as_candidate(again, memory)
    known = replace(
        known, version=row.version if row else None, besides=hard_filter(again.attempt.asked[0], row) if row else None
    )
    if words_are_gone(trace):
        return known
    place = next((one for one in places_of(again.done.selection) if one.memory == memory.id), None)
    if place is not None and place.rank is not None:
        return replace(known, finding=Finding.GIVEN, stage=None, version=place.version, rank=place.rank, besides=None)
    if place is not None:
        stage, reason = Stage(place.stage), Reason(place.reason)
        return replace(known, finding=Finding.LEFT_OUT, stage=stage, reason=reason, version=place.version, besides=None)
    return _not_recalled(access, trace, memory, again, row, known, purpose)


def _as_candidate(again: Again, memory: Memory) -> Candidate | None:
    """The memory as the authority shows it at the time of the query, as if its key had been asked for."""
    context, _ = again.attempt.asked
    found = candidates(again.attempt.access, context, [Found(memory.id, None, {Lane.EXACT: 1})])
    return next((one for one in found if one.memory_id == memory.id and one.successor is None), None)


_WORD = re.compile(r"[a-z0-9]+", re.IGNORECASE)  # of a script whose terms are stems; others are their own spelling


def _not_recalled(
    access: Access,
    trace: RetrievalTrace,
    memory: Memory,
    again: Again,
    row: Candidate | None,
    known: Explanation,
    purpose: Purpose | None,
) -> Explanation:
    context, _ = again.attempt.asked
    asked = query_terms(context.text).terms
    used = again.attempt.recalled.known.weights.keys()
    has = index_terms(f"{row.content}\n{row.rationale or ''}") if row is not None else frozenset()
    shared = Shared(asked=len(asked), known=len(used), held=len(has & used))
    lacking: tuple[str, ...] = ()
    if purpose is not None and may_read_question(access, trace) and readable_memories(access).filter(pk=memory.pk).exists():
        spelled = {term: word for word in _WORD.findall(context.text) for term in index_terms(word)}
        lacking = tuple(spelled.get(term, term) for term in asked if term not in has)
    finding = Finding.OUTWEIGHED if shared.held else Finding.NOT_FOUND
    return replace(known, finding=finding, shared=shared, lacking=lacking)
