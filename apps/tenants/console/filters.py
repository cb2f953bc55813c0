"""Filters whose choices are a vocabulary of ours. They ask no table: they cost nothing and tell of no row out of reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.utils import prepare_lookup_value
from django.utils.translation import gettext_lazy as _

from apps.tenants.models import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from django.contrib.admin import ModelAdmin
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django_stubs_ext import StrOrPromise


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
    """By the kind of namespace."""
    return vocabulary(f"{path}__scope", _("scope"), lambda: Scope.choices)
