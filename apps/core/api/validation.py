"""The checks behind the fields of a body: each takes one JSON value and gives the Python value, or notes what is wrong with it.

Nothing is raised for a wrong value: errors are collected, so that one answer names every wrong field. Checks are built once, when
the class of a body is made, and hold no state of a request.
"""


# ruff: noqa: ANN401, ARG002 - JSON values and requests have no narrower type here; signatures are those of the libraries

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from apps.core import clock
from apps.core.canonical import canonical_json
from apps.core.errors import FieldError
from apps.core.text import fold_key, has_control, key_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Errors: TypeAlias = list[FieldError]
Schema: TypeAlias = dict[str, Any]

WRONG: Final = object()
"""Stands for the value of a field that was wrong; never leaves the kit, because errors are raised before."""

MOST_ERRORS: Final = 100  # a body can be wrong in a hundred thousand places; an answer need not say so that often
SMALLEST_INTEGER: Final = -(2**63)
LARGEST_INTEGER: Final = 2**63 - 1

_BYTES_PER_CHARACTER = 4  # at most, in UTF-8
_LONGEST_NAME_IN_POINTER = 128
_NO_CONTROLS = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$"


def pointer_to(parent: str, name: str) -> str:
    """The JSON Pointer (RFC 6901) of a member; a name too long to be a slip of the pen is left out and the parent is named."""
    if len(name) > _LONGEST_NAME_IN_POINTER:
        return parent
    return f"{parent}/{name.replace('~', '~0').replace('/', '~1')}"


class Check:
    """Base of all checks."""

    __slots__ = ()

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        """The checked value, or WRONG after noting at least one error."""
        raise NotImplementedError

    def from_text(self, text: str) -> Any:
        """The JSON value that a query parameter stands for; text that stands for none stays text and fails in clean()."""
        return text

    def schema(self) -> Schema:
        """The OpenAPI 3.1 schema of the field."""
        raise NotImplementedError


def wrong(errors: Errors, pointer: str, code: str, detail: str) -> object:
    errors.append(FieldError(pointer, code, detail))
    return WRONG


class Text(Check):
    """A string without NUL. Length is limited in characters, in bytes of UTF-8, or both."""

    __slots__ = ("blank", "max_bytes", "max_chars", "min_chars", "pattern")

    def __init__(self, min_chars: int, max_chars: int | None, max_bytes: int | None, pattern: str | None, *, blank: bool) -> None:
        self.min_chars = min_chars
        self.max_chars = max_chars
        self.max_bytes = max_bytes
        self.pattern = None if pattern is None else re.compile(pattern)
        self.blank = blank

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:  # noqa: PLR0911 - one return for each refusal
        if not isinstance(value, str):
            return wrong(errors, pointer, "invalid_type", "This must be a string.")
        size = len(value)
        if self.max_chars is not None and size > self.max_chars:
            return wrong(errors, pointer, "max_length", f"At most {self.max_chars} characters.")
        if (
            self.max_bytes is not None
            and size * _BYTES_PER_CHARACTER > self.max_bytes
            and (size > self.max_bytes or len(value.encode("utf-8", "surrogatepass")) > self.max_bytes)
        ):
            return wrong(errors, pointer, "max_length", f"At most {self.max_bytes} bytes in UTF-8.")
        if "\0" in value:
            return wrong(errors, pointer, "invalid_text", "NUL is not text.")
        if not self.blank and not value.strip():
            return wrong(errors, pointer, "blank", "This must not be blank.")
        if size < self.min_chars:
            return wrong(errors, pointer, "min_length", f"At least {self.min_chars} characters.")
        if self.pattern is not None and not self.pattern.fullmatch(value):
            return wrong(errors, pointer, "invalid_format", "This does not have the right form.")
        return value

    def schema(self) -> Schema:
        found: Schema = {"type": "string", "pattern": "^[^\\u0000]*$"}
        shortest = max(self.min_chars, 0 if self.blank else 1)
        longest = self.max_chars if self.max_chars is not None else self.max_bytes
        if shortest:
            found["minLength"] = shortest
        if longest is not None:
            found["maxLength"] = longest
        if self.pattern is not None:
            found["pattern"] = f"^{self.pattern.pattern}$"
        return found


class Identifier(Check):
    """An id that a caller chose: compared exactly, no control characters, not blank."""

    __slots__ = ("max_chars",)

    def __init__(self, max_chars: int) -> None:
        self.max_chars = max_chars

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        if not isinstance(value, str):
            return wrong(errors, pointer, "invalid_type", "This must be a string.")
        if len(value) > self.max_chars:
            return wrong(errors, pointer, "max_length", f"At most {self.max_chars} characters.")
        if has_control(value):
            return wrong(errors, pointer, "invalid_text", "An id holds no control characters.")
        if not value.strip():
            return wrong(errors, pointer, "blank", "This must not be blank.")
        return value

    def schema(self) -> Schema:
        return {"type": "string", "minLength": 1, "maxLength": self.max_chars, "pattern": _NO_CONTROLS}


