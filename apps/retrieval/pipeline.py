"""One query from question to packet (design/04 Pipeline): triage, scope, recall, authority, the pure rules, and the trace.

Everything is read in one transaction of the caller's tenant. What decides is pure (apps.retrieval.selection); this module only
fetches what those rules need, in the order in which access must be decided.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from apps.core import clock
from apps.core.errors import RevisionUnavailable
from apps.core.ids import public_id
from apps.core.prepared import fetch_prepared
from apps.memories import timeline
from apps.memories.texts import texts_of
from apps.retrieval.applicability import describe
from apps.retrieval.authority import candidates
from apps.retrieval.context import QueryContext
from apps.retrieval.filters import hard_filter
from apps.retrieval.hints import labels_of
from apps.retrieval.packet import BudgetOut, Conflict, ConflictMember, Hint, Omitted, Packet, TriageOut, item_of
from apps.retrieval.question import Question
from apps.retrieval.recall import NOTHING_RECALLED, Recalled, recall
from apps.retrieval.relevance import RelevanceRule, passes
from apps.retrieval.selection import Selection, nothing, select
from apps.retrieval.traces import TraceNote, write_trace
from apps.retrieval.triage.vocabulary import Decision
from apps.retrieval.triage.window import seen
from apps.retrieval.triaging import Triaged, codes, decide, searched, shown
from apps.retrieval.vocabulary import RULE_VERSION, BudgetUnit, Outcome, PacketFormat, Profile, Stage, Trigger
from apps.tenants.models import Scope
from apps.tenants.transactions import revision_token, tenant_transaction

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from apps.retrieval.context import Candidate
    from apps.retrieval.hints import Labels
    from apps.tenants.access import Access, NamespaceGrant

SPARE = 5  # recalled rows beyond the wanted candidates: the hard filters run afterwards
DEEPER = 5  # how many times as far recall reaches where they refused more than that
MOST_RECALLED = 4_000
CONFLICT_EXPLANATIONS = {
    "equal_time": "Two values begin at the same time and nothing tells which one holds.",
    "no_effective_time": "A value came without a time from which it holds.",
    "other_subject": "Somebody else's word stands against the record.",
    "weaker_fidelity": "The newer value rests on weaker evidence than the older one.",
    "unreliable_source": "The newer value comes from a source that cannot decide the fact.",
}
CONFLICT_EXPLANATION = "Sources, conditions or times do not decide which of these holds. Verify before relying on any of them."


def answer_query(access: Access, question: Question) -> Packet:
    """Answer one query with a packet and leave a trace.

    Raises NotFound for a project that is unknown or unreadable, and RevisionUnavailable for a ``min_revision`` that this database
    has not reached. An empty packet is a good answer.
    """
    project = access.project_namespace(question.project) if question.project is not None else _only_project(access)
    asked_at = clock.now()
    with tenant_transaction(access):
        revision, key, labelled = _snapshot(access.tenant_id)
        if question.min_revision is not None and question.min_revision > revision:
            raise RevisionUnavailable
        labels = labels_of(access.tenant_id, question, exist=labelled)
        context = _context(access, question, project, labels, asked_at, revision)
        start = clock.monotonic()
        triaged = decide(context, key, labels)
        watch = clock.monotonic()
        triage_ms = round(1000 * (watch - start), 2)
        if triaged.decision is not Decision.RETRIEVE:
            return _unanswered(access, context, triaged, revision, triage_ms, project)
        context = labels.named_in(searched(context, triaged))
        recalled, rows = _fetch(access, context, key)
        fetched = clock.monotonic()
        selection = select(context, rows, recalled.known, called_by=recalled.called, rule=_rule(access))
        outcome = _outcome(access, context, selection, project, key)
        conflicts = _conflicts(access, context, selection)
        decided = clock.monotonic()
        note = TraceNote(
            decision=triaged.decision,
            outcome=outcome,
            revision=revision,
            funnel={
                "recall": len(recalled.found),
                "authority": len(rows),
                "chosen": len(selection.chosen),
                "rejected": len(selection.rejected),
            },
            timings_ms={
                "triage": triage_ms,
                "fetch": round(1000 * (fetched - watch), 2),
                "decide": round(1000 * (decided - fetched), 2),
            },
            project_id=project.project_id if project else None,
            triage=codes(triaged),
            warnings=[hint[0] for hint in (triaged.warning,) if hint],
        )
        trace_id = write_trace(access, context, recalled, selection, note)
    warnings = [Hint(warning.code, warning.detail, warning.memory_id) for warning in selection.warnings]
    warnings += [Hint(*hint) for hint in (triaged.warning,) if hint]
    warnings += labels.warnings
    return _packet(context, selection, conflicts, warnings, outcome, revision, trace_id, triaged)


def _unanswered(
    access: Access,
    context: QueryContext,
    triaged: Triaged,
    revision: int,
    triage_ms: float,
    project: NamespaceGrant | None,
) -> Packet:
    """SKIP and ASK: a trace is written, no memory is read."""
    outcome = Outcome.SKIPPED if triaged.decision is Decision.SKIP else Outcome.CLARIFICATION_NEEDED
    selection = nothing(context, outcome)
    note = TraceNote(
        decision=triaged.decision,
        outcome=outcome,
        revision=revision,
        funnel={},
        timings_ms={"triage": triage_ms},
        project_id=project.project_id if project else None,
        triage=codes(triaged),
    )
    trace_id = write_trace(access, context, NOTHING_RECALLED, selection, note)
    return _packet(context, selection, [], [], outcome, revision, trace_id, triaged)


def _only_project(access: Access) -> NamespaceGrant | None:
    """Without a project in the body: the delegation's project if it names exactly one and the caller may read it."""
    grants = [grant for grant in access.namespaces if grant.scope == Scope.PROJECT and grant.read]
    return grants[0] if len(access.projects) == 1 and len(grants) == 1 else None


