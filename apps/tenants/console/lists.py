"""Django's change list in pages by key, with the labels of everything its rows point to, fetched together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import PAGE_VAR, ChangeList

from apps.tenants.console import columns, keyset
from apps.tenants.console.links import Links
from apps.tenants.console.paging import Tally, tally

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

    from apps.tenants.console.base import GovernedAdmin


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What a link of another page narrowed a list by, and the address of the list without it."""

    name: str
    value: SafeString
    without: str


@dataclass(frozen=True, slots=True)
class Places:
    """Addresses of the other pages of a list, None where one is there already."""

    first: str | None
    newer: str | None
    older: str | None
    last: str | None


class ScopedChangeList(ChangeList):
    model_admin: GovernedAdmin

    def get_filters_params(self, params: Any = None) -> Any:  # noqa: ANN401 - Django's own shape
        """An address names one element of an array; the database wants an array of it."""
        found = super().get_filters_params(params)
        for lookup in [name for name in self.model_admin.linked_by if name in found and name.endswith("__contains")]:
            try:
                found[lookup] = [[UUID(text)] for text in found[lookup]]
            except ValueError as refused:
                raise IncorrectLookupParameters(refused) from refused
        return found

    def get_results(self, request: HttpRequest) -> None:
        page = self.model_admin
        place = request.GET.get(PAGE_VAR, "")
        try:
            shown = keyset.page(self.queryset, self._columns(), place, self.list_per_page)
        except keyset.NoPlace as refused:
            raise IncorrectLookupParameters(refused) from refused
        whole = not place and shown.older is None  # all of it is on this page: nothing is left to be counted
        self.tally = Tally(len(shown.rows)) if whole else tally(self.queryset)
        self.result_count = self.tally.count
        self.full_result_count, self.show_full_result_count, self.show_admin_actions = None, False, False
        self.can_show_all, self.multi_page = False, shown.newer is not None or shown.older is not None
        self.result_list = shown.rows
        self.places = self._places(place, shown)
        links = Links(page.admin_site, request)
        columns.wanted(page, self.result_list, page.columns, links)
        narrowed = [(lookup, request.GET[lookup]) for lookup in page.linked_by if lookup in request.GET]
        for lookup, text in narrowed:
            columns.wanted_by_link(page, lookup, text, links)
        for row in self.result_list:
            row.console_links = links
        self.narrowed = [
            Narrowed(
                str(page.linked_by[lookup]),
                columns.linked_value(page, lookup, text, links),
                self.get_query_string(remove=[lookup]),
            )
            for lookup, text in narrowed
        ]

    def _columns(self) -> list[keyset.Column]:
        return keyset.columns_of(self.model, [str(name) for name in self.queryset.query.order_by])

    def _places(self, place: str, shown: keyset.PageOfRows) -> Places:
        return Places(
            first=self.get_query_string() if place else None,
            newer=self.get_query_string({PAGE_VAR: shown.newer}) if shown.newer else None,
            older=self.get_query_string({PAGE_VAR: shown.older}) if shown.older else None,
            last=self.get_query_string({PAGE_VAR: keyset.LAST}) if shown.older else None,
        )
