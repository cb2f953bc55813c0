"""What every check shares: how a wrong value is noted, and where."""


# ruff: noqa: ANN401 - JSON values have no narrower type here

from __future__ import annotations

from typing import Any, Final, TypeAlias

from apps.core.errors import FieldError

Errors: TypeAlias = list[FieldError]
Schema: TypeAlias = dict[str, Any]

WRONG: Final = object()
"""Stands for the value of a field that was wrong; never leaves the kit, because errors are raised before."""

MOST_ERRORS: Final = 100  # a body can be wrong in a hundred thousand places; an answer need not say so that often
SMALLEST_INTEGER: Final = -(2**63)
LARGEST_INTEGER: Final = 2**63 - 1

_LONGEST_NAME_IN_POINTER = 128


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
