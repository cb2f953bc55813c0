"""Lists, objects, and JSON of free form."""


# ruff: noqa: ANN401, ARG002 - JSON values have no narrower type here; the checks share one signature

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from apps.core.api.validation.base import (
    LARGEST_INTEGER,
    MOST_ERRORS,
    SMALLEST_INTEGER,
    WRONG,
    Check,
    Errors,
    Schema,
    pointer_to,
    wrong,
)
from apps.core.canonical import canonical_json

if TYPE_CHECKING:
    from collections.abc import Callable


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