class Key(Check):
    """A key that is folded for identity (design/06 Limits)."""

    __slots__ = ("fold", "max_chars")

    def __init__(self, max_chars: int, *, fold: bool) -> None:
        self.max_chars = max_chars
        self.fold = fold

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        if not isinstance(value, str):
            return wrong(errors, pointer, "invalid_type", "This must be a string.")
        if len(value) > self.max_chars:
            return wrong(errors, pointer, "max_length", f"At most {self.max_chars} characters.")
        fault = key_fault(value)
        if fault == "blank":
            return wrong(errors, pointer, "blank", "This must not be blank.")
        if fault is not None:
            return wrong(errors, pointer, fault, "A key holds no control, invisible or direction-changing characters.")
        folded = fold_key(value)
        if len(folded) > self.max_chars:  # one compatibility character can unfold to eighteen
            return wrong(errors, pointer, "max_length", f"At most {self.max_chars} characters after normalisation.")
        return folded if self.fold else value

    def schema(self) -> Schema:
        return {"type": "string", "minLength": 1, "maxLength": self.max_chars, "pattern": _NO_CONTROLS}


class Integer(Check):
    """A JSON integer: no string, no fraction, no boolean."""

    __slots__ = ("maximum", "minimum")

    def __init__(self, minimum: int, maximum: int) -> None:
        self.minimum = minimum
        self.maximum = maximum

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        if type(value) is not int:
            return wrong(errors, pointer, "invalid_type", "This must be a JSON integer.")
        if not self.minimum <= value <= self.maximum:
            return wrong(errors, pointer, "out_of_range", f"This must be from {self.minimum} to {self.maximum}.")
        return value

    def from_text(self, text: str) -> Any:
        return int(text) if re.fullmatch(r"-?[0-9]{1,19}", text, re.ASCII) else text

    def schema(self) -> Schema:
        found: Schema = {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}
        if (self.minimum, self.maximum) == (SMALLEST_INTEGER, LARGEST_INTEGER):
            found = {"type": "integer", "format": "int64"}
        return found


class Number(Check):
    """A JSON number, finite."""

    __slots__ = ("maximum", "minimum")

    def __init__(self, minimum: float | None, maximum: float | None) -> None:
        self.minimum = minimum
        self.maximum = maximum

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        if type(value) is not int and type(value) is not float:
            return wrong(errors, pointer, "invalid_type", "This must be a JSON number.")
        below = self.minimum is not None and value < self.minimum
        above = self.maximum is not None and value > self.maximum
        if below or above or not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
            return wrong(errors, pointer, "out_of_range", "This number is too small or too large.")
        return value

    def from_text(self, text: str) -> Any:
        return float(text) if re.fullmatch(r"-?[0-9]{1,19}(?:\.[0-9]{1,19})?", text, re.ASCII) else text

    def schema(self) -> Schema:
        limits = {"minimum": self.minimum, "maximum": self.maximum}
        return {"type": "number"} | {name: value for name, value in limits.items() if value is not None}


class Boolean(Check):
    """true or false."""

    __slots__ = ()

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        if type(value) is not bool:
            return wrong(errors, pointer, "invalid_type", "This must be true or false.")
        return value

    def from_text(self, text: str) -> Any:
        return {"true": True, "false": False}.get(text, text)

    def schema(self) -> Schema:
        return {"type": "boolean"}


class Choice(Check):
    """One of some words; the value is what the word stands for."""

    __slots__ = ("words",)

    def __init__(self, words: Mapping[str, Any]) -> None:
        self.words = dict(words)

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        if not isinstance(value, str):
            return wrong(errors, pointer, "invalid_type", "This must be a string.")
        if value not in self.words:
            return wrong(errors, pointer, "invalid_choice", f"This must be one of: {', '.join(self.words)}.")
        return self.words[value]

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.words)}


_HOUR_MINUTE = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_DATE_TIME = re.compile(
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[Tt ]{_HOUR_MINUTE}:[0-5][0-9](?:\.[0-9]{{1,9}})?([Zz]|[+-]{_HOUR_MINUTE})?", re.ASCII
)


class Instant(Check):
    """RFC 3339 with an offset, as an aware time in UTC; a bare date is a UTC day and stands for its start (or its end).

    Microseconds are kept, finer fractions are cut. A leap second is no instant that the database knows and is refused (TM-12).
    """

    __slots__ = ("ahead", "end_of_day")

    def __init__(self, ahead: timedelta | None, *, end_of_day: bool) -> None:
        self.ahead = ahead
        self.end_of_day = end_of_day

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        if not isinstance(value, str):
            return wrong(errors, pointer, "invalid_type", "This must be a string with a time in RFC 3339.")
        try:
            found = self._read(value)
        except (ValueError, OverflowError):
            found = None
        if found is None:
            return wrong(errors, pointer, "invalid_time", "This is no time in RFC 3339, such as 2026-10-18T10:00:00Z.")
        if found.tzinfo is None:
            return wrong(errors, pointer, "timezone_required", "A time needs an offset, such as Z or +02:00.")
        if self.ahead is not None and found > clock.now() + self.ahead:
            return wrong(errors, pointer, "occurred_in_future", "This time is ahead of the server's clock.")
        return found

    def _read(self, text: str) -> datetime | None:
        shape = _DATE_TIME.fullmatch(text)
        if shape is not None:
            read = datetime.fromisoformat(text.upper())
            return read if shape[1] is None else read.astimezone(UTC)
        if _DATE.fullmatch(text) is None:
            return None
        day = datetime.fromisoformat(text).replace(tzinfo=UTC)
        return day + timedelta(days=1) if self.end_of_day else day

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}]}


