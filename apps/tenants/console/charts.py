"""Charts of the home page, drawn on the server: bars for the values of a column, columns of days for what became of something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from django.utils.text import capfirst

from apps.core import clock
from apps.tenants.console.cards import address, narrowed
from apps.tenants.console.paging import MOST_COUNTED, Counted, Tally, tallies, words_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpRequest
    from django_stubs_ext import StrOrPromise

    from apps.tenants.console.base import GovernedAdmin
    from apps.tenants.console.site import GovernanceAdminSite

BAR_WIDTH = 200  # of the longest bar, in units of the drawing
COLUMN_HEIGHT = 100
DAYS = 14
_COLUMN_STEP = 24
_COLUMN_WIDTH = 16


@dataclass(frozen=True, slots=True)
class Bars:
    """How many rows of a page there are for each word of a column; ``query`` narrows all of them."""

    key: str
    title: StrOrPromise
    model: str
    column: str
    choices: Sequence[tuple[str, StrOrPromise]]
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    count: Tally
    width: int
    url: str


@dataclass(frozen=True, slots=True)
class ShownBars:
    key: str
    title: StrOrPromise
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Days:
    """How often each word of a column was written on each of the last days (of UTC); ``at`` is the column that says when."""

    key: str
    title: StrOrPromise
    model: str
    column: str
    choices: Sequence[tuple[str, StrOrPromise]]
    at: str


@dataclass(frozen=True, slots=True)
class Day:
    """``more``: there were more than are counted, so the words of that day cannot be told apart."""

    on: date
    counts: Mapping[str, int]
    more: bool = False

    @property
    def total(self) -> int:
        return min(sum(self.counts.values()), MOST_COUNTED)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a column of the drawing."""

    word: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Cell:
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class ShownDay:
    on: date
    x: int
    parts: tuple[Part, ...]
    total: Tally
    url: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class ShownDays:
    key: str
    title: StrOrPromise
    words: tuple[tuple[str, str], ...]
    days: tuple[ShownDay, ...]
    width: int
    height: int = COLUMN_HEIGHT

    @property
    def empty(self) -> bool:
        return not any(day.total.count for day in self.days)

    @property
    def more(self) -> bool:
        return any(day.total.more for day in self.days)


_bars: list[Bars] = []
_days: list[Days] = []


def register_bars(chart: Bars) -> None:
    _bars.append(chart)


def register_days(chart: Days) -> None:
    _days.append(chart)


def bars_for(site: GovernanceAdminSite, request: HttpRequest) -> list[ShownBars]:
    """The bar charts of the pages that this person may open, all counted in one statement."""
    seen = [(chart, page) for chart in _bars if (page := site.open_page(request, chart.model)) is not None]
    queries = [(page, {**chart.query, f"{chart.column}__exact": word}) for chart, page in seen for word, _label in chart.choices]
    counts = iter(tallies([Counted(narrowed(page, request, query)) for page, query in queries]))
    addresses = iter([address(page, query) for page, query in queries])
    return [_shown_bars(chart, [(next(counts), next(addresses)) for _ in chart.choices]) for chart, _page in seen]


def days_for(site: GovernanceAdminSite, request: HttpRequest) -> list[ShownDays]:
    """The day charts of the pages that this person may open."""
    return [
        _shown_days(chart, page, _counted_days(chart, page, request))
        for chart in _days
        if (page := site.open_page(request, chart.model)) is not None
    ]


def _shown_bars(chart: Bars, counted: list[tuple[Tally, str]]) -> ShownBars:
    highest = max((count.count for count, _url in counted), default=0)
    bars = (
        Bar(str(capfirst(label)), count, _length(count.count, highest, BAR_WIDTH), url)
        for (_word, label), (count, url) in zip(chart.choices, counted, strict=True)
    )
    return ShownBars(chart.key, chart.title, tuple(bars))


def _length(number: int, highest: int, longest: int) -> int:
    """What is there is seen: at least two units."""
    return max(2, round(longest * number / highest)) if number else 0


def _counted_days(chart: Days, page: GovernedAdmin, request: HttpRequest) -> list[Day]:
    today = clock.now().astimezone(UTC).date()
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    counts = words_in([narrowed(page, request, _behind(chart, day)) for day in days], chart.column)
    return [Day(day, found, found.total() > MOST_COUNTED) for day, found in zip(days, counts, strict=True)]


def _behind(chart: Days, day: date, word: str | None = None) -> dict[str, str]:
    """The query of the list behind a day, or a word of a day."""
    start = datetime.combine(day, time(), UTC)
    within = {f"{chart.at}__gte": start.isoformat(), f"{chart.at}__lt": (start + timedelta(days=1)).isoformat()}
    return {**within, **({f"{chart.column}__isnull": "False"} if word is None else {f"{chart.column}__exact": word})}


def _shown_days(chart: Days, page: GovernedAdmin, days: list[Day]) -> ShownDays:
    highest = max((day.total for day in days), default=0) or 1
    shown = (
        ShownDay(
            day.on,
            number * _COLUMN_STEP + (_COLUMN_STEP - _COLUMN_WIDTH) // 2,
            _parts(chart, day, highest),
            Tally(day.total, day.more),
            address(page, _behind(chart, day.on)),
            tuple(
                Cell(day.counts[word], address(page, _behind(chart, day.on, word)))
                if day.counts.get(word) and not day.more
                else None
                for word, _label in chart.choices
            ),
        )
        for number, day in enumerate(days)
    )
    words = tuple((word.lower(), str(capfirst(label))) for word, label in chart.choices)
    return ShownDays(chart.key, chart.title, words, tuple(shown), len(days) * _COLUMN_STEP)


def _parts(chart: Days, day: Day, highest: int) -> tuple[Part, ...]:
    """The pieces of a day's column from the ground up; a day with too many is one piece."""
    if day.more:
        return (Part("more", 0, COLUMN_HEIGHT),)
    parts, top = [], float(COLUMN_HEIGHT)
    for word, _label in chart.choices:
        if day.counts.get(word):
            height = round(COLUMN_HEIGHT * day.counts[word] / highest, 1)
            top = round(top - height, 1)
            parts.append(Part(word.lower(), top, height))
    return tuple(parts)
