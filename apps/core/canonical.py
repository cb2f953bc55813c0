"""Canonical JSON and hashes.

Everything that is hashed, compared or signed goes through here, so that two spellings of one value have one hash.
"""

# ruff: noqa: ANN401 - JSON values have no narrower type

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Any


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces, UTF-8 characters as they are, and whole floats written as integers.

    10 and 10.0 are one number in JSON and get one spelling; "10" stays a string. NaN and infinities raise ValueError.
    """
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_hex(data: str | bytes) -> str:
    """SHA-256 in lower-case hexadecimal; text is encoded as UTF-8."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def json_hash(value: Any) -> str:
    """SHA-256 of the canonical JSON of a value."""
    return sha256_hex(canonical_json(value))


def proposition(text: str) -> str:
    """The normalised form in which two statements are compared: NFKC, case-folded, white space collapsed.

    Only equality is ever asked of it; likeness decides nothing (MG-08).
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004 - exact integers of a double
        return int(value)
    return value
