"""What each signal of the order is worth: the recorded candidates of a query, ordered again without it (EL-15).

A trace keeps every part of the ranking key, so nothing is asked twice: the same candidates, one signal blank. A lane that is
taken away loses its rank, and what only it had found falls out. Candidates that fell before the order (rights, relevance,
applicability) stay out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.dateparse import parse_datetime

from apps.retrieval.context import Candidate, Ranked, Recall
from apps.retrieval.fusion import fused
from apps.retrieval.ranking import sort_key
from apps.retrieval.vocabulary import Applicability, Lane

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ALL = "every signal"
WITHOUT = "without "
# The parts of ranking.sort_key behind which another part decides; the last two are the identity of the version.
PARTS = ("applicability", "always", "exact", "fused", "evidence quality", "utility", "recency")
LANES = (Lane.EXACT, Lane.NAMED, Lane.LEXICAL, Lane.PHRASE, Lane.SEMANTIC)
_TYPE_OF_UTILITY = {0: "constraint", 1: "decision"}
_ANY_TYPE = "fact"
_NOBODY = UUID(int=0)  # the order knows memories by their public ids


def ablations(candidates: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Memory ids in order, by what was left out; ``candidates`` as a trace shows them."""
    ranked = [_ranked(row) for row in candidates if "fused" in row["components"]]
    found = {ALL: _order(ranked)}
    for lane in LANES:
        found[f"{WITHOUT}{lane.value}"] = _order([one for row in ranked if (one := _without(row, lane)) is not None])
    for place, part in enumerate(PARTS):
        if part != Lane.EXACT.value:  # as a lane, above
            found[f"{WITHOUT}{part}"] = _order(ranked, blank=place)
    return found


def _order(rows: Sequence[Ranked], *, blank: int | None = None) -> list[str]:
    def key(row: Ranked) -> tuple[Any, ...]:
        parts = sort_key(row)
        return parts if blank is None else (*parts[:blank], *parts[blank + 1 :])

    return [row.candidate.public_id for row in sorted(rows, key=key)]


def _without(row: Ranked, lane: Lane) -> Ranked | None:
    lanes = {one: rank for one, rank in row.candidate.recall.lanes.items() if one is not lane}
    if row.candidate.recall.lanes and not lanes:
        return None
    derived = row.fused != fused(row.candidate.recall.lanes)  # then the phrase had counted half
    return replace(
        row,
        candidate=replace(row.candidate, recall=replace(row.candidate.recall, lanes=lanes)),
        fused=fused(lanes, derived=derived),
    )


def _ranked(row: Mapping[str, Any]) -> Ranked:
    parts = row["components"]
    began = parse_datetime(parts["valid_from"]) if parts["valid_from"] else None
    lanes = {Lane(lane): rank for lane, rank in parts["lanes"].items()}
    shown = Candidate(
        memory_id=_NOBODY,
        public_id=row["memory_id"],
        version=row["version"],
        namespace_id=_NOBODY,
        scope="",
        scope_id=None,
        memory_type=_TYPE_OF_UTILITY.get(parts["utility"], _ANY_TYPE),
        content="",
        state="",
        epistemic_status=parts["epistemic_status"],
        verdict=parts["verdict"],
        retrieval_policy="always" if parts["always"] else "relevant",
        valid_from=began,
        fidelity=parts["fidelity"],
        recall=Recall(lanes=lanes),
    )
    return Ranked(candidate=shown, applicability=Applicability(parts["applicability"]), fused=parts["fused"])
