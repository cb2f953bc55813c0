"""Asking a recorded question again at its own ``as_of``, and saying what is different (design/07 page 7).

Nothing of this is given to an agent: no trace, no exposure and no adoption is written, and no text leaves the verb. What comes
out are ids, versions, ranks and codes, which those who may open a trace see there anyway. That the words of the question were
used, by whom and on which trace, is an audit entry.

The question is asked with the rights its agent has now, inside the namespaces of then: never wider than either.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from apps.audits import log
from apps.core import clock
from apps.core.errors import NotFound, NotPermitted
from apps.core.ids import parse_public_id, public_id
from apps.evidence.content import read_text
from apps.memories.models import Memory
from apps.retention.readiness import barrier_is_whole
from apps.retrieval.answers import Attempt
from apps.retrieval.comparing import Change, Compared, Place, Verdict, compare
from apps.retrieval.context import Attachment, Budget, Turn
from apps.retrieval.lexical import IndexUnusableError
from apps.retrieval.models import IndexState, RetrievalTrace, TraceCandidate
from apps.retrieval.pipeline import WorkedOut, work_out
from apps.retrieval.question import Question
from apps.retrieval.triage.vocabulary import Asked
from apps.retrieval.vocabulary import RULE_VERSION, BudgetUnit, Mode, PacketFormat, Style, Trigger, WarningCode
from apps.tenants.access import ActorKind
from apps.tenants.agent_access import access_within
from apps.tenants.models import Role
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from apps.retrieval.selection import Selection
    from apps.tenants.access import Access

BEGINNINGS = frozenset({Trigger.SESSION_START, Trigger.COMPACTION, Trigger.TASK_SWITCH})
MAY_REPLAY = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})


@dataclass(frozen=True, slots=True)
class Circumstance:
    """One thing around the two runs that may be different, as it was recorded and as it is."""

    name: str  # rule_version, revision, decision, outcome, budget_used, namespaces, profile, relevance_share, index
    then: str
    now: str

    @property
    def changed(self) -> bool:
        return self.then != self.now


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of it. ``assumed``: the trace is older than the record of its parameters, so the defaults were taken."""

    trace_id: str
    verdict: Verdict
    memories: tuple[Compared, ...] = ()
    circumstances: tuple[Circumstance, ...] = ()
    assumed: bool = False

    @property
    def changed(self) -> tuple[Compared, ...]:
        """The memories that do not stand where they stood."""
        return tuple(row for row in self.memories if row.changes)


@dataclass(frozen=True, slots=True)
class Again:
    """A recorded question that was asked again: under which access, and what it came to."""

    attempt: Attempt
    done: WorkedOut


def replay_trace(access: Access, trace_id: str) -> Replay:
    """Ask the question of a trace again and compare; audited.

    Raises NotPermitted for who may not open traces, and NotFound for an unknown or foreign one.
    """
    with tenant_transaction(access):
        trace = trace_for_staff(access, trace_id)
        found = _replayed(trace)
        log.record(access, "trace.replayed", "trace", trace_id, codes=[found.verdict])
    return found


def trace_for_staff(access: Access, trace_id: str) -> RetrievalTrace:
    """The trace, for the staff who may open any of their tenant; inside the tenant's context."""
    if access.actor_kind != ActorKind.PERSON or not access.roles & MAY_REPLAY:
        raise NotPermitted
    key = parse_public_id("trc", trace_id)
    trace = RetrievalTrace.objects.filter(tenant_id=access.tenant_id, id=key).first() if key is not None else None
    if trace is None:
        raise NotFound
    return trace


def _replayed(trace: RetrievalTrace) -> Replay:
    name = public_id("trc", trace.id)
    if words_are_gone(trace):
        return Replay(name, Verdict.WORDS_GONE)
    if not barrier_is_whole():
        return Replay(name, Verdict.UNREADABLE)
    again = ask_again(trace)
    then = list(TraceCandidate.objects.filter(tenant_id=trace.tenant_id, trace_id=trace.id).order_by("position", "id"))
    now = places_of(again.done.selection)
    left = {place.memory for place in now}
    absent = _absences(trace, again.attempt.access, {row.memory_id for row in then} - left)
    memories = compare([_place(row) for row in then], now, lambda memory: absent[memory])
    circumstances = tuple(_circumstances(trace, again))
    return Replay(name, _verdict(memories, circumstances), memories, circumstances, assumed=not trace.asked)


def _verdict(memories: Iterable[Compared], circumstances: Iterable[Circumstance]) -> Verdict:
    changed = [row for row in memories if row.changes]
    answer = {"decision", "outcome"}  # how much room the same records take also depends on what is known of them since
    if any(row.touches_packet for row in changed) or any(one.changed and one.name in answer for one in circumstances):
        return Verdict.CHANGED
    return Verdict.SAME_PACKET if changed else Verdict.SAME


# -- the run


def words_are_gone(trace: RetrievalTrace) -> bool:
    """Were the words of the question erased? Beginnings of a session never had any."""
    if trace.request_id is not None:
        return words_of(trace) is None
    return bool(trace.asked.get("words", trace.trigger not in BEGINNINGS))


