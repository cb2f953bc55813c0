"""The home page: what needs somebody today, and how the memory stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from apps.tenants.console import cards, charts
from apps.tenants.console.navigation import Area

if TYPE_CHECKING:
    from django.http import HttpRequest

    from apps.tenants.console.cards import ShownCard
    from apps.tenants.console.site import GovernanceAdminSite


@dataclass(frozen=True, slots=True)
class CardGroup:
    title: str
    cards: tuple[ShownCard, ...]


def page(site: GovernanceAdminSite, request: HttpRequest) -> dict[str, Any]:
    """Cards and charts of the open tenant; nothing for a superuser who is in none."""
    if getattr(request, "access", None) is None:
        return {"card_groups": [], "waiting": [], "bar_charts": [], "day_charts": []}
    shown = cards.cards_for(site, request)
    groups = [CardGroup(str(area.label), tuple(card for card in shown if card.area == area)) for area in Area]
    return {
        "card_groups": [group for group in groups if group.cards],
        "waiting": [card for card in shown if card.attention],
        "bar_charts": charts.bars_for(site, request),
        "day_charts": charts.days_for(site, request),
    }
