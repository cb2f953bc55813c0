"""From recalled rows to a packet in one pure step: filters, relevance, applicability, relations, order, packing (design/04).

The same context and the same rows give the same packet, byte for byte; that is what makes a trace replayable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.retrieval import ranking
from apps.retrieval.analysis import index_terms, query_terms
from apps.retrieval.applicability import classify
from apps.retrieval.context import Judged, Ranked, Rejected, Warned
from apps.retrieval.filters import (
    WITHOUT_TEXT,
    evidence_labels,
    hard_filter,
    historical_note,
    interval_hint,
    item_hints,
    needs_revalidation,
    section_of,
    unfit,
)
from apps.retrieval.fusion import fused
from apps.retrieval.names import called
from apps.retrieval.naming import spoken_for, with_names
from apps.retrieval.packing import Packed, Unit, pack
from apps.retrieval.phrases import DOCUMENT_CAP, phrase_lane, phrase_ranks, span_query
from apps.retrieval.relations import Group, settle
from apps.retrieval.relevance import ALWAYS, MEANING, WORDS, KnownTerms, RelevanceRule, passes, passes_unnamed
from apps.retrieval.vocabulary import Lane, Outcome, Reason, Section, Stage, Trigger, WarningCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from apps.retrieval.context import Candidate, QueryContext
    from apps.retrieval.names import Called

_COMPANIONS = frozenset({"contradicts", "duplicate_of"})
_DERIVED = "derived_from"
STANDING = frozenset({Lane.ALWAYS})  # lanes that bring what no question asked for
_BEGINNINGS = frozenset({Trigger.SESSION_START, Trigger.COMPACTION})
_MEANT = frozenset({Lane.EXACT, Lane.NAMED})


@dataclass(frozen=True, slots=True)
class Selection:
    """The packet before it is written as JSON, and the fate of every candidate.

    `chosen` is in packet order. `omitted` are those that passed every rule and found no room, with the reason; they are in
    `rejected` too. `text` is empty when nothing was chosen.
    """

    chosen: tuple[Judged, ...]
    rejected: tuple[Rejected, ...]
    omitted: tuple[tuple[str, Reason], ...]
    warnings: tuple[Warned, ...]
    outcome: Outcome
    text: str
    used: int
    exact: bool
    truncated: bool


def select(
    context: QueryContext,
    candidates: Iterable[Candidate],
    known: KnownTerms,
    *,
    called_by: Called | None = None,
    rule: RelevanceRule | None = None,
    phrase_cap: int = DOCUMENT_CAP,
) -> Selection:
    """Choose, order and pack.

    `candidates` are the rows the authority confirmed for what recall found, lane ranks in them, together with their companions:
    canonical records of duplicates, other sides of contradictions and conflict sets, direct predecessors (`successor` set).
    `known` are the lexical statistics of the question in the allowed scope, `called_by` its words with those that nobody there
    ever wrote; without it no slip is forgiven.
    """
    words = called_by or called(context.text)
    rows = with_names(context, _with_phrases(context, list(candidates), phrase_cap), words)
    rejected: list[Rejected] = []
    warnings: list[Warned] = []
    allowed: list[Candidate] = []
    for row in rows:
        reason = hard_filter(context, row)
        if reason is None:
            allowed.append(row)
        else:
            rejected.append(Rejected(candidate=row, stage=Stage.AUTHORITY, reason=reason))
            hint = interval_hint(row) if reason in {Reason.EXPIRED, Reason.NOT_YET_VALID} else None
            warnings += [hint] if hint is not None else []
    relevant, unrelated = _about_the_question(context, allowed, known, rule or RelevanceRule(), words)
    rejected += [Rejected(candidate=row, stage=Stage.RECALL, reason=Reason.BELOW_RELEVANCE) for row in unrelated]
    fit, unfitting = _applicable(context, relevant)
    rejected += unfitting
    settled = settle(ranking.order(fit))
    rejected += [_lost(item, Stage.RELATIONS, reason) for item, reason in settled.rejected]
    considered, beyond = settled.groups[: context.max_candidates], settled.groups[context.max_candidates :]
    rejected += [_lost(item, Stage.RANKING, Reason.BELOW_ITEM_CAP) for group in beyond for item in _all(group)]
    standing = {item.key: item for group in considered for item in _all(group)}
    units = [_unit(context, group) for group in considered]
    brief = context.trigger is Trigger.COMPACTION
    packed = pack(units, budget=context.budget, max_items=context.max_items, style=context.style, brief=brief)
    rejected += [_lost(standing[item.key], Stage.PACKING, reason) for item, reason in packed.left_out]
    return Selection(
        chosen=packed.chosen,
        rejected=tuple(rejected),
        omitted=tuple((item.candidate.public_id, reason) for item, reason in packed.left_out),
        warnings=(*warnings, *_hints(context, packed)),
        outcome=_outcome(context, packed, rejected),
        text=packed.text,
        used=packed.used,
        exact=packed.exact,
        truncated=packed.truncated,
    )


def nothing(context: QueryContext, outcome: Outcome) -> Selection:
    """The selection of a query that looks at no memory."""
    packed = pack([], budget=context.budget, max_items=context.max_items, style=context.style)
    return Selection((), (), (), (), outcome, packed.text, packed.used, packed.exact, packed.truncated)


def _with_phrases(context: QueryContext, rows: list[Candidate], cap: int) -> list[Candidate]:
    """The rows with the phrase lane in them; looked at before any filter of time, so that ranks do not move with `as_of`."""
    query = span_query("\n.\n".join(context.spoken))  # the stop keeps a span from reaching from one part into the next
    if not query:
        return rows
    readable = {row.key: _searched(row) for row in rows if row.recall.lanes and hard_filter(context, row) not in WITHOUT_TEXT}
    spans = phrase_lane(query, readable, cap=cap)
    ranks = phrase_ranks(spans)
    return [
        replace(row, recall=replace(row.recall, lanes={**row.recall.lanes, Lane.PHRASE: ranks[row.key]}, spans=spans[row.key]))
        if row.key in ranks
        else row
        for row in rows
    ]


def _searched(row: Candidate) -> str:
    return f"{row.content}\n{row.rationale}" if row.rationale else row.content


def _about_the_question(
    context: QueryContext, rows: Sequence[Candidate], known: KnownTerms, rule: RelevanceRule, words: Called
) -> tuple[list[Candidate], list[Candidate]]:
    """Rows that are about the question, then the others.

    A companion that no lane found follows the record it belongs to, what a record was made from only if that record was meant by
    key or name; a predecessor must share a word with the question itself.
    """
    terms = frozenset(query_terms(context.text).terms)
    names = spoken_for(rows, words)
    found = {row.key for row in rows if row.successor is None and _shares_enough(row, known, rule, names)}
    ids = {row.public_id for row in rows if row.key in found}
    named = {link.memory_id for row in rows if row.key in found for link in row.relations if link.type in _COMPANIONS}
    meant = (row for row in rows if row.key in found and not _MEANT.isdisjoint(row.recall.lanes))
    named |= {link.memory_id for row in meant for link in row.relations if link.type == _DERIVED}
    conflicts = {row.conflict_id for row in rows if row.key in found and row.conflict_id is not None}
    about: list[Candidate] = []
    unrelated: list[Candidate] = []
    for row in rows:
        if row.successor is not None:
            belongs = not terms.isdisjoint(index_terms(_searched(row)))
        else:
            belongs = (
                row.key in found
                or row.conflict_id in conflicts
                or row.public_id in named
                or any(link.type == "contradicts" and link.memory_id in ids for link in row.relations)
            )
        (about if belongs else unrelated).append(row)
    return about, unrelated


def _shares_enough(row: Candidate, known: KnownTerms, rule: RelevanceRule, names: frozenset[str]) -> bool:
    if not passes(rule, known, row.recall, policy=row.retrieval_policy):
        return False
    if not row.aliases or row.retrieval_policy == ALWAYS or not row.recall.lanes.keys() <= WORDS | MEANING:
        return True
    return passes_unnamed(rule, known, index_terms(_searched(row)), names)


def _applicable(context: QueryContext, rows: Sequence[Candidate]) -> tuple[list[Ranked], list[Rejected]]:
    fit: list[Ranked] = []
    unfitting: list[Rejected] = []
    for row in rows:
        applicability = classify(row.conditions, context.environment, project=context.project, revalidate=needs_revalidation(row))
        reason = unfit(context, applicability)
        if reason is None:
            fit.append(Ranked(candidate=row, applicability=applicability, fused=fused(row.recall.lanes, derived=row.derived)))
        else:
            unfitting.append(Rejected(candidate=row, stage=Stage.APPLICABILITY, reason=reason))
    return fit, unfitting


def _all(group: Group) -> tuple[Ranked, ...]:
    return group.members if group.predecessor is None else (*group.members, group.predecessor)


def _lost(item: Ranked, stage: Stage, reason: Reason) -> Rejected:
    return Rejected(candidate=item.candidate, stage=stage, reason=reason, standing=item)


def _unit(context: QueryContext, group: Group) -> Unit:
    members = tuple(_judged(context, item, disputed=group.disputed) for item in group.members)
    return Unit(members, _judged(context, group.predecessor) if group.predecessor is not None else None)


def _judged(context: QueryContext, item: Ranked, *, disputed: bool = False) -> Judged:
    candidate = item.candidate
    return Judged(
        candidate=candidate,
        applicability=item.applicability,
        section=section_of(context, candidate, item.applicability, disputed=disputed),
        labels=evidence_labels(context, candidate, disputed=disputed),
        historical_note=historical_note(context, candidate),
        fused=item.fused,
    )


def _hints(context: QueryContext, packed: Packed) -> list[Warned]:
    hints = [hint for item in packed.chosen for hint in item_hints(context, item.candidate, item.applicability)]
    hints += [
        Warned(
            code=WarningCode.CONTAINS_HIDDEN_CHARACTERS,
            detail="It holds characters that cannot be seen; they are spelled out here.",
            memory_id=item.candidate.public_id,
        )
        for item in packed.chosen
        if item.key in packed.hidden
    ]
    if not packed.exact:
        detail = "The named tokenizer is not at hand; the budget was kept with a cautious estimate."
        hints.append(Warned(code=WarningCode.TOKENIZER_ESTIMATED, detail=detail))
    return hints


def _outcome(context: QueryContext, packed: Packed, rejected: Sequence[Rejected]) -> Outcome:
    """What rules alone can say; scope, triage and authority outcomes are the caller's to add.

    Standing rules come with every question and answer none: beside them alone, a question has found nothing.
    """
    chosen = [item for item in packed.chosen if _answers(context, item)]
    if chosen:
        disputed = all(item.section is Section.CONFLICT for item in chosen)
        return Outcome.CONFLICT if disputed else Outcome.ANSWERED
    if any(_answers(context, item) for item, _ in packed.left_out):
        return Outcome.ANSWERED  # there is something, and no room for it: omitted says what
    unknown = any(entry.reason in {Reason.APPLICABILITY_UNKNOWN, Reason.NEEDS_REVALIDATION} for entry in rejected)
    return Outcome.APPLICABILITY_UNKNOWN if unknown else Outcome.NO_MATCH


def _answers(context: QueryContext, item: Judged) -> bool:
    return context.trigger in _BEGINNINGS or not item.candidate.recall.lanes.keys() <= STANDING