class Items(Check):
    """A list; every item is checked, the value is a tuple."""

    __slots__ = ("item", "max_items", "min_items", "unique")

    def __init__(self, item: Check, min_items: int, max_items: int, *, unique: bool) -> None:
        self.item = item
        self.min_items = min_items
        self.max_items = max_items
        self.unique = unique

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        if not isinstance(value, list):
            return wrong(errors, pointer, "invalid_type", "This must be a list.")
        if len(value) > self.max_items:
            return wrong(errors, pointer, "max_length", f"At most {self.max_items} items.")
        if len(value) < self.min_items:
            return wrong(errors, pointer, "min_length", f"At least {self.min_items} items.")
        clean = self.item.clean
        found = tuple([clean(item, f"{pointer}/{place}", errors) for place, item in enumerate(value)])
        if self.unique:
            seen: list[Any] = []
            for place, item in enumerate(found):
                if item is not WRONG and item in seen:
                    return wrong(errors, f"{pointer}/{place}", "duplicate_item", "This item stands twice in the list.")
                seen.append(item)
        return found

    def schema(self) -> Schema:
        found: Schema = {"type": "array", "items": self.item.schema(), "maxItems": self.max_items}
        if self.min_items:
            found["minItems"] = self.min_items
        return found | ({"uniqueItems": True} if self.unique else {})


class Json(Check):
    """Any JSON value that can be stored: no NUL in any string or name, numbers within 64-bit integers."""

    __slots__ = ()

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        before = len(errors)
        self._walk(value, pointer, errors)
        return value if len(errors) == before else WRONG

    def _walk(self, value: Any, pointer: str, errors: Errors) -> None:
        if len(errors) >= MOST_ERRORS:
            return
        if isinstance(value, str) and "\0" in value:
            wrong(errors, pointer, "invalid_text", "NUL is not text.")
        elif type(value) in (int, float) and not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
            # The database writes 1e300 out in full and gives an integer back, which no answer could carry.
            wrong(errors, pointer, "out_of_range", "A number has at most 64 bits before its point.")
        elif isinstance(value, dict):
            for name, inner in value.items():
                if "\0" in name:
                    wrong(errors, pointer, "invalid_text", "NUL is not text, in names neither.")
                self._walk(inner, pointer_to(pointer, name), errors)
        elif isinstance(value, list):
            for place, inner in enumerate(value):
                self._walk(inner, f"{pointer}/{place}", errors)

    def schema(self) -> Schema:
        return {}


class JsonObject(Json):
    """A JSON object of free form, limited in the bytes of its canonical JSON and in the number of its names."""

    __slots__ = ("max_bytes", "max_keys")

    def __init__(self, max_bytes: int | None, max_keys: int | None) -> None:
        self.max_bytes = max_bytes
        self.max_keys = max_keys

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        if not isinstance(value, dict):
            return wrong(errors, pointer, "invalid_type", "This must be an object.")
        if not value:
            return value
        if self.max_keys is not None and len(value) > self.max_keys:
            return wrong(errors, pointer, "max_length", f"At most {self.max_keys} names.")
        found = super().clean(value, pointer, errors)
        if found is WRONG:
            return WRONG
        if self.max_bytes is not None and len(canonical_json(value).encode("utf-8", "surrogatepass")) > self.max_bytes:
            return wrong(errors, pointer, "max_length", f"At most {self.max_bytes} bytes of JSON.")
        return found

    def schema(self) -> Schema:
        found: Schema = {"type": "object", "additionalProperties": True}
        return found if self.max_keys is None else found | {"maxProperties": self.max_keys}


class Nested(Check):
    """An object with fields of its own; the class is that of a Body."""

    __slots__ = ("body", "read")

    def __init__(self, body: type[Any], read: Callable[[Any, str, Errors], Any]) -> None:
        self.body = body
        self.read = read

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        return self.read(value, pointer, errors)

    def schema(self) -> Schema:
        return {"type": "object", "x-body": self.body}


class Raw(Check):
    """Taken as it is, to be checked one by one later (items of a batch); the schema is that of a Body."""

    __slots__ = ("body",)

    def __init__(self, body: type[Any]) -> None:
        self.body = body

    def clean(self, value: Any, pointer: str, errors: Errors) -> Any:
        return value

    def schema(self) -> Schema:
        return {"type": "object", "x-body": self.body}
