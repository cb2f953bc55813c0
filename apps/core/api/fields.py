"""Field declarations of request bodies and query parameters.

A class that extends Body or Query declares ``name: type = field(...)``. A field without ``default`` is required: it must be there
and must not be null. With a default, absent and null both mean the default (design/06 Conventions).
"""


# ruff: noqa: A002, ANN401 - "help" reads best at the call; a field specifier returns the type that its line declares

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final

from apps.core.api import validation
from apps.core.api.validation import LARGEST_INTEGER, SMALLEST_INTEGER, Check
from apps.core.limits import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta
    from enum import Enum

CHECK: Final = "check"
HELP: Final = "help"
NAME: Final = "name"
_REQUIRED: Any = dataclasses.MISSING


def text(
    *,
    min_chars: int = 0,
    max_chars: int | None = None,
    max_bytes: int | None = None,
    pattern: str | None = None,
    blank: bool = True,
    default: Any = _REQUIRED,
    help: str = "",
    name: str = "",
) -> Any:
    """A string, kept as it was sent. ``pattern`` must match the whole of it; ``blank=False`` refuses white space alone."""
    return _field(validation.Text(min_chars, max_chars, max_bytes, pattern, blank=blank), default, help, name)


def identifier(
    *,
    max_chars: int = LIMITS.id_chars,
    default: Any = _REQUIRED,
    help: str = "",
    name: str = "",
) -> Any:
    """An id that callers choose; compared exactly."""
    return _field(validation.Identifier(max_chars), default, help, name)


def key(
    *,
    max_chars: int = LIMITS.key_chars,
    fold: bool = True,
    default: Any = _REQUIRED,
    help: str = "",
    name: str = "",
) -> Any:
    """A fact key, label or scope key, folded for identity unless ``fold=False`` (then checked only)."""
    return _field(validation.Key(max_chars, fold=fold), default, help, name)


def integer(
    *,
    minimum: int = SMALLEST_INTEGER,
    maximum: int = LARGEST_INTEGER,
    default: Any = _REQUIRED,
    help: str = "",
    name: str = "",
) -> Any:
    """A JSON integer within the bounds, both included."""
    return _field(validation.Integer(minimum, maximum), default, help, name)


def number(
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    default: Any = _REQUIRED,
    help: str = "",
    name: str = "",
) -> Any:
    """A JSON number within the bounds, both included."""
    return _field(validation.Number(minimum, maximum), default, help, name)


def boolean(*, default: Any = _REQUIRED, help: str = "", name: str = "") -> Any:
    """One of true and false."""
    return _field(validation.Boolean(), default, help, name)


def choice(*words: str | type[Enum], default: Any = _REQUIRED, help: str = "", name: str = "") -> Any:
    """One of the words, or a member of the enumeration with that value."""
    known: dict[str, Any] = {}
    for word in words:
        known |= {word: word} if isinstance(word, str) else {str(member.value): member for member in word}
    return _field(validation.Choice(known), default, help, name)


def instant(
    *,
    ahead: timedelta | None = None,
    end_of_day: bool = False,
    default: Any = _REQUIRED,
    help: str = "",
    name: str = "",
) -> Any:
    """A time in RFC 3339, aware and in UTC. ``ahead``: how far it may lie ahead of the server's clock, if that matters.

    A bare date is the start of that UTC day; with ``end_of_day`` it is that of the next one (an exclusive end, such as valid_to).
    """
    return _field(validation.Instant(ahead, end_of_day=end_of_day), default, help, name)


def items(
    item: Any,
    *,
    max_items: int,
    min_items: int = 0,
    unique: bool = False,
    default: Any = _REQUIRED,
    help: str = "",
    name: str = "",
) -> Any:
    """A list of one kind of field, as a tuple."""
    return _field(validation.Items(check_of(item), min_items, max_items, unique=unique), default, help, name)


def json_object(
    *,
    max_bytes: int | None = None,
    max_keys: int | None = None,
    default: Any = _REQUIRED,
    default_factory: Any = _REQUIRED,
    help: str = "",
    name: str = "",
) -> Any:
    """A JSON object of free form, as a dict; bytes are those of its canonical JSON."""
    return _field(validation.JsonObject(max_bytes, max_keys), default, help, name, default_factory)


def anything(*, default: Any = _REQUIRED, help: str = "", name: str = "") -> Any:
    """Any JSON value that can be stored."""
    return _field(validation.Json(), default, help, name)


def nested(
    body: type[Any],
    *,
    default: Any = _REQUIRED,
    default_factory: Callable[[], Any] = _REQUIRED,
    help: str = "",
    name: str = "",
) -> Any:
    """An object with the fields of another Body."""
    return _field(validation.Nested(body, body.read), default, help, name, default_factory)


def raw(body: type[Any], *, default: Any = _REQUIRED, help: str = "", name: str = "") -> Any:
    """A value that is checked later, with ``body.of(value)``: an item of a batch, whose fault must not fail the others."""
    return _field(validation.Raw(body), default, help, name)


def check_of(field: Any) -> Check:
    """The check inside a declaration."""
    found: Check = field.metadata[CHECK]
    return found


def _field(check: Check, default: Any, help_line: str, name: str, default_factory: Any = _REQUIRED) -> Any:
    metadata = {CHECK: check, HELP: help_line, NAME: name}
    if default_factory is not _REQUIRED:
        return dataclasses.field(default_factory=default_factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)
