"""One query from question to packet (design/04 Pipeline): triage, scope, recall, authority, the pure rules, and the trace.

Everything is read in one transaction of the caller's tenant. What decides is pure (apps.retrieval.selection); this module only
fetches what those rules need, in the order in which access must be decided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from apps.core import clock
from apps.core.prepared import fetch_prepared
from apps.retention.readiness import barrier_is_whole
from apps.retrieval.answers import FALLBACK, UNREADABLE, WITHOUT_MEANING, Attempt, packet_of, unavailable
from apps.retrieval.authority import candidates
from apps.retrieval.context import QueryContext
from apps.retrieval.disputes import disputes_of
from apps.retrieval.fallback import recall_from_memories
from apps.retrieval.filters import hard_filter
from apps.retrieval.hints import labels_of
from apps.retrieval.jobs import ask_for_rebuild
from apps.retrieval.lexical import IndexUnusableError
from apps.retrieval.naming import with_names
from apps.retrieval.packet import Hint, Packet
from apps.retrieval.question import Question
from apps.retrieval.recall import Recalled, recall, with_meaning
from apps.retrieval.relevance import RelevanceRule, passes
from apps.retrieval.selection import STANDING, Selection, nothing, select
from apps.retrieval.semantic.lane import begin
from apps.retrieval.traces import TraceNote, asked_with, write_trace
from apps.retrieval.triage.vocabulary import Decision
from apps.retrieval.triage.window import seen
from apps.retrieval.triaging import codes, decide, searched
from apps.retrieval.vocabulary import RULE_VERSION, Outcome, Profile, Trigger
from apps.tenants.models import Scope
from apps.tenants.transactions import tenant_transaction, wait_for_revision

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from apps.retrieval.context import Candidate
    from apps.retrieval.hints import Labels
    from apps.retrieval.semantic.lane import Meaning
    from apps.tenants.access import Access, NamespaceGrant

SPARE = 5  # recalled rows beyond the wanted candidates: the hard filters run afterwards
DEEPER = 5  # how many times as far recall reaches where they refused more than that
MOST_RECALLED = 4_000
log = structlog.get_logger(__name__)


def answer_query(access: Access, question: Question) -> Packet:
    """Answer one query with a packet and leave a trace.

    Raises NotFound for a project that is unknown or unreadable, and RevisionUnavailable for a ``min_revision`` that this database
    does not reach within ``wait_ms``. An empty packet is a good answer. Trouble is told in the packet, never by guessing: without
    the index the newest memories of the same scope are read instead, without the memories or the barrier nothing is given out.
    """
    project = access.project_namespace(question.project) if question.project is not None else _only_project(access)
    attempt = Attempt(access, question, project)
    try:
        wait_for_revision(access, question.min_revision, wait_ms=question.wait_ms)
        if not barrier_is_whole():
            return unavailable(attempt)
        try:
            return _answered(attempt)
        except IndexUnusableError:
            log.warning("index_fallback", tenant=str(access.tenant_id))
            attempt.without_index = True
            return _answered(attempt)
    except UNREADABLE as trouble:
        log.warning("query_unavailable", tenant=str(access.tenant_id), error=type(trouble).__name__)
        return unavailable(attempt)


@dataclass(frozen=True, slots=True)
class WorkedOut:
    """What a query comes to, before anything is written or given out."""

    selection: Selection
    outcome: str
    revision: int
    labels: Labels
    funnel: dict[str, int]
    timings_ms: dict[str, float]


def work_out(attempt: Attempt, asked_at: datetime, *, lasting: bool = True) -> WorkedOut:
    """Triage, recall, authority and rules for one query, inside the caller's tenant context. Nothing is written.

    ``lasting``: something else than a trace may be written in the same transaction, whose commit has to reach the disk. Raises
    IndexUnusableError and whatever the database raises when it cannot be read.
    """
    access, question = attempt.access, attempt.question
    revision, key, labelled = _snapshot(access.tenant_id, lasting=lasting)
    labels = labels_of(access.tenant_id, question, exist=labelled)
    context = attempt.context = _context(access, question, attempt.project, labels, asked_at, revision)
    start = clock.monotonic()
    triaged = attempt.triaged = decide(
        context, None if attempt.without_index else key, labels, project_named=question.project is not None
    )
    watch = clock.monotonic()
    timings = {"triage": round(1000 * (watch - start), 2)}
    if triaged.decision is not Decision.RETRIEVE:  # no memory is read
        unasked = Outcome.SKIPPED if triaged.decision is Decision.SKIP else Outcome.CLARIFICATION_NEEDED
        return WorkedOut(nothing(context, unasked), unasked, revision, labels, {}, timings)
    context = attempt.context = labels.named_in(searched(context, triaged))
    rows = _fetch(attempt, key)
    fetched = clock.monotonic()
    selection = select(context, rows, attempt.recalled.known, called_by=attempt.recalled.called, rule=rule_of(access))
    if attempt.without_index:
        selection = replace(selection, warnings=(FALLBACK, *selection.warnings))
    elif attempt.recalled.without_meaning:
        selection = replace(selection, warnings=(WITHOUT_MEANING, *selection.warnings))
    outcome = _outcome(attempt, selection, key)
    timings |= {"fetch": round(1000 * (fetched - watch), 2), "decide": round(1000 * (clock.monotonic() - fetched), 2)}
    funnel = {
        "recall": len(attempt.recalled.found),
        "authority": len(rows),
        "chosen": len(selection.chosen),
        "rejected": len(selection.rejected),
    }
    return WorkedOut(selection, outcome, revision, labels, funnel, timings)


def _answered(attempt: Attempt) -> Packet:
    access = attempt.access
    with tenant_transaction(access) as tx:
        done = work_out(attempt, clock.now(), lasting=False)
        context, triaged = attempt.asked
        retrieved = triaged.decision is Decision.RETRIEVE
        if attempt.without_index and retrieved:
            ask_for_rebuild(tx, access, context.namespaces)
        conflicts = disputes_of(access, context, done.selection)
        hints = [hint for hint in (triaged.warning,) if hint]
        note = TraceNote(
            decision=triaged.decision,
            outcome=done.outcome,
            revision=done.revision,
            funnel=done.funnel,
            timings_ms=done.timings_ms,
            project_id=attempt.project.project_id if attempt.project else None,
            triage=codes(triaged),
            warnings=[hint[0] for hint in hints],
            asked=asked_with(access, attempt.question, context, (len(done.labels.topics), len(done.labels.entities))),
        )
        trace_id = write_trace(access, context, attempt.recalled, done.selection, note)
    if not retrieved:
        return packet_of(attempt, done.selection, done.outcome, trace_id)
    warnings = [Hint(warning.code, warning.detail, warning.memory_id) for warning in done.selection.warnings]
    warnings += [Hint(*hint) for hint in hints]
    warnings += done.labels.warnings
    return packet_of(attempt, done.selection, done.outcome, trace_id, conflicts=conflicts, warnings=warnings)


def _only_project(access: Access) -> NamespaceGrant | None:
    """Without a project in the body: the delegation's project if it names exactly one and the caller may read it."""
    grants = [grant for grant in access.namespaces if grant.scope == Scope.PROJECT and grant.read]
    return grants[0] if len(access.projects) == 1 and len(grants) == 1 else None


