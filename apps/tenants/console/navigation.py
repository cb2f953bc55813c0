"""How the pages are grouped: by the work they are for, not by the app that keeps the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import models
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.http import HttpRequest

    from apps.tenants.console.base import GovernedAdmin


class Area(models.TextChoices):
    """The parts of the navigation, in their order. RECORDS holds what is only looked at to explain something else."""

    REVIEW = "review", _("Review")
    MEMORY = "memory", _("Memory")
    FORGETTING = "forgetting", _("Forgetting")
    RETRIEVAL = "retrieval", _("Retrieval")
    AUDIT = "audit", _("Audit")
    ACCESS = "access", _("Access")
    WORK = "work", _("Operations")
    RECORDS = "records", _("Detail records")


@dataclass(frozen=True, slots=True)
class Entry:
    title: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    entries: tuple[Entry, ...]
    folded: bool

    @property
    def current(self) -> bool:
        return any(entry.current for entry in self.entries)


def groups_for(request: HttpRequest, pages: list[GovernedAdmin]) -> list[Group]:
    """The pages this person may open, by area, in the order in which the apps registered them."""
    found: dict[Area, list[Entry]] = {area: [] for area in Area}
    for page in pages:
        if page.has_module_permission(request):
            url = reverse(page.address("changelist"))
            found[page.area].append(Entry(str(capfirst(page.title)), url, request.path.startswith(url)))
    return [Group(str(area.label), tuple(entries), area == Area.RECORDS) for area, entries in found.items() if entries]
