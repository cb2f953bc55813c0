"""The merge decision: one claim against what stands under its key (design/03 Merge decision, MG-01..13).

Pure. Event time and conditions decide; arrival order and likeness never do.

A claim *beats* another when the same subject states it for a later instant on ground that is not weaker. What no claim beats is
current: one value is the head, several are a conflict. What is beaten is history, and ends where the first claim that beats it
begins. That is a property of the set of claims, so the same set gives the same state in every order of arrival.

Stored are *lines*: each is the history of one memory, and on it every standing beats the one before. Claims of which neither
beats the other (equal times, another subject, weaker ground, no time) stand on different lines.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.memories.models.vocabulary import Decision
from apps.memories.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
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

    @property
    def times(self) -> frozenset[datetime]:
        """Every instant for which it was stated; none when nobody said since when."""
        return self.held_at | {self.valid_from} if self.effective else frozenset()

    def holds_at(self, at: datetime) -> bool:
        """Half-open, but for an empty interval, which holds the instant it names."""
        return self.valid_from == at or (self.valid_from < at and (self.valid_to is None or at < self.valid_to))

    def beats(self, claim: Claim) -> bool:
        """Was it stated for a later instant than the claim, by the same subject, on ground not weaker?"""
        at = claim.effective_at
        return self._comparable(claim) and at is not None and max(self.times) > at and self.strength <= claim.strength

    def beaten_by(self, claim: Claim) -> bool:
        """Is the claim for a later instant than every one for which this was stated?"""
        at = claim.effective_at
        return self.gives_way_to(claim) and at is not None and at > max(self.times)

    def gives_way_to(self, claim: Claim) -> bool:
        """Leaving time aside, may this subject end it by this word on this ground?"""
        return self._comparable(claim) and claim.strength <= self.strength

    def _comparable(self, claim: Claim) -> bool:
        return self.effective and not self.corrected and self.author == claim.author


@dataclass(frozen=True, slots=True)
class Line:
    """The history of one memory. ``past``: another line of the same key has taken the place of its head."""

    standings: tuple[Standing, ...]
    past: bool = False

    @property
    def head(self) -> Standing:
        return next(one for one in self.standings if one.head)

    @property
    def live(self) -> list[Standing]:
        return [one for one in self.standings if not one.corrected]

    def holder(self, at: datetime | None) -> Standing | None:
        """What holds on this line at the instant; without one, the head."""
        if at is None:
            return None if self.past else self.head
        return max((one for one in self.live if one.holds_at(at)), key=_start, default=None)

    def before(self, at: datetime) -> Standing | None:
        return max((one for one in self.live if one.valid_from < at), key=_start, default=None)

    def after(self, at: datetime | None) -> Standing | None:
        return None if at is None else min((one for one in self.live if one.valid_from > at), key=_start, default=None)

    def takes(self, claim: Claim, at: datetime) -> bool:
        """Would every standing still beat the one before, with the claim among them?"""
        before, after = self.before(at), self.after(at)
        return (
            not any(at in one.times for one in self.live)
            and (before is None or (before.gives_way_to(claim) and (max(before.times) < at or before.beats(claim))))
            and (after is None or after.beats(claim))
        )


@dataclass(frozen=True, slots=True)
class Closing:
    """A standing that ends where the claim begins, and from where it holds again by its own evidence."""

    line: int
    standing: int
    resumes_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Merge:
    """What becomes of the claim.

    ``line``: which of the given lines it concerns. ``standing``: the number of the version it restates. ``ends``: where an
    inserted version ends. ``backdates``: the restated version began earlier than was known. ``beside``: it is history of the
    line, and stands on one of its own because neither it nor what stands there beats the other. ``closes``: what ends with it, on
    any line. ``retires``: lines whose heads it has beaten; theirs is no current value any more.
    """

    decision: Decision
    reason: Reason | None = None
    line: int | None = None
    standing: int | None = None
    ends: datetime | None = None
    backdates: bool = False
    beside: bool = False
    closes: tuple[Closing, ...] = ()
    retires: tuple[int, ...] = ()


def decide(claim: Claim, lines: Sequence[Line]) -> Merge:
    """The decision for one key and one set of conditions.

    ``lines`` are the histories that stand under them: none, one, the members of an open conflict; and those that are past.
    """
    current = [place for place, line in enumerate(lines) if not line.past]
    if not current:
        return Merge(Decision.ADD)
    found = _restated(claim, lines) or _other_proposition(claim, lines, current)
    if found.decision is Decision.NO_OP:
        return found
    beaten = tuple(place for place in _beaten(claim, lines, current) if place != found.line)
    return replace(found, retires=beaten, closes=tuple(_closings(claim, lines)))


def _restated(claim: Claim, lines: Sequence[Line]) -> Merge | None:
    """Rows 2 and 3: the same proposition, from the same lineage or from a new one."""
    for place, line in enumerate(lines):
        for standing in line.standings:
            if standing.proposition == claim.proposition and claim.roots and claim.roots <= standing.roots:
                return Merge(Decision.NO_OP, Reason.SAME_SOURCE, place, standing.number)
    for place in range(len(lines)):
        found = _restated_on(claim, lines, place)
        if found is not None:
            return found
    return None


def _restated_on(claim: Claim, lines: Sequence[Line], place: int) -> Merge | None:
    line = lines[place]
    holder = line.holder(claim.effective_at)
    if holder is not None and holder.proposition == claim.proposition:
        if claim.roots <= holder.roots:
            return Merge(Decision.NO_OP, Reason.SAME_SOURCE, place, holder.number)
        return Merge(Decision.ATTACH_EVIDENCE, None, place, holder.number)
    after = line.after(claim.effective_at)
    if after is None or after.proposition != claim.proposition or _parted(claim, lines, holder, after):
        return None
    if not claim.roots:  # somebody's own word again: an earlier start is history of its own, and says nothing about no start
        return None if after.effective else Merge(Decision.NO_OP, Reason.SAME_SOURCE, place, after.number)
    earlier = after.effective and claim.author == after.author and (holder is None or holder.gives_way_to(claim))
    return Merge(Decision.ATTACH_EVIDENCE, None, place, after.number, backdates=earlier)


def _parted(claim: Claim, lines: Sequence[Line], holder: Standing | None, after: Standing) -> bool:
    """Does another value stand between the claim and the same proposition later on?"""
    at = claim.effective_at
    if at is None:
        return False
    if holder is not None and (claim.strength > holder.strength or any(time >= at for time in holder.times)):
        return True
    others = (one for line in lines for one in line.live if one.proposition != claim.proposition and one.beats(claim))
    return any(at < time < after.valid_from for one in others for time in one.times)


def _other_proposition(claim: Claim, lines: Sequence[Line], current: Sequence[int]) -> Merge:
    """Rows 4 to 6: another value for the same key under the same conditions."""
    at = claim.effective_at
    beating = [place for place in current if lines[place].head.beats(claim)]
    if beating and at is not None:
        return _history(claim, at, lines, beating)
    beaten = _beaten(claim, lines, current)
    if not beaten:
        reason = Reason.OPEN_CONFLICT if len(current) > 1 else _undecided(claim, lines[current[0]].head)
        return Merge(Decision.CONFLICT, reason)
    if len(beaten) < len(current):  # it takes the place of its own predecessor in a dispute that goes on
        return Merge(Decision.CONFLICT, Reason.OPEN_CONFLICT, beaten[0])
    return Merge(Decision.SUPERSEDE, None, beaten[0])


def _history(claim: Claim, at: datetime, lines: Sequence[Line], beating: Sequence[int]) -> Merge:
    """Row 5: something later stands, so the head stays."""
    later = [time for line in lines for one in line.live if one.beats(claim) for time in one.times if time > at]
    ends = min([*later, claim.valid_to] if claim.valid_to is not None else later)
    others = [place for place in range(len(lines)) if place not in beating]
    for place in (*beating, *others):
        if lines[place].takes(claim, at):
            return Merge(Decision.INSERT_HISTORY, None, place, ends=ends)
    return Merge(Decision.INSERT_HISTORY, None, beating[0], ends=ends, beside=True)


def _undecided(claim: Claim, head: Standing) -> Reason:
    """Why time, author and evidence do not say which of two values holds (row 6)."""
    if claim.effective_at is None or not head.effective:
        return Reason.NO_EFFECTIVE_TIME
    if claim.author != head.author:
        return Reason.OTHER_SUBJECT
    return Reason.EQUAL_TIME if claim.effective_at == max(head.times) else Reason.WEAKER_FIDELITY


def _beaten(claim: Claim, lines: Sequence[Line], current: Iterable[int]) -> list[int]:
    return [place for place in current if lines[place].head.beaten_by(claim)]


def _closings(claim: Claim, lines: Sequence[Line]) -> Iterable[Closing]:
    """Standings that held on beyond the claim's instant, as far as they were not stated for it or a later one."""
    at = claim.effective_at
    if at is None:
        return
    for place, line in enumerate(lines):
        for one in line.live:
            crosses = one.valid_from < at and (one.valid_to is None or one.valid_to > at) and at not in one.times
            if crosses and one.proposition != claim.proposition and one.gives_way_to(claim):
                yield Closing(place, one.number, min((time for time in one.times if time > at), default=None))


def _start(standing: Standing) -> tuple[datetime, int]:
    return standing.valid_from, standing.number