def _snapshot(tenant_id: UUID, *, lasting: bool) -> tuple[int, bytes, bool]:
    """The revision this answer speaks for, the key of the tenant's index, and whether the tenant has labels.

    A trace need not survive a power cut, so a commit that is not ``lasting`` does not wait for the disk. The statements of a
    query find what they read by whole keys, so a plan made for all values is the plan for any: making a new one each time would
    cost as much as running it.
    """
    [(revision, key, labelled, *_)] = fetch_prepared(_SNAPSHOT, [tenant_id, None if lasting else "off", tenant_id])
    return int(revision), bytes(key), bool(labelled)


_SNAPSHOT = """
SELECT revision, index_key, EXISTS (SELECT FROM memories_label WHERE tenant_id = %s),
    set_config('synchronous_commit', coalesce(%s, current_setting('synchronous_commit')), true),
    set_config('plan_cache_mode', 'force_generic_plan', true)
FROM tenants_tenant WHERE id = %s
"""


def _context(
    access: Access,
    question: Question,
    project: NamespaceGrant | None,
    labels: Labels,
    asked_at: datetime,
    revision: int,
) -> QueryContext:
    within = [grant for grant in access.namespaces if grant.read and (grant.scope != Scope.PROJECT or grant == project)]
    return QueryContext(
        tenant_id=access.tenant_id,
        namespaces=frozenset(grant.id for grant in within),
        as_of=question.as_of or asked_at,
        asked_at=asked_at,
        project=project.scope_id if project else None,
        project_namespace=project.id if project else None,
        subject=access.subject,
        task=question.task,
        question=question.question,
        topics=labels.topics,
        entities=labels.entities,
        types=frozenset(question.types),
        fact_keys=question.fact_keys,
        environment=question.environment,
        decision=question.decision,
        trigger=question.trigger,
        mode=question.mode,
        window=seen(question.window),
        attachments=question.attachments,
        budget=question.budget,
        max_candidates=question.max_candidates,
        max_items=question.max_items,
        format=question.format,
        style=question.style,
        profile=Profile(str(access.settings.get("lexical_profile", Profile.IDF))),
        snapshot_revision=revision,
        rule_version=RULE_VERSION,
    )


