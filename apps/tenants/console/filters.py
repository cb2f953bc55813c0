"""Filters whose choices are a vocabulary of ours. They ask no table: they cost nothing and tell of no row out of reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.utils import prepare_lookup_value
from django.utils.translation import gettext_lazy as _

from apps.tenants.models import Namespace, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from django.contrib.admin import ModelAdmin
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django_stubs_ext import StrOrPromise

_MOST_NAMED = 100


def vocabulary(
    column: str, name: StrOrPromise, choices: Callable[[], Iterable[tuple[str, StrOrPromise]]]
) -> type[admin.SimpleListFilter]:
    """A filter of a column (or path) by words known in advance; ``choices`` is called when the filter is shown."""

    class Vocabulary(admin.SimpleListFilter):
        title = name
        parameter_name = column

        def lookups(self, _request: HttpRequest, _page: ModelAdmin[Any]) -> list[tuple[str, StrOrPromise]]:
            return list(choices())

        def queryset(self, _request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
            asked = self.value()
            return rows if asked is None else rows.filter(**{column: prepare_lookup_value(column, asked)})

    return Vocabulary


def scope_filter(path: str) -> type[admin.SimpleListFilter]:
    """By the kind of namespace; ``path`` leads to it.

    A few namespaces are named one by one, because an index of rows begins with them; the rows of many are found on the way.
    """

    class ByScope(vocabulary(f"{path}__scope", _("scope"), lambda: Scope.choices)):  # type: ignore[misc]  # a class made by a function
        def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
            access = getattr(request, "access", None)
            asked = self.value()
            if asked is None or access is None:
                return rows
            places = Namespace.objects.filter(tenant_id=access.tenant_id, scope=asked)
            named = list(places.values_list("id", flat=True)[: _MOST_NAMED + 1])
            return rows.filter(**{f"{path}__in": named if len(named) <= _MOST_NAMED else places.values("id")})

    return ByScope
