"""Where a higher floor hooks in to follow what memory says, inside the same transaction.

The lexical index registers here (AppConfig.ready of apps.retrieval), so that a head and its postings move together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.memories.models import Memory, MemoryVersion


@dataclass(frozen=True, slots=True)
class IndexedText:
    """The texts of one version that recall may match on."""

    content: str
    rationale: str | None
    aliases: tuple[str, ...]


Said = tuple["Memory", "list[tuple[MemoryVersion, IndexedText]]"]


class Projection(Protocol):
    def replace(self, tenant_id: UUID, changed: Sequence[Said], *, revision: int) -> None:
        """Make the projection of these memories equal to these versions; a memory's row says which one is the head.

        With each memory comes every version that still has text. An empty list removes the memory from the projection.
        """


_projections: list[Projection] = []


def register_projection(projection: Projection) -> None:
    _projections.append(projection)


def project_all(tenant_id: UUID, changed: Sequence[Said], *, revision: int) -> None:
    """Tell every projection; called by the verbs of this app in the transaction that changed the memories."""
    if changed:
        for projection in _projections:
            projection.replace(tenant_id, changed, revision=revision)


def project(tenant_id: UUID, memory: Memory, versions: list[tuple[MemoryVersion, IndexedText]], *, revision: int) -> None:
    """Tell every projection of one memory."""
    project_all(tenant_id, [(memory, versions)], revision=revision)
