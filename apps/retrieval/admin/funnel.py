"""The way from what was found to what was given, as a drawing: how many each stage left. Pure: counts in, positions out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.retrieval.vocabulary import Stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

WIDTH = 760
LEFT, RIGHT = 220, 96  # names before the bars, numbers behind them
_TOP, _STEP, HEIGHT = 6, 30, 18
_NARROWEST = 2

# In the order in which the rules run: rights before the relevance cut, whatever brought a record.
PASSAGE = (Stage.AUTHORITY, Stage.RECALL, Stage.APPLICABILITY, Stage.RELATIONS, Stage.RANKING, Stage.PACKING)


@dataclass(frozen=True, slots=True)
class Bar:
    """One step: how many are left behind it, how many it took. ``stage`` is None for what lanes reached and what was read."""

    stage: Stage | None
    key: str
    left: int
    lost: int
    y: int
    width: int
    lost_width: int

    @property
    def middle(self) -> int:
        return self.y + HEIGHT // 2 + 4

    @property
    def lost_x(self) -> int:
        return LEFT + self.width

    @property
    def number_x(self) -> int:
        return LEFT + self.width + self.lost_width + 8


@dataclass(frozen=True, slots=True)
class Funnel:
    bars: tuple[Bar, ...]
    height: int
    width: int = WIDTH
    left: int = LEFT
    thickness: int = HEIGHT


def draw(funnel: Mapping[str, int], lost: Iterable[str]) -> Funnel | None:
    """``funnel`` as the trace keeps it, ``lost`` the stage of each candidate left out; None where nothing was looked at."""
    found, read = _number(funnel, "recall"), _number(funnel, "authority")
    if not found and not read:
        return None
    gone = Counter(lost)
    steps: list[tuple[Stage | None, str, int, int]] = [(None, "found", found, 0), (None, "read", read, 0)]
    left = read
    for stage in PASSAGE:
        left -= gone[stage]
        steps.append((stage, stage.value, max(left, 0), gone[stage]))
    most = max(found, read, 1)
    room = WIDTH - LEFT - RIGHT

    def long(count: int) -> int:
        return max(round(room * count / most), _NARROWEST) if count else 0

    bars = tuple(
        Bar(stage, key, kept, taken, _TOP + line * _STEP, long(kept), long(taken))
        for line, (stage, key, kept, taken) in enumerate(steps)
    )
    return Funnel(bars, _TOP + len(steps) * _STEP)


def _number(funnel: Mapping[str, int], name: str) -> int:
    held = funnel.get(name, 0)
    return held if isinstance(held, int) else 0
