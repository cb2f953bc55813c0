"""Pages of long lists: from the key of a row on, never by number, so that the last page costs what the first does.

A place in a list is what one row holds in the columns of its order. It travels in the address, in Django's own parameter for a
page. Nothing about it is secret: it names columns that the list sorts by, and the rows are narrowed before it is looked at.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import Field, ForeignKey, Q
from django.utils.timezone import is_naive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import Model, QuerySet

LAST = "last"
_LONGEST = 1024
_DIRECTIONS = ("after", "before")


class NoPlace(ValueError):
    """A text that names no place in this list."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that a list is sorted by."""

    field: Field[Any, Any]
    descending: bool

    @property
    def name(self) -> str:
        return self.field.attname


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page begins (``after`` a row) or ends (``before`` a row, or at the end of the list)."""

    direction: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class PageOfRows:
    """Rows in the order of the list, and the places of the pages beside them; None where there is none."""

    rows: list[Any]
    newer: str | None
    older: str | None


def columns_of(model: type[Model], order: Sequence[str]) -> list[Column]:
    """The columns behind Django's names of an order. Raises TypeError for one that a page cannot begin at."""
    return [Column(_field(model, name.removeprefix("-")), name.startswith("-")) for name in order]


def page(rows: QuerySet[Any], columns: Sequence[Column], place: str, size: int) -> PageOfRows:
    """One page of rows that are already narrowed and sorted; ``place`` is empty for the first one. Raises NoPlace."""
    if place == LAST:
        found = list(rows.reverse()[: size + 1])
        more, found = len(found) > size, found[:size][::-1]
        return PageOfRows(found, _written("before", columns, found[0]) if more else None, None)
    at = _read(columns, place) if place else None
    if at is not None and at.direction == "before":
        found = list(rows.filter(_beyond(columns, at, back=True)).reverse()[: size + 1])
        more, found = len(found) > size, found[:size][::-1]
        return PageOfRows(found, _written("before", columns, found[0]) if more else None, _beside("after", columns, found[-1:]))
    found = list((rows if at is None else rows.filter(_beyond(columns, at, back=False)))[: size + 1])
    more, found = len(found) > size, found[:size]
    newer = _beside("before", columns, found[:1]) if at is not None else None
    return PageOfRows(found, newer, _written("after", columns, found[-1]) if more else None)


def _beside(direction: str, columns: Sequence[Column], rows: Sequence[Any]) -> str | None:
    return _written(direction, columns, rows[0]) if rows else None


def _beyond(columns: Sequence[Column], place: Place, *, back: bool) -> Q:
    """Rows behind a place (``back``: in front of it). The first comparison stands alone as well, for the index."""
    first, beyond, same = Q(), Q(), Q()
    for column, value in zip(columns, place.values, strict=True):
        smaller = column.descending is not back
        beyond |= same & Q(**{f"{column.name}__{'lt' if smaller else 'gt'}": value})
        if not same:
            first = Q(**{f"{column.name}__{'lte' if smaller else 'gte'}": value})
        same &= Q(**{column.name: value})
    return first & beyond


def _written(direction: str, columns: Sequence[Column], row: Any) -> str:  # noqa: ANN401 - a row of the list's model
    values = [_plain(getattr(row, column.name)) for column in columns]
    packed = json.dumps(values, separators=(",", ":")).encode()
    return f"{direction}.{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def _read(columns: Sequence[Column], text: str) -> Place:
    direction, _, packed = text.partition(".")
    if direction not in _DIRECTIONS or len(text) > _LONGEST:
        raise NoPlace
    try:
        values = json.loads(base64.b64decode(packed + "=" * (-len(packed) % 4), altchars="-_", validate=True))
    except (binascii.Error, ValueError, RecursionError) as broken:
        raise NoPlace from broken
    if not isinstance(values, list) or len(values) != len(columns):
        raise NoPlace
    return Place(direction, tuple(_typed(column, value) for column, value in zip(columns, values, strict=True)))


def _typed(column: Column, value: Any) -> Any:  # noqa: ANN401 - a value of the column
    field = column.field.target_field if isinstance(column.field, ForeignKey) else column.field
    if value is None or isinstance(value, (list, dict)):
        raise NoPlace
    try:
        typed = field.to_python(value)
        str(typed).encode()
    except (ValidationError, UnicodeEncodeError, OverflowError, ValueError, TypeError) as wrong:
        raise NoPlace from wrong
    if (isinstance(typed, str) and "\x00" in typed) or (isinstance(typed, datetime) and is_naive(typed)):
        raise NoPlace
    return typed


def _field(model: type[Model], name: str) -> Field[Any, Any]:
    try:
        field = model._meta.pk if name == "pk" else model._meta.get_field(name)  # noqa: SLF001 - documented
    except FieldDoesNotExist as missing:
        msg = f"{model.__name__}: {name} is no column to page by"
        raise TypeError(msg) from missing
    if not isinstance(field, Field) or field.null:
        msg = f"{model.__name__}: {name} may be empty, so a page cannot begin at it"
        raise TypeError(msg)
    return field


def _plain(value: Any) -> Any:  # noqa: ANN401 - a value of the column
    if isinstance(value, (bool, int, str)):
        return value
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)
