"""The checks behind the fields of a body: each takes one JSON value and gives the Python value, or notes what is wrong with it.

Nothing is raised for a wrong value: errors are collected, so that one answer names every wrong field. Checks are built once, when
the class of a body is made, and hold no state of a request.
"""

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
from apps.core.api.validation.containers import Items, Json, JsonObject, Nested, Raw
from apps.core.api.validation.scalars import Boolean, Choice, Instant, Integer, Number
from apps.core.api.validation.strings import Identifier, Key, Text

__all__ = [
    "LARGEST_INTEGER",
    "MOST_ERRORS",
    "SMALLEST_INTEGER",
    "WRONG",
    "Boolean",
    "Check",
    "Choice",
    "Errors",
    "Identifier",
    "Instant",
    "Integer",
    "Items",
    "Json",
    "JsonObject",
    "Key",
    "Nested",
    "Number",
    "Raw",
    "Schema",
    "Text",
    "pointer_to",
    "wrong",
]
