"""Two runs of one question, compared: what each gave, what it left out and why. Pure; ids and codes only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from uuid import UUID

Key: TypeAlias = "tuple[UUID, int]"


class Change(StrEnum):
    """What became of one memory between two runs."""

    NEW = "new"  # no candidate then
    NOT_FOUND = "not_found"  # no candidate now
    DELETED = "deleted"
    OUT_OF_REACH = "out_of_reach"  # the agent may not read it any more
    VERSION_MOVED = "version_moved"
    RANK_MOVED = "rank_moved"
    NOW_GIVEN = "now_given"
    NOT_GIVEN = "not_given"  # given then, a candidate now, and left out
    REASON_CHANGED = "reason_changed"


class Verdict(StrEnum):
    """What a replay comes to."""

    SAME = "same"
    SAME_PACKET = "same_packet"  # the agent would be given the same; something it is not given differs
    CHANGED = "changed"
    WORDS_GONE = "words_gone"  # the question was erased: nothing can be asked again
    UNREADABLE = "unreadable"  # the barrier of deletions cannot be read whole now


@dataclass(frozen=True, slots=True)
class Place:
    """Where a version stood in one run. ``rank`` in the packet for what was given, else the stage and reason of its loss."""

    memory: UUID
    version: int
    rank: int | None
    stage: str = ""
    reason: str = ""

    @property
    def key(self) -> Key:
        return self.memory, self.version


@dataclass(frozen=True, slots=True)
class Compared:
    """One memory in both runs; no changes: it stands where it stood."""

    memory: UUID
    then: Place | None
    now: Place | None
    changes: tuple[Change, ...]

    @property
    def touches_packet(self) -> bool:
        """Does the packet differ by it?"""
        given = [place is not None and place.rank is not None for place in (self.then, self.now)]
        return bool(self.changes) and any(given)


def compare(then: Iterable[Place], now: Iterable[Place], absent: Callable[[UUID], Change]) -> tuple[Compared, ...]:
    """Every memory of either run, those of the packets first. ``absent`` says why a memory of then is no candidate now."""
    before, after = {place.key: place for place in then}, {place.key: place for place in now}
    pairs: list[tuple[Place | None, Place | None]] = [(before[key], after[key]) for key in before if key in after]
    gone = [place for key, place in before.items() if key not in after]
    come = {place.key: place for key, place in after.items() if key not in before}
    for place in gone:  # the same memory with another version
        other = next((one for one in come.values() if one.memory == place.memory), None)
        pairs.append((place, come.pop(other.key) if other is not None else None))
    pairs += [(None, place) for place in come.values()]
    found = [_compared(old, new, absent) for old, new in pairs]
    return tuple(sorted(found, key=_order))


def _compared(old: Place | None, new: Place | None, absent: Callable[[UUID], Change]) -> Compared:
    if old is None or new is None:
        one = old or new
        if one is None:
            message = "a memory of neither run"
            raise ValueError(message)
        return Compared(one.memory, old, new, (absent(one.memory),) if new is None else (Change.NEW,))
    return Compared(old.memory, old, new, tuple(_changes(old, new)))


def _changes(old: Place, new: Place) -> Sequence[Change]:
    found = [Change.VERSION_MOVED] if old.version != new.version else []
    if old.rank is None and new.rank is not None:
        found.append(Change.NOW_GIVEN)
    elif old.rank is not None and new.rank is None:
        found.append(Change.NOT_GIVEN)
    elif old.rank != new.rank:
        found.append(Change.RANK_MOVED)
    elif (old.stage, old.reason) != (new.stage, new.reason):
        found.append(Change.REASON_CHANGED)
    return found


def _order(row: Compared) -> tuple[bool, int, int, str]:
    places = (row.then, row.now)
    ranks = [place.rank if place is not None and place.rank is not None else _UNRANKED for place in places]
    return not row.changes, ranks[0], ranks[1], str(row.memory)


_UNRANKED = 1_000_000
