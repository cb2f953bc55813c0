"""Cards of the home page. Each app registers its own from its admin package; nobody counts another app's rows.

A card is a narrowed list and nothing else: its number is counted from the very rows that its link opens, so they cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib.admin.utils import prepare_lookup_value
from django.urls import reverse

from apps.core import clock
from apps.tenants.console.paging import Counted, tallies

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django_stubs_ext import StrOrPromise

    from apps.tenants.console.base import GovernedAdmin
    from apps.tenants.console.navigation import Area
    from apps.tenants.console.paging import Tally
    from apps.tenants.console.site import GovernanceAdminSite

_MINUTES_IN_HOUR = 60
_MINUTES_IN_DAY = 24 * 60


@dataclass(frozen=True, slots=True)
class Card:
    """One number on the home page.

    ``model`` and ``query`` name the list behind it (``query`` as it stands in that list's address). ``instant`` is the column
    that tells how long the oldest of them waits or, with a leading minus, how long ago the latest was. ``attention`` says whether
    the count asks for somebody; ``quiet`` says in a few words what it means that there is none.
    """

    key: str
    area: Area
    title: StrOrPromise
    model: str
    query: Mapping[str, str] = field(default_factory=dict)
    instant: str | None = None
    attention: Callable[[Tally], bool] | None = None
    quiet: StrOrPromise = ""


@dataclass(frozen=True, slots=True)
class Age:
    """How long ago, in the largest unit that says something: minutes, hours or days."""

    number: int
    unit: str
    latest: bool = False  # the age of the latest instead of the oldest


@dataclass(frozen=True, slots=True)
class ShownCard:
    key: str
    area: Area
    title: StrOrPromise
    count: Tally
    age: Age | None
    url: str
    attention: bool
    quiet: StrOrPromise


_cards: list[Card] = []


def register_card(card: Card) -> None:
    """Add a card; shown in the order of registration, which follows the floors."""
    _cards.append(card)


def registered_cards() -> tuple[Card, ...]:
    return tuple(_cards)


def cards_for(site: GovernanceAdminSite, request: HttpRequest) -> list[ShownCard]:
    """The cards of the pages that this person may open, counted now, in one statement."""
    seen = [(card, page) for card in _cards if (page := site.open_page(request, card.model)) is not None]
    counts = tallies([Counted(narrowed(page, request, card.query), card.instant) for card, page in seen])
    return [
        ShownCard(
            card.key,
            card.area,
            card.title,
            count,
            age_of(count, latest=(card.instant or "").startswith("-")),
            address(page, card.query),
            card.attention is not None and card.attention(count),
            card.quiet,
        )
        for (card, page), count in zip(seen, counts, strict=True)
    ]


def narrowed(page: GovernedAdmin, request: HttpRequest, query: Mapping[str, str]) -> QuerySet[Any]:
    """The rows that the page's list shows under this query."""
    asked: dict[str, Any] = {lookup: prepare_lookup_value(lookup, text) for lookup, text in query.items()}
    return page.get_queryset(request).filter(**asked)


def address(page: GovernedAdmin, query: Mapping[str, str]) -> str:
    url = reverse(page.address("changelist"))
    return f"{url}?{urlencode(query)}" if query else url


def any_at_all(count: Tally) -> bool:
    """The rule of most queues: whatever is in them waits for somebody."""
    return count.count > 0


def age_of(count: Tally, *, latest: bool = False) -> Age | None:
    if count.at is None:
        return None
    minutes = max(0, int((clock.now() - count.at).total_seconds() // 60))
    if minutes < _MINUTES_IN_HOUR:
        return Age(minutes, "minutes", latest)
    if minutes < _MINUTES_IN_DAY:
        return Age(minutes // _MINUTES_IN_HOUR, "hours", latest)
    return Age(minutes // _MINUTES_IN_DAY, "days", latest)