def _snapshot(tenant_id: UUID) -> tuple[int, bytes, bool]:
    """The revision this answer speaks for, the key of the tenant's index, and whether the tenant has labels.

    A trace need not survive a power cut, so its commit does not wait for the disk. The statements of a query find what they read
    by whole keys, so a plan made for all values is the plan for any: making a new one each time would cost as much as running it.
    """
    [(revision, key, labelled, *_)] = fetch_prepared(_SNAPSHOT, [tenant_id, tenant_id])
    return int(revision), bytes(key), bool(labelled)


_SNAPSHOT = """
SELECT revision, index_key, EXISTS (SELECT FROM memories_label WHERE tenant_id = %s),
    set_config('synchronous_commit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)
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


def _rule(access: Access) -> RelevanceRule:
    share = access.settings.get("relevance_share")
    return RelevanceRule(share=int(str(share))) if share is not None else RelevanceRule()


def _fetch(access: Access, context: QueryContext, key: bytes) -> tuple[Recalled, list[Candidate]]:
    """Recall and authority read; where so many were refused that wanted candidates may be missing, recall goes deeper."""
    limit = context.max_candidates + SPARE
    while True:
        recalled = recall(context, key, limit=limit)
        rows = candidates(access, context, recalled.found)
        passing = sum(1 for row in rows if hard_filter(context, row) is None)
        if not recalled.full or passing >= context.max_candidates or limit >= MOST_RECALLED:
            return recalled, rows
        limit = min(limit * DEEPER, MOST_RECALLED)


def _outcome(access: Access, context: QueryContext, selection: Selection, project: NamespaceGrant | None, key: bytes) -> str:
    """``filtered_by_scope`` only for what the caller may read in another of their own projects: a flag, no count, no id (C21)."""
    if selection.outcome != Outcome.NO_MATCH or project is None or context.trigger != Trigger.QUERY or not context.text:
        return selection.outcome
    others = frozenset(grant.id for grant in access.namespaces if grant.scope == Scope.PROJECT and grant.read) - {project.id}
    if not others:
        return selection.outcome
    elsewhere = recall(replace(context, namespaces=others, fact_keys=()), key, limit=context.max_candidates)
    related = [row for row in elsewhere.found if row.lanes]
    rule = _rule(access)
    for candidate in candidates(access, replace(context, namespaces=others), related):
        if passes(rule, elsewhere.known, candidate.recall, policy=candidate.retrieval_policy):
            return Outcome.FILTERED_BY_SCOPE
    return selection.outcome


def _conflicts(access: Access, context: QueryContext, selection: Selection) -> list[Conflict]:
    """The open conflicts that the packet touches, each with every member the caller may read."""
    touched = {row.candidate.memory_id for row in selection.chosen if row.candidate.conflict_id}
    touched |= {row.candidate.memory_id for row in selection.rejected if row.candidate.conflict_id and row.stage == Stage.PACKING}
    if not touched:
        return []
    found = timeline.open_conflicts(access, touched)
    members = {key for conflict in found for key in conflict.member_pks}
    heads = timeline.heads(context.tenant_id, members)
    texts = texts_of(context.tenant_id, heads.values())
    sources = timeline.sources_of(access, [head.id for head in heads.values()])
    return [
        Conflict(
            conflict.conflict_id,
            conflict.fact_key,
            [
                ConflictMember(
                    memory_id=public_id("mem", key),
                    version=heads[key].version,
                    content=texts[heads[key].id].content,
                    valid_from=heads[key].valid_from if heads[key].effective else None,
                    source_refs=list(sources[heads[key].id].refs) if heads[key].id in sources else [],
                )
                for key in conflict.member_pks
                if key in heads and heads[key].id in texts
            ],
            CONFLICT_EXPLANATIONS.get(conflict.reason, CONFLICT_EXPLANATION),
        )
        for conflict in found
    ]


def _packet(
    context: QueryContext,
    selection: Selection,
    conflicts: list[Conflict],
    warnings: list[Hint],
    outcome: str,
    revision: int,
    trace_id: UUID,
    triaged: Triaged,
) -> Packet:
    budget = context.budget
    return Packet(
        decision=triaged.decision,
        outcome=outcome,
        snapshot_revision=revision_token(revision),
        as_of=context.as_of,
        items=[
            item_of(row, rank=rank, applicability=describe(row.candidate.conditions), rule_version=context.rule_version)
            for rank, row in enumerate(selection.chosen, start=1)
        ],
        conflicts=conflicts,
        warnings=warnings,
        omitted=[Omitted(name, reason) for name, reason in selection.omitted],
        truncated_by_budget=selection.truncated,
        budget=BudgetOut(
            limit=budget.limit,
            used=selection.used,
            unit=budget.unit,
            tokenizer=budget.tokenizer if budget.unit == BudgetUnit.TOKENS else None,
            exact=selection.exact,
        ),
        text=selection.text if context.format == PacketFormat.TEXT else None,
        clarification=triaged.verdict.clarification if triaged.decision is Decision.ASK else None,
        triage=TriageOut(triaged.decision, triaged.divergence, shown(triaged)),
        trace_id=public_id("trc", trace_id),
    )
