"""Pages of a list (design/06 Lists): by key instead of by number, so that inserts neither repeat nor hide a row.

A cursor is the key of the last row of a page, signed. Caller, route and filters are part of the signature, not of the cursor:
used by somebody else, elsewhere, with other filters or altered, it is simply no cursor of this list.
"""


# ruff: noqa: ANN401 - JSON values and REST framework's requests have no narrower type here

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from django.core import signing
from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet

from apps.core.canonical import json_hash
from apps.core.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Row = TypeVar("Row")
Shown = TypeVar("Shown")

_LONGEST = 1024


class PageRequest(Protocol):
    """What page() needs to know; a ListQuery is one."""

    @property
    def cursor(self) -> str | None: ...

    @property
    def limit(self) -> int: ...

    def filters(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Rows of a list and the cursor of the next page, None at the end."""

    items: list[Row]
    next_cursor: str | None

    def map(self, show: Callable[[Row], Shown]) -> Page[Shown]:
        """The same page with every row shown in another way."""
        return Page([show(row) for row in self.items], self.next_cursor)


def page(rows: QuerySet[Any], *, order: Sequence[str], query: PageRequest, caller: str, route: str) -> Page[Any]:
    """One page of a queryset in the given order.

    ``order`` names fields of the model, with ``-`` for descending; together they must be unique, and they must never change for a
    row and never be null. Raises ValidationFailed with ``invalid_cursor``.
    """
    signer = _signer(caller, route, order, query.filters())
    if query.cursor:
        rows = rows.filter(_after(rows.model, order, _opened(signer, query.cursor)))
    found = list(rows.order_by(*order)[: query.limit + 1])
    more = len(found) > query.limit
    found = found[: query.limit]
    return Page(found, signer.sign_object([_plain(_value(found[-1], name)) for name in order]) if more else None)


def _signer(caller: str, route: str, order: Sequence[str], filters: Mapping[str, Any]) -> signing.Signer:
    bound = json_hash([caller, route, list(order), {name: _plain(value) for name, value in filters.items()}])
    return signing.Signer(sep=".", salt=f"apps.core.cursors:{bound}")


def _opened(signer: signing.Signer, cursor: str) -> list[Any]:
    try:
        values = signer.unsign_object(cursor[:_LONGEST])
    except (signing.BadSignature, ValueError):
        raise _invalid() from None
    return list(values)


def _after(model: type[Model], order: Sequence[str], values: Sequence[Any]) -> Q:
    """Rows behind a key. The first comparison stands alone as well, because that is what an index can use."""
    if len(values) != len(order):
        raise _invalid()
    first, behind, same = Q(), Q(), Q()
    for name, value in zip(order, values, strict=True):
        field = name.removeprefix("-")
        try:
            typed = model._meta.get_field(field).to_python(value)  # type: ignore[union-attr]  # noqa: SLF001 - documented
        except ValidationError:
            raise _invalid() from None
        behind |= same & Q(**{f"{field}__{'lt' if name.startswith('-') else 'gt'}": typed})
        if not same:
            first = Q(**{f"{field}__{'lte' if name.startswith('-') else 'gte'}": typed})
        same &= Q(**{field: typed})
    return first & behind


def _value(row: Any, name: str) -> Any:
    field = name.removeprefix("-")
    return row[field] if isinstance(row, dict) else getattr(row, field)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return str(value)


def _invalid() -> ValidationFailed:
    return ValidationFailed([FieldError("/cursor", "invalid_cursor", "This is no cursor of this list.")])