def words_of(trace: RetrievalTrace) -> dict[str, Any] | None:
    """The words of the question as they were kept; None when they are gone, or are not in the form in which they are kept."""
    text = read_text(trace.tenant_id, trace.request_id)
    try:
        found = json.loads(text) if text is not None else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def ask_again(trace: RetrievalTrace) -> Again:
    """Run the recorded question through the pipeline, inside the tenant's context, and write nothing.

    While nothing was written in its namespaces since, the same part of the index is read as then. Otherwise what held then may be
    past now, so past versions are read too.
    """
    access = access_within(
        trace.tenant_id,
        trace.actor_id,
        actor=trace.actor,
        subject_id=trace.subject_id,
        namespace_ids=trace.namespaces,
    )
    project = next((grant for grant in access.namespaces if trace.project_id and grant.project_id == trace.project_id), None)
    attempt = Attempt(access, _question(trace, project.scope_id if project else None), project)
    asked_at = clock.now() if written_since(trace) else trace.at
    try:
        return Again(attempt, work_out(attempt, asked_at))
    except IndexUnusableError:
        attempt.without_index = True
        return Again(attempt, work_out(attempt, asked_at))


def written_since(trace: RetrievalTrace) -> bool:
    """Has anything been written in the namespaces of a trace since its snapshot?"""
    states = IndexState.objects.filter(tenant_id=trace.tenant_id, namespace_id__in=trace.namespaces)
    return states.filter(revision__gt=trace.snapshot_revision).exists()


def _question(trace: RetrievalTrace, project: str | None) -> Question:
    words = words_of(trace) or {}
    asked, budget, default = trace.asked, trace.budget, Question()
    hints = asked.get("hints", [None, None])
    return Question(
        task=words.get("task", ""),
        question=words.get("question", ""),
        project=project if asked.get("project_named", True) else None,
        topics=tuple(words.get("topics", ())[: hints[0]]),
        entities=tuple(words.get("entities", ())[: hints[1]]),
        types=tuple(asked.get("types", ())),
        fact_keys=tuple(words.get("fact_keys", ())),
        environment=words.get("environment", {}),
        decision=Asked(asked.get("decision", Asked.RETRIEVE)),
        trigger=Trigger(trace.trigger),
        mode=Mode(trace.mode),
        as_of=trace.as_of,
        window=tuple(Turn(role=turn["role"], content=turn["content"]) for turn in words.get("window", ())),
        attachments=tuple(Attachment(**one) for one in words.get("attachments", ())),
        budget=Budget(limit=budget["limit"], unit=BudgetUnit(budget["unit"]), tokenizer=budget["tokenizer"]),
        max_candidates=asked.get("max_candidates", default.max_candidates),
        max_items=asked.get("max_items", default.max_items),
        format=PacketFormat(asked.get("format", default.format)),
        style=Style(asked.get("style", default.style)),
    )


# -- what is compared


def places_of(selection: Selection) -> list[Place]:
    """Every candidate of a run with its place."""
    chosen = [Place(one.candidate.memory_id, one.candidate.version, rank) for rank, one in enumerate(selection.chosen, start=1)]
    lost = [Place(one.candidate.memory_id, one.candidate.version, None, one.stage, one.reason) for one in selection.rejected]
    return chosen + lost


def _place(row: TraceCandidate) -> Place:
    if row.chosen:
        return Place(row.memory_id, row.version, row.position)
    return Place(row.memory_id, row.version, None, row.components.get("stage", ""), row.reason)


def _absences(trace: RetrievalTrace, access: Access, memories: set[UUID]) -> dict[UUID, Change]:
    """Why memories that were candidates are none now."""
    rows = Memory.objects.filter(tenant_id=trace.tenant_id, id__in=memories).exclude(state=Memory.State.REVOKED)
    there = dict(rows.values_list("id", "namespace_id"))
    under = dict(rows.exclude(access_policy=None).values_list("id", "access_policy_id"))
    reached = set(access.readable)
    found = {}
    for memory in memories:
        if memory not in there:
            found[memory] = Change.DELETED
        elif there[memory] not in reached or (memory in under and under[memory] not in access.policies):
            found[memory] = Change.OUT_OF_REACH
        else:
            found[memory] = Change.NOT_FOUND
    return found


def _circumstances(trace: RetrievalTrace, again: Again) -> Iterable[Circumstance]:
    context, triaged = again.attempt.asked
    done, settings = again.done, again.attempt.access.settings
    yield Circumstance("decision", trace.decision, triaged.decision)
    yield Circumstance("outcome", trace.outcome, done.outcome)
    yield Circumstance("budget_used", str(trace.budget.get("used")), str(done.selection.used))
    yield Circumstance("rule_version", trace.rule_version, RULE_VERSION)
    yield Circumstance("revision", str(trace.snapshot_revision), str(done.revision))
    yield Circumstance("namespaces", str(len(trace.namespaces)), str(len(context.namespaces)))
    without = WarningCode.INDEX_FALLBACK in trace.warnings
    yield Circumstance("index", "fallback" if without else "read", "fallback" if again.attempt.without_index else "read")
    if trace.asked:
        yield Circumstance("profile", str(trace.asked["profile"]), context.profile)
        share = trace.asked["relevance_share"]
        yield Circumstance("relevance_share", str(share), str(settings.get("relevance_share")))
