"""The kinds of forbidden material and the span in which one was found."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple


def words(listing: str) -> frozenset[str]:
    """A word list written as running text."""
    return frozenset(listing.split())


class Kind(StrEnum):
    """Named in redactions, markers and answers; part of the contract, so never renamed."""

    ACCESS_TOKEN = "access_token"  # noqa: S105 - the name of a kind
    API_KEY = "api_key"
    HIDDEN_REASONING = "hidden_reasoning"
    JWT = "jwt"
    ONE_TIME_CODE = "one_time_code"
    PASSWORD = "password"  # noqa: S105 - the name of a kind
    PRIVATE_KEY = "private_key"
    SEED_PHRASE = "seed_phrase"
    SESSION_COOKIE = "session_cookie"
    SIGNED_URL = "signed_url"


class Span(NamedTuple):
    """Half-open range of code points."""

    kind: Kind
    start: int
    end: int


# Full-width letters, digits and the signs inside an identifier; one character for one, so offsets stay true. Full-width
# punctuation stays as it is: it ends a value in Chinese text.
_WIDE = re.compile(r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff0d\uff0e\uff1d\uff20\uff3f\u0130]")


def narrowed(text: str) -> str:
    """The text with full-width letters, digits and joining signs written narrow; same length, same offsets, and a lower
    case of the same length (U+0130 is the one letter that would grow).
    """
    if text.isascii() or _WIDE.search(text) is None:
        return text
    return _WIDE.sub(lambda wide: "I" if wide[0] == "\u0130" else chr(ord(wide[0]) - 0xFEE0), text)
