"""The versions of a memory as a drawing: a bar for the time for which each holds, a dot for the moment it was recorded.

Pure: rows in, positions out. Both times share one axis, so a fact that was learnt late has its dot far behind its bar.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from apps.memories.lines import is_corrected

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from apps.memories.models import Memory, MemoryVersion

MOST_DRAWN = 20
WIDTH = 760
_LEFT, _RIGHT, _TOP, _STEP, _BOTTOM = 56, 24, 30, 28, 8
_TICKS = 4
_MARGIN = 0.04  # of the whole time, free on both sides
_SMALLEST = timedelta(minutes=1)
_NARROWEST = 4  # a bar that nobody would see otherwise


class Standing(StrEnum):
    CURRENT = "current"
    PAST = "past"
    PLANNED = "planned"
    CORRECTED = "corrected"  # another version took its place: it never held


@dataclass(frozen=True, slots=True)
class Bar:
    """One version. ``open``: nothing has ended it, so the bar runs on to the edge."""

    number: int
    standing: Standing
    x: int
    y: int
    width: int
    open: bool
    recorded: int

    @property
    def middle(self) -> int:
        return self.y + 7


@dataclass(frozen=True, slots=True)
class Tick:
    x: int
    label: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """``now`` is where the present stands; ``more``: older versions are only in the table."""

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    now: int
    height: int
    more: bool
    width: int = WIDTH

    @property
    def floor(self) -> int:
        return self.height - _BOTTOM


def draw(memory: Memory, versions: Sequence[MemoryVersion], now: datetime) -> Timeline | None:
    """The newest versions, newest first; None without any."""
    shown = sorted(versions, key=lambda row: -row.version)[:MOST_DRAWN]
    if not shown:
        return None
    instants = [now, *(at for row in shown for at in (row.valid_from, row.valid_to, row.ingested_at) if at is not None)]
    begin, end = min(instants), max(instants)
    spare = max((end - begin) * _MARGIN, _SMALLEST)
    begin, end = begin - spare, end + spare
    room = WIDTH - _LEFT - _RIGHT

    def place(at: datetime) -> int:
        return _LEFT + round(room * ((at - begin) / (end - begin)))

    bars = []
    for line, row in enumerate(shown):
        start = place(row.valid_from)
        stop = WIDTH - _RIGHT if row.valid_to is None else place(row.valid_to)
        standing = _standing(memory, row, now)
        width = 0 if standing is Standing.CORRECTED else max(stop - start, _NARROWEST)
        bars.append(Bar(row.version, standing, start, _TOP + line * _STEP, width, row.valid_to is None, place(row.ingested_at)))
    marks = [begin + (end - begin) * (number + 0.5) / _TICKS for number in range(_TICKS)]
    ticks = tuple(Tick(place(at), at.strftime(_spelling(end - begin))) for at in marks)
    height = _TOP + len(shown) * _STEP + _BOTTOM
    return Timeline(tuple(bars), ticks, place(now), height, len(versions) > len(shown))


def _standing(memory: Memory, row: MemoryVersion, now: datetime) -> Standing:
    if is_corrected(memory, row):
        return Standing.CORRECTED
    if row.valid_from > now:
        return Standing.PLANNED
    return Standing.CURRENT if row.valid_to is None or row.valid_to > now else Standing.PAST


def _spelling(whole: timedelta) -> str:
    if whole > timedelta(days=800):
        return "%Y-%m"
    return "%Y-%m-%d" if whole > timedelta(days=_TICKS) else "%m-%d %H:%M"
