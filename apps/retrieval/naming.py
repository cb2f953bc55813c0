"""The named lane as the records themselves have it, and which words of a question are a name's (names.py says what a name is)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from apps.retrieval.filters import WITHOUT_TEXT, hard_filter
from apps.retrieval.fusion import competition_ranks
from apps.retrieval.names import names_in, names_of, strength
from apps.retrieval.vocabulary import Lane

if TYPE_CHECKING:
    from collections.abc import Iterable

    from apps.retrieval.context import Candidate, QueryContext
    from apps.retrieval.names import Called


def with_names(context: QueryContext, rows: list[Candidate], called_by: Called) -> list[Candidate]:
    """The rows with the lane that their own names and labels give them; what recall took for a name was only a proposal.

    Looked at before any filter of time, so that ranks do not move with `as_of`.
    """
    found = {
        row.key: best
        for row in rows
        if row.recall.lanes and hard_filter(context, row) not in WITHOUT_TEXT and (best := _called(context, row, called_by))
    }
    ranks = competition_ranks(found)
    return [_ranked(row, ranks.get(row.key)) if row.recall.lanes else row for row in rows]


def spoken_for(rows: Iterable[Candidate], called_by: Called) -> frozenset[str]:
    """The terms of the names by which the question calls any of these rows."""
    names = {name for row in rows if Lane.NAMED in row.recall.lanes for name in names_of(row.fact_key, row.aliases)}
    found: set[str] = set()
    for name in names:
        if called_by.holds(name) or called_by.nearly_holds(name):
            found.update(token.form for token in name)
            found.update(one.raw + other.raw for one, other in pairwise(name))
    return frozenset(found)


def _called(context: QueryContext, row: Candidate, called_by: Called) -> int:
    """How well the question calls the record: by a name of its own, else by a label that is in the question or goes with it."""
    if best := strength(called_by, names_of(row.fact_key, row.aliases)):
        return best + 1
    if not row.topics.isdisjoint(context.topics) or not row.entities.isdisjoint(context.entities):
        return 1
    return int(strength(called_by, names_in((*row.topics, *row.entities))) > 0)


def _ranked(row: Candidate, rank: int | None) -> Candidate:
    lanes: dict[Lane, int] = {lane: place for lane, place in row.recall.lanes.items() if lane != Lane.NAMED}
    if rank is not None:
        lanes[Lane.NAMED] = rank
    return row if lanes == row.recall.lanes else replace(row, recall=replace(row.recall, lanes=lanes))
