"""Columns of lists, and values of detail pages: one way to show a column wherever it appears."""

# ruff: noqa: ANN401 - rows and values are of the page's model

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.admin.utils import prepare_lookup_value
from django.core.exceptions import FieldDoesNotExist
from django.db.models import DateTimeField, Field, ForeignKey
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html, format_html_join
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _  # Django's list keeps a heading for all languages

from apps.tenants.console import values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from django.db.models import Model
    from django.utils.safestring import SafeString
    from django_stubs_ext import StrOrPromise

    from apps.tenants.console.base import GovernedAdmin
    from apps.tenants.console.links import Links

# Words of these columns are states of something; choices of all others are plain words.
_STATE_COLUMNS = frozenset({"state", "status", "decision", "result", "availability", "verdict", "outcome"})


def column(page: GovernedAdmin, name: str) -> Callable[[Model], object]:
    """A function for Django's list: shows the column of a row, and carries its heading and what it sorts by."""

    def show(row: Any) -> SafeString:
        return value(page, row, name, row.console_links)

    show.__name__ = name
    show.short_description = heading(page, name)  # type: ignore[attr-defined]
    show.admin_order_field = name if name in page.sortable else None  # type: ignore[attr-defined]
    return show


def heading(page: GovernedAdmin, name: str) -> StrOrPromise:
    """What the page, or the column, or the page's own method says it is called."""
    if name in page.headings:
        return page.headings[name]
    field = _field(page, name)
    if field is not None and field.name == "id":
        return _("Id")
    if field is not None:  # a name that Django made from the column's own is a word like any other
        return _(field.verbose_name) if isinstance(field.verbose_name, str) else field.verbose_name
    named: StrOrPromise = getattr(page, name).short_description
    return named


def value(page: GovernedAdmin, row: Any, name: str, links: Links, *, full: bool = False) -> SafeString:
    """A column of a row as HTML; ``full`` (detail pages) shows seconds and the id beside a label."""
    field = _field(page, name)
    if field is None:
        own: SafeString = getattr(page, name)(row)
        return own
    held = getattr(row, field.attname)
    if name in page.references:
        return _referred(page.references[name], held, links)
    if isinstance(field, ForeignKey):
        return _pointed(field, held, links, full=full)
    return _plain(page, row, field, held, full=full)


def _plain(page: GovernedAdmin, row: Any, field: Field[Any, Any], held: Any, *, full: bool) -> SafeString:
    if field.primary_key:
        return values.code(page.spelled(held) if page.id_prefix else page.label(row))
    if isinstance(field, DateTimeField) and held is not None:
        return values.instant(held, seconds=full)
    return _worded(page, field, held)


def wanted(page: GovernedAdmin, rows: Iterable[Any], names: Iterable[str], links: Links) -> None:
    """Tell the links which rows these columns point to."""
    rows = list(rows)
    for name in names:
        field = _field(page, name)
        if field is None:
            continue
        if name in page.references:
            links.want(page.references[name], _keys(getattr(row, field.attname) for row in rows))
        elif isinstance(field, ForeignKey):
            links.want(field.related_model, _keys(getattr(row, field.attname) for row in rows))


def _field(page: GovernedAdmin, name: str) -> Field[Any, Any] | None:
    try:
        found = page.opts.get_field(name)
    except FieldDoesNotExist:
        return None
    return found if isinstance(found, Field) else None


def _keys(held: Iterable[Any]) -> Iterator[Any]:
    for one in held:
        if isinstance(one, list):
            yield from one
        else:
            yield one


def _referred(model: str, held: Any, links: Links) -> SafeString:
    if held in (None, []):
        return values.NOTHING
    if isinstance(held, list):
        return format_html_join(" ", "{}", ((links.show(model, key),) for key in held))
    return links.show(model, held)


def _pointed(field: ForeignKey[Any, Any], held: Any, links: Links, *, full: bool) -> SafeString:
    if held is None:
        return values.NOTHING
    shown = links.show(field.related_model, held)
    page = links.page_of(field.related_model)
    if not full or page is None or page.id_prefix is None or page.spelled(held) in shown:
        return shown
    return format_html("{} {}", shown, values.code(page.spelled(held)))


def _worded(page: GovernedAdmin, field: Field[Any, Any], held: Any) -> SafeString:
    """A word of a vocabulary by its label: the page's, else the model's."""
    if not held or not isinstance(held, str):
        return values.shown(held)
    labels = page.vocabularies.get(field.name) or dict(field.flatchoices)
    word = labels.get(held)
    if field.name in _STATE_COLUMNS:
        return values.state(held, held if word is None else word)
    return values.shown(held) if word is None else format_html("{}", capfirst(word))


# -- what a link narrowed a list by


def wanted_by_link(page: GovernedAdmin, lookup: str, text: str, links: Links) -> None:
    model, keys = _linked(page, lookup, text)
    if model is not None:
        links.want(model, keys)


def linked_value(page: GovernedAdmin, lookup: str, text: str, links: Links) -> SafeString:
    """The value of a narrowing as people know it: the label of the row it names, or the words of a vocabulary."""
    model, keys = _linked(page, lookup, text)
    if model is not None:
        return format_html_join(" ", "{}", ((links.show(model, key),) for key in keys))
    if lookup.endswith("__isnull"):
        return values.shown(prepare_lookup_value(lookup, text))
    field = _field(page, lookup.partition("__")[0])
    if isinstance(field, DateTimeField):
        at = parse_datetime(text)
        return values.instant(at) if at is not None and at.tzinfo else values.shown(text)
    named = dict(field.flatchoices) if field is not None else {}
    return format_html("{}", ", ".join(str(named.get(word, word)) for word in text.split(",")))


def _linked(page: GovernedAdmin, lookup: str, text: str) -> tuple[Any, list[Any]]:
    name = lookup.partition("__")[0]
    field = _field(page, name)
    model = page.references.get(name) or (field.related_model if isinstance(field, ForeignKey) else None)
    if model is None or "__" in lookup.removesuffix("__contains"):
        return None, []
    try:
        return model, [UUID(text)]
    except ValueError:
        return None, []
