"""Where a higher floor hooks in to follow what memory says, inside the same transaction.

The lexical index registers here (AppConfig.ready of apps.retrieval), so that a head and its postings move together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from uuid import UUID

    from apps.memories.models import Memory, MemoryVersion


@dataclass(frozen=True, slots=True)
class IndexedText:
    """The texts of one version that recall may match on."""

    content: str
    rationale: str | None
    aliases: tuple[str, ...]


class Projection(Protocol):
    def replace(
        self, tenant_id: UUID, memory: Memory, versions: list[tuple[MemoryVersion, IndexedText]], *, revision: int
    ) -> None:
        """Make the projection of this memory equal to these versions; the memory's row says which one is the head.

        ``versions`` is every version that still has text. An empty list removes the memory from the projection.
        """


_projections: list[Projection] = []


def register_projection(projection: Projection) -> None:
    _projections.append(projection)


def project(tenant_id: UUID, memory: Memory, versions: list[tuple[MemoryVersion, IndexedText]], *, revision: int) -> None:
    """Tell every projection; called by the verbs of this app in the transaction that changed the memory."""
    for projection in _projections:
        projection.replace(tenant_id, memory, versions, revision=revision)
