"""A key's histories without a database: what merging.py does to rows, done to standings; and what the design asks of a set of claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

from apps.memories.consolidation import Claim, Line, Merge, Standing, decide
from apps.memories.models import Decision

ALICE, BOB = UUID(int=1), UUID(int=2)
DAY_ZERO = datetime(2024, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return DAY_ZERO + timedelta(days=number)


def root(number: int) -> frozenset[UUID]:
    return frozenset({UUID(int=1000 + number)})


def claim(
    text: str, at: int | None, source: int | None = None, *, author: UUID = ALICE, strength: int = 0, until: int | None = None
) -> Claim:
    return Claim(
        proposition=text,
        roots=frozenset() if source is None else root(source),
        effective_at=None if at is None else day(at),
        author=author,
        strength=strength,
        valid_to=None if until is None else day(until),
    )


@dataclass
class History:
    """One memory: its versions, by number from 1."""

    standings: list[Standing] = field(default_factory=list)
    past: bool = False

    def line(self) -> Line:
        return Line(tuple(self.standings), self.past)

    @property
    def head(self) -> Standing:
        return self.line().head

    def change(self, number: int, **values: object) -> None:
        self.standings[number - 1] = replace(self.standings[number - 1], **values)

    def append(self, standing: Standing, *, head: bool) -> None:
        if head:
            self.standings = [replace(one, head=False) for one in self.standings]
        self.standings.append(replace(standing, number=len(self.standings) + 1, head=head))

    def close(self, number: int, at: datetime) -> None:
        one = self.standings[number - 1]
        if one.valid_to is None or one.valid_to > at:
            self.change(number, valid_to=max(at, one.valid_from))

    def values_at(self, at: datetime) -> list[str]:
        return [
            one.proposition for one in self.line().live if one.valid_from <= at and (one.valid_to is None or at < one.valid_to)
        ]


@dataclass
class Record:
    """One key under one set of conditions."""

    histories: list[History] = field(default_factory=list)

    def hear(self, said: Claim) -> Merge:
        found = decide(said, [one.line() for one in self.histories])
        if found.decision is not Decision.NO_OP:
            self._carry_out(said, found)
        self._check()
        return found

    @property
    def current(self) -> list[History]:
        return [one for one in self.histories if not one.past]

    @property
    def head(self) -> Standing:
        (only,) = self.current
        return only.head

    @property
    def disputed(self) -> bool:
        return len(self.current) > 1

    def value_at(self, at: datetime) -> str | None:
        found = [value for one in self.histories for value in one.values_at(at)]
        assert len(found) <= 1
        return found[0] if found else None

    def _carry_out(self, said: Claim, found: Merge) -> None:
        at = said.effective_at
        for closing in found.closes:
            self._close(closing.line, closing.standing, at, closing.resumes_at)
        for place in found.retires:
            self.histories[place].past = True
        target = None if found.line is None else self.histories[found.line]
        if found.decision is Decision.ATTACH_EVIDENCE:
            self._attach(target, said, found)
        elif target is None:
            self.histories.append(History([self._new(said)]))
        elif found.beside:
            self.histories.append(History([replace(self._new(said), valid_to=found.ends)], past=True))
        elif found.decision is Decision.INSERT_HISTORY:
            new = replace(self._new(said), valid_to=found.ends)
            target.append(new, head=target.past and new.valid_from > target.head.valid_from)
        else:
            target.append(self._new(said), head=True)

    def _close(self, place: int, number: int, at: datetime | None, resumes_at: datetime | None) -> None:
        assert at is not None
        history = self.histories[place]
        one = history.standings[number - 1]
        history.close(number, at)
        if resumes_at is not None and (one.valid_to is None or resumes_at < one.valid_to):
            later = frozenset(time for time in one.held_at if time >= resumes_at)
            # In a database the evidence of these instants moves along; here a root is as old as the instant it speaks for.
            history.change(number, held_at=one.held_at - later)
            history.append(replace(one, valid_from=resumes_at, held_at=later), head=one.head)

    def _attach(self, target: History | None, said: Claim, found: Merge) -> None:
        assert target is not None
        assert found.standing is not None
        one = target.standings[found.standing - 1]
        held = one.held_at | ({said.effective_at} if said.effective_at else set())
        renewed = replace(one, roots=one.roots | said.roots, held_at=frozenset(held))
        if found.backdates and said.effective_at is not None:
            target.change(one.number, valid_to=one.valid_from, corrected=True)
            target.append(replace(renewed, valid_from=said.effective_at), head=one.head)
        else:
            target.standings[one.number - 1] = renewed

    def _new(self, said: Claim) -> Standing:
        at = said.effective_at or day(999)
        return Standing(
            number=1,
            proposition=said.proposition,
            roots=said.roots,
            valid_from=at,
            effective=said.effective_at is not None,
            author=said.author,
            strength=said.strength,
            valid_to=said.valid_to,
            held_at=frozenset({at}) if said.roots and said.effective_at else frozenset(),
            head=True,
        )

    def _check(self) -> None:
        for one in self.histories:
            assert sum(standing.head for standing in one.standings) == 1
            live = sorted(one.line().live, key=lambda standing: standing.valid_from)
            for before, after in pairwise(live):
                assert before.valid_to is not None
                assert before.valid_to <= after.valid_from
            assert live[-1].head


# -- what a set of claims means, from the words of the design alone: no lines, no versions, no order


def beats(one: Claim, other: Claim) -> bool:
    return (
        one.author == other.author
        and one.effective_at is not None
        and other.effective_at is not None
        and one.effective_at > other.effective_at
        and one.strength <= other.strength
    )


def current_values(claims: Iterable[Claim]) -> set[str]:
    """What no other claim beats."""
    said = list(claims)
    return {one.proposition for one in said if not any(beats(other, one) for other in said)}


Spans = dict[str, list[tuple[datetime | None, datetime | None]]]


def spans(claims: Iterable[Claim]) -> Spans:
    """When each value holds, possibly beside others: from each claim until the first other value that beats it."""
    said = list(claims)
    found: Spans = defaultdict(list)
    for one in said:
        ends = [other.effective_at for other in said if other.proposition != one.proposition and beats(other, one)]
        ends += [one.valid_to] if one.valid_to is not None else []
        found[one.proposition].append((one.effective_at, min((end for end in ends if end is not None), default=None)))
    return {value: joined(parts) for value, parts in found.items()}


def joined(parts: Iterable[tuple[datetime | None, datetime | None]]) -> list[tuple[datetime | None, datetime | None]]:
    """Intervals that touch or overlap as one; those without a start stay as they are."""
    dated = sorted({part for part in parts if part[0] is not None}, key=lambda part: (part[0], part[1] is None, part[1]))
    found: list[tuple[datetime | None, datetime | None]] = [part for part in parts if part[0] is None][:1]
    for start, end in dated:
        last = found[-1] if found and found[-1][0] is not None else None
        if last is not None and (last[1] is None or start <= last[1]):
            found[-1] = (last[0], None if last[1] is None or end is None else max(last[1], end))
        else:
            found.append((start, end))
    return found
