"""The detail page of a row: its columns in groups, and short tables of the rows that belong to it."""

# ruff: noqa: ANN401 - rows are of the page's model

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib.admin.utils import quote
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from apps.tenants.console import columns, values
from apps.tenants.console.links import Links
from apps.tenants.console.paging import Tally, tally

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.utils.safestring import SafeString
    from django_stubs_ext import StrOrPromise

    from apps.tenants.console.base import GovernedAdmin

_SHOWN = 20


def by(lookup: str) -> Callable[[Any], dict[str, Any]]:
    """Rows that point here through this column."""
    return lambda row: {lookup: row.pk}


@dataclass(frozen=True, slots=True)
class Section:
    """A group of columns. What no section names is shown in a last one, so that a new column is never forgotten."""

    title: StrOrPromise
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """The first rows of another page that belong to this one.

    ``where`` gives the lookups that find them (None: this row can have none); that page has them in its ``linked_by``, so that
    its list narrows the same way.
    """

    title: StrOrPromise
    model: str
    where: Callable[[Any], dict[str, Any] | None]
    columns: tuple[str, ...]
    order: tuple[str, ...] = ("-pk",)


@dataclass(frozen=True, slots=True)
class ShownField:
    label: str
    value: SafeString


@dataclass(frozen=True, slots=True)
class ShownSection:
    title: str
    fields: tuple[ShownField, ...]


@dataclass(frozen=True, slots=True)
class ShownTable:
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[SafeString, ...], ...]
    addresses: tuple[str, ...]
    count: Tally
    all_url: str

    @property
    def partial(self) -> bool:
        return self.count.count > len(self.rows)

    @property
    def lines(self) -> list[tuple[str, tuple[SafeString, ...]]]:
        return list(zip(self.addresses, self.rows, strict=True))


def page(admin: GovernedAdmin, request: HttpRequest, row: Any) -> dict[str, Any]:
    """What the template shows. As many statements as there are kinds of rows to point to, however many rows there are."""
    links = Links(admin.admin_site, request)
    sections = _sections(admin)
    columns.wanted(admin, [row], [name for section in sections for name in section.fields], links)
    found = [(related, target, *_rows(related, target, request, row)) for related, target in _targets(admin, request)]
    for related, target, rows, _all in found:
        columns.wanted(target, rows, related.columns, links)
    return {
        "row": row,
        "public_id": values.code(admin.spelled(row.pk)) if admin.id_prefix else None,
        "key": values.code(row.pk),
        "sections": [_shown_section(admin, row, section, links) for section in sections],
        "tables": [_shown_table(related, target, row, rows, total, links) for related, target, rows, total in found if rows],
        "empty_tables": [
            related.title for related, _target, rows, _total in found if not rows and related.where(row) is not None
        ],
    }


def _sections(admin: GovernedAdmin) -> list[Section]:
    named = {name for section in admin.sections for name in section.fields}
    unseen = {*named, *admin.hidden_fields, *admin.told_by_others, "tenant", admin.opts.pk.name}
    rest = tuple(field.name for field in admin.opts.fields if field.name not in unseen)
    return [*admin.sections, *([Section(_("More") if admin.sections else "", rest)] if rest else [])]


def _shown_section(admin: GovernedAdmin, row: Any, section: Section, links: Links) -> ShownSection:
    fields = tuple(
        ShownField(str(capfirst(columns.heading(admin, name))), columns.value(admin, row, name, links, full=True))
        for name in section.fields
    )
    return ShownSection(str(section.title), fields)


def _targets(admin: GovernedAdmin, request: HttpRequest) -> list[tuple[Related, GovernedAdmin]]:
    opened = ((related, admin.admin_site.open_page(request, related.model)) for related in admin.related)
    return [(related, target) for related, target in opened if target is not None]


def _rows(related: Related, target: GovernedAdmin, request: HttpRequest, row: Any) -> tuple[list[Any], Tally]:
    where = related.where(row)
    if where is None:
        return [], Tally(0)
    scoped = target.get_queryset(request).filter(**where)
    rows = list(scoped.order_by(*related.order)[:_SHOWN])
    return rows, tally(scoped) if len(rows) == _SHOWN else Tally(len(rows))


def _shown_table(related: Related, target: GovernedAdmin, row: Any, rows: list[Any], count: Tally, links: Links) -> ShownTable:
    query = urlencode({lookup: _written(value) for lookup, value in (related.where(row) or {}).items()})
    return ShownTable(
        title=str(related.title),
        headings=tuple(str(capfirst(columns.heading(target, name))) for name in related.columns),
        rows=tuple(tuple(columns.value(target, one, name, links) for name in related.columns) for one in rows),
        addresses=tuple(reverse(target.address("change"), args=[quote(one.pk)]) for one in rows),
        count=count,
        all_url=f"{reverse(target.address('changelist'))}?{query}",
    )


def _written(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
