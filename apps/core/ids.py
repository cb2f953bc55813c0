"""Identifiers: UUIDv7 primary keys and the typed public ids made from them.

A public id such as ``mem_01jd…`` is the primary key in Crockford's base 32 behind a prefix that names the kind. It needs no
column or index of its own, sorts by creation time like the key, and a wrong prefix can never reach another table.
"""

from __future__ import annotations

from uuid import UUID

import uuid_utils

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_VALUES = {letter: value for value, letter in enumerate(_ALPHABET)}
_LENGTH = 26  # 128 bits in base 32
_PAIRS = tuple(a + b for a in _ALPHABET for b in _ALPHABET)  # ten bits at a time

PREFIXES = frozenset({"mem", "evd", "del", "job", "trc", "cfl", "dlg", "prm", "vote", "can", "raw"})


def new_id() -> UUID:
    """A new UUIDv7: unique, and ordered by the time of its making."""
    return UUID(int=uuid_utils.uuid7().int)


def public_id(prefix: str, key: UUID) -> str:
    """The public spelling of a primary key, for example ``mem_06bq…`` (prefix, underscore, 26 characters)."""
    number = key.int
    return (
        prefix
        + "_"
        + "".join([_PAIRS[(number >> shift) & 1023] for shift in (120, 110, 100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 0)])
    )


def parse_public_id(prefix: str, text: str) -> UUID | None:
    """The primary key behind a public id, or None when the text is no id of this kind.

    Only the exact spelling that :func:`public_id` makes is accepted, so that one object has one public id.
    """
    head, _, digits = text.partition("_")
    if head != prefix or len(digits) != _LENGTH:
        return None
    number = 0
    for letter in digits:
        value = _VALUES.get(letter)
        if value is None:
            return None
        number = number << 5 | value
    return UUID(int=number) if number < 1 << 128 else None
