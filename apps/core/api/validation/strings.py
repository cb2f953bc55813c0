"""Strings: text, ids that callers choose, and keys that are folded for identity."""


# ruff: noqa: ANN401 - JSON values have no narrower type here

from __future__ import annotations

import re
from typing import Any, Final

from apps.core.api.validation.base import Check, Errors, Schema, wrong
from apps.core.text import fold_key, has_control, key_fault

_BYTES_PER_CHARACTER: Final = 4  # at most, in UTF-8
_NO_CONTROLS: Final = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$"


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
