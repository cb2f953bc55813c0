"""The keyed digest by which a forgotten fact is recognised without keeping its words (DJ-06, design/05 steps 6 and 7)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from apps.core.canonical import canonical_json

if TYPE_CHECKING:
    from uuid import UUID

_BYTES = 8  # a PostgreSQL bigint


def fact_digest(index_key: bytes, namespace_id: UUID, memory_type: str, fact_key: str) -> int:
    """64 bits, signed, keyed with the tenant's secret: says "the same fact" and nothing about the fact."""
    data = canonical_json([str(namespace_id), memory_type, fact_key]).encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=_BYTES, key=index_key, person=b"fact").digest(), "big", signed=True)


def request_digest(index_key: bytes, value: object) -> str:
    """Fingerprint of a request, keyed because the text inside may be short enough to guess."""
    return hashlib.blake2b(canonical_json(value).encode(), digest_size=32, key=index_key, person=b"request").hexdigest()
