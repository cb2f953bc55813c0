"""The merge decision: one claim against what stands under its key (design/03 Merge decision, MG-01..13).

Pure. Event time and conditions decide; arrival order and likeness never do. A record's history is a line of standings, one after
the other in valid time; a claim names an instant on that line. The same set of claims gives the same line in every order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.memories.models.vocabulary import Decision
from apps.memories.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class Claim:
    """What a candidate says, as far as merging is concerned.

    ``effective_at`` is the stated start, else the time of its latest dated origin, else None. ``strength`` ranks the ground it
    rests on, 0 is best (LN-19, trust of its origins). ``author`` is the subject whose word it is.
    """

    proposition: str
    roots: frozenset[UUID]
    effective_at: datetime | None
    author: UUID | None
    strength: int = 0
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """One version on the line. ``held_at`` are the instants for which its evidence says so, its own start included.

    ``corrected`` versions never held (a revision replaced them); they only answer whether a source was heard before.
    """

    number: int
    proposition: str
    roots: frozenset[UUID]
    valid_from: datetime
    effective: bool
    author: UUID | None
    strength: int = 0
    valid_to: datetime | None = None
    held_at: frozenset[datetime] = frozenset()
    corrected: bool = False
    head: bool = False

    def holds_at(self, at: datetime) -> bool:
        """Half-open, but for an empty interval, which holds the instant it names."""
        return self.valid_from == at or (self.valid_from < at and (self.valid_to is None or at < self.valid_to))


Line = tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """What becomes of the claim.

    ``line``: which of the given lines it concerns. ``standing``: the number of the version it restates or whose time it ends.
    ``ends``: where an inserted version ends. ``resumes_at``: from where the ended standing holds again, by its own evidence.
    ``backdates``: the restated version began earlier than was known.
    """

    decision: Decision
    reason: Reason | None = None
    line: int | None = None
    standing: int | None = None
    ends: datetime | None = None
    resumes_at: datetime | None = None
    backdates: bool = False


def decide(claim: Claim, lines: Sequence[Line], *, in_conflict: bool = False) -> Merge:
    """The decision for one key and one set of conditions.

    ``lines`` are the histories that stand under them: none, one, or the members of an open conflict.
    """
    if not lines:
        return Merge(Decision.ADD)
    for place, line in enumerate(lines):
        restated = _restated(claim, line, place, in_conflict=in_conflict)
        if restated is not None:
            return restated
    if in_conflict:
        return Merge(Decision.CONFLICT, Reason.OPEN_CONFLICT)
    return _other_proposition(claim, lines[0])


def _restated(claim: Claim, line: Line, place: int, *, in_conflict: bool) -> Merge | None:
    """Rows 2 and 3: the same proposition, from the same lineage or from a new one."""
    for standing in line:
        if standing.proposition == claim.proposition and claim.roots and claim.roots <= standing.roots:
            return Merge(Decision.NO_OP, Reason.SAME_SOURCE, place, standing.number)
    holder = _holder(claim.effective_at, line)
    if holder is not None and holder.proposition == claim.proposition:
        if claim.roots <= holder.roots:
            return Merge(Decision.NO_OP, Reason.SAME_SOURCE, place, holder.number)
        return Merge(Decision.ATTACH_EVIDENCE, None, place, holder.number)
    after = _after(claim.effective_at, line)
    if after is None or after.proposition != claim.proposition or not claim.roots or _parts(claim, holder):
        return None
    earlier = after.effective and claim.author == after.author and not in_conflict
    return Merge(Decision.ATTACH_EVIDENCE, None, place, after.number, backdates=earlier)


def _parts(claim: Claim, holder: Standing | None) -> bool:
    """Does what holds at the claim's instant stand between it and the same proposition later on?"""
    if holder is None or claim.effective_at is None:
        return False
    return claim.strength > holder.strength or any(held >= claim.effective_at for held in holder.held_at)


def _other_proposition(claim: Claim, line: Line) -> Merge:
    """Rows 4 to 6: another value for the same key under the same conditions."""
    at = claim.effective_at
    undecided = _undecided(claim, line)
    if undecided is not None or at is None:
        return Merge(Decision.CONFLICT, undecided, 0)
    after = _after(at, line)
    holder = _holder(at, line)
    again = min((held for held in holder.held_at if held > at), default=None) if holder else None
    if holder is not None and again is not None:
        return Merge(Decision.INSERT_HISTORY, None, 0, holder.number, ends=_sooner(claim.valid_to, again), resumes_at=again)
    ended = holder.number if holder else None
    if after is None:
        return Merge(Decision.SUPERSEDE, None, 0, ended)
    return Merge(Decision.INSERT_HISTORY, None, 0, ended, ends=_sooner(claim.valid_to, after.valid_from))


def _undecided(claim: Claim, line: Line) -> Reason | None:
    """Why time, author and evidence do not say which of two values holds (row 6), or None when they do."""
    at = claim.effective_at
    live = _live(line)
    head = next(standing for standing in live if standing.head)
    if at is None or not head.effective:
        return Reason.NO_EFFECTIVE_TIME
    if claim.author != head.author:
        return Reason.OTHER_SUBJECT
    if any(at == standing.valid_from or at in standing.held_at for standing in live):
        return Reason.EQUAL_TIME
    before = max((one for one in live if one.valid_from < at), key=_start, default=None)
    after = _after(at, line)
    if (before and claim.strength > before.strength) or (after and after.strength > claim.strength):
        return Reason.WEAKER_FIDELITY
    return None


def _live(line: Line) -> list[Standing]:
    return [standing for standing in line if not standing.corrected]


def _holder(at: datetime | None, line: Line) -> Standing | None:
    """What holds at the instant; without one, the head."""
    if at is None:
        return next((one for one in line if one.head), None)
    return max((one for one in _live(line) if one.holds_at(at)), key=_start, default=None)


def _after(at: datetime | None, line: Line) -> Standing | None:
    if at is None:
        return None
    return min((one for one in _live(line) if one.valid_from > at), key=_start, default=None)


def _start(standing: Standing) -> tuple[datetime, int]:
    return standing.valid_from, standing.number


def _sooner(first: datetime | None, second: datetime) -> datetime:
    return second if first is None or second < first else first
