"""Cards of the home page. Each app registers its own in AppConfig.ready(); nobody counts another app's rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from apps.core import clock

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from django.utils.functional import Promise

    from apps.tenants.access import Access


@dataclass(frozen=True, slots=True)
class Figure:
    """A count, and the age of the oldest thing counted (None where age says nothing)."""

    count: int
    oldest_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """One number: what it is called, who sees it, where its list is, and how it is counted.

    ``changelist`` is the admin page behind it (``memories_candidate``), ``query`` its filters: the list shows exactly what was counted.
    ``figure`` runs inside the tenant context. ``attention`` marks a queue: more than nothing asks for somebody.
    """

    key: str
    title: str | Promise
    roles: frozenset[str]
    changelist: str
    query: str
    figure: Callable[[Access], Figure]
    attention: bool = False


@dataclass(frozen=True, slots=True)
class ShownCard:
    key: str
    title: str | Promise
    count: int
    age_days: int | None
    url: str
    attention: bool


_cards: list[Card] = []


def register_card(card: Card) -> None:
    """Add a card; shown in the order of registration, which follows the floors."""
    _cards.append(card)


def registered_cards() -> tuple[Card, ...]:
    return tuple(_cards)


def cards_for(access: Access) -> list[ShownCard]:
    """The cards that this person's roles see, counted now."""
    shown = []
    for card in _cards:
        if not card.roles & access.roles:
            continue
        figure = card.figure(access)
        url = reverse(f"admin:{card.changelist}_changelist")
        age = (clock.now() - figure.oldest_at).days if figure.oldest_at is not None else None
        shown.append(
            ShownCard(
                card.key,
                card.title,
                figure.count,
                age,
                f"{url}?{card.query}" if card.query else url,
                card.attention and figure.count > 0,
            )
        )
    return shown
