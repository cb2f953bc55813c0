"""Django's change list with the labels of everything its rows point to, fetched together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList

from apps.tenants.console import columns
from apps.tenants.console.links import Links

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
        super().get_results(request)
        page = self.model_admin
        self.result_list = list(self.result_list)
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