def rule_of(access: Access) -> RelevanceRule:
    share = access.settings.get("relevance_share")
    return RelevanceRule(share=int(str(share))) if share is not None else RelevanceRule()


def _fetch(attempt: Attempt, key: bytes) -> list[Candidate]:
    """Recall and authority read; where so many were refused that wanted candidates may be missing, recall goes deeper."""
    context, _ = attempt.asked
    limit = context.max_candidates + SPARE
    meaning = begin(attempt.access, context)
    while True:
        attempt.recalled = _recalled(attempt, context, key, limit, meaning)
        rows = candidates(attempt.access, context, attempt.recalled.found)
        passing = sum(1 for row in rows if hard_filter(context, row) is None)
        if not attempt.recalled.full or passing >= context.max_candidates or limit >= MOST_RECALLED:
            return rows
        limit = min(limit * DEEPER, MOST_RECALLED)


def _recalled(attempt: Attempt, context: QueryContext, key: bytes, limit: int, meaning: Meaning | None = None) -> Recalled:
    if attempt.without_index:
        return with_meaning(recall_from_memories(attempt.access, context), context, meaning, limit=limit)
    return recall(context, key, limit=limit, meaning=meaning)


def _outcome(attempt: Attempt, selection: Selection, key: bytes) -> str:
    """``filtered_by_scope`` only for what the caller may read in another of their own projects: a flag, no count, no id (C21)."""
    access, project, (context, _) = attempt.access, attempt.project, attempt.asked
    if selection.outcome != Outcome.NO_MATCH or project is None or context.trigger != Trigger.QUERY or not context.text:
        return selection.outcome
    others = frozenset(grant.id for grant in access.namespaces if grant.scope == Scope.PROJECT and grant.read) - {project.id}
    if not others:
        return selection.outcome
    there = replace(context, namespaces=others, fact_keys=())
    elsewhere = _recalled(attempt, there, key, context.max_candidates)
    related = [row for row in elsewhere.found if not row.lanes.keys() <= STANDING]
    rule = rule_of(access)
    for candidate in with_names(there, candidates(access, there, related), elsewhere.called):
        if passes(rule, elsewhere.known, candidate.recall, policy=candidate.retrieval_policy):
            return Outcome.FILTERED_BY_SCOPE
    return selection.outcome
