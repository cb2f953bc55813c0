"""Filters whose choices are a vocabulary of ours. They never look into the table, so they are cheap and cannot tell of rows out of reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.tenants.models import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from django.contrib.admin import ModelAdmin
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.functional import Promise


def vocabulary(
    column: str, name: str | Promise, choices: Callable[[], Iterable[tuple[str, str | Promise]]]
) -> type[admin.SimpleListFilter]:
    """A filter of a column (or path) by words known in advance; ``choices`` is called when the filter is shown."""

    class Vocabulary(admin.SimpleListFilter):
        title = name  # type: ignore[assignment]
        parameter_name = column

        def lookups(self, _request: HttpRequest, _page: ModelAdmin[Any]) -> list[tuple[str, str | Promise]]:
            return list(choices())

        def queryset(self, _request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
            return rows.filter(**{column: self.value()}) if self.value() else rows

    return Vocabulary


def scope_filter(path: str) -> type[admin.SimpleListFilter]:
    """By the kind of namespace."""
    return vocabulary(f"{path}__scope", _("scope"), lambda: Scope.choices)
