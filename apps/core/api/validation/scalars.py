"""Numbers, booleans, words of a vocabulary, and instants."""


# ruff: noqa: ANN401 - JSON values have no narrower type here

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from apps.core import clock
from apps.core.api.validation.base import LARGEST_INTEGER, SMALLEST_INTEGER, Check, Errors, Schema, wrong

if TYPE_CHECKING:
    from collections.abc import Mapping


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
