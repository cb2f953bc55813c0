"""Why somebody asked for a deletion: private text, so it is kept where all private text is, one floor up."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

Keeper = Callable[[UUID, UUID, str], UUID]

_keepers: list[Keeper] = []


def set_reason_keeper(keeper: Keeper) -> None:
    """``keeper(tenant_id, namespace_id, text)`` stores a text and returns its id; filled by apps.evidence."""
    _keepers[:] = [keeper]


def keep_reason(tenant_id: UUID, namespace_id: UUID, text: str) -> UUID | None:
    """Store a reason; an empty one is none."""
    return _keepers[0](tenant_id, namespace_id, text) if text else None
