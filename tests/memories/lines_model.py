"""A record's history without a database: what merging.py does to rows, done to standings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

from apps.memories.consolidation import Claim, Merge, Standing, decide

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
class Record:
    """One key under one set of conditions: its line, and the values that contradict it."""

    line: list[Standing] = field(default_factory=list)
    members: list[Standing] = field(default_factory=list)  # of an open conflict, beside the line

    def hear(self, said: Claim) -> Merge:
        lines = [tuple(self.line), *((member,) for member in self.members)] if self.line else []
        found = decide(said, lines, in_conflict=bool(self.members))
        getattr(self, f"_{found.decision.value.lower()}")(said, found)
        self._check()
        return found

    def value_at(self, at: datetime) -> str | None:
        held = [
            one for one in self.line if not one.corrected and one.valid_from <= at and (one.valid_to is None or at < one.valid_to)
        ]
        assert len(held) <= 1
        return held[0].proposition if held else None

    @property
    def head(self) -> Standing:
        return next(one for one in self.line if one.head)

    def _check(self) -> None:
        assert sum(one.head for one in self.line) == 1
        live = sorted((one for one in self.line if not one.corrected), key=lambda one: one.valid_from)
        for before, after in pairwise(live):
            assert before.valid_to is not None
            assert before.valid_to <= after.valid_from
        assert live[-1].head

    def _new(self, said: Claim, *, head: bool) -> Standing:
        at = said.effective_at or day(999)
        return Standing(
            number=len(self.line) + len(self.members) + 1,
            proposition=said.proposition,
            roots=said.roots,
            valid_from=at,
            effective=said.effective_at is not None,
            author=said.author,
            strength=said.strength,
            valid_to=said.valid_to,
            held_at=frozenset({at}) if said.roots and said.effective_at else frozenset(),
            head=head,
        )

    def _place(self, number: int | None) -> int:
        return next(place for place, one in enumerate(self.line) if one.number == number)

    def _end(self, number: int | None, at: datetime) -> None:
        if number is not None:
            place = self._place(number)
            one = self.line[place]
            if one.valid_to is None or one.valid_to > at:
                self.line[place] = replace(one, valid_to=max(at, one.valid_from))

    def _add(self, said: Claim, found: Merge) -> None:
        self.line.append(self._new(said, head=True))

    def _no_op(self, said: Claim, found: Merge) -> None:
        pass

    def _attach_evidence(self, said: Claim, found: Merge) -> None:
        if found.line:
            member = self.members[found.line - 1]
            self.members[found.line - 1] = replace(member, roots=member.roots | said.roots)
            return
        place = self._place(found.standing)
        one = self.line[place]
        held = one.held_at | ({said.effective_at} if said.effective_at else set())
        renewed = replace(one, roots=one.roots | said.roots, held_at=frozenset(held))
        if found.backdates and said.effective_at:
            for other in list(self.line):
                if other.valid_from < said.effective_at and (other.valid_to is None or other.valid_to > said.effective_at):
                    self._end(other.number, said.effective_at)
            self.line[place] = replace(one, valid_to=one.valid_from, corrected=True, head=False)
            renewed = replace(renewed, number=len(self.line) + len(self.members) + 1, valid_from=said.effective_at)
            self.line.append(renewed)
        else:
            self.line[place] = renewed

    def _supersede(self, said: Claim, found: Merge) -> None:
        assert said.effective_at is not None
        old = self.head
        self._end(old.number, said.effective_at)
        place = self._place(old.number)
        self.line[place] = replace(self.line[place], head=False)
        self.line.append(self._new(said, head=True))

    def _insert_history(self, said: Claim, found: Merge) -> None:
        assert said.effective_at is not None
        ended = None if found.standing is None else self.line[self._place(found.standing)]
        self._end(found.standing, said.effective_at)
        self.line.append(replace(self._new(said, head=False), valid_to=found.ends))
        if found.resumes_at is not None and ended is not None:
            later = frozenset(at for at in ended.held_at if at >= found.resumes_at)
            place = self._place(ended.number)
            self.line[place] = replace(self.line[place], head=False, held_at=ended.held_at - later)
            again = replace(ended, number=len(self.line) + len(self.members) + 1, valid_from=found.resumes_at, held_at=later)
            self.line.append(again)

    def _conflict(self, said: Claim, found: Merge) -> None:
        self.members.append(self._new(said, head=True))
