"""The texts of versions, read through the one door."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from apps.evidence import content
from apps.memories.projections import IndexedText

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from apps.memories.heads import HeadVersion
    from apps.memories.models import Candidate, MemoryVersion


def texts_of(tenant_id: UUID, rows: Iterable[HeadVersion | MemoryVersion | Candidate]) -> dict[UUID, IndexedText]:
    """Content, rationale and aliases by primary key of the version (or candidate), in one query.

    A row whose content was erased, or that never had any, is missing. What the caller may see was decided before.
    """
    known = list(rows)
    found = content.read_texts(tenant_id, (key for row in known for key in (row.content_id, row.rationale_id, row.aliases_id)))
    return {
        row.id: IndexedText(
            content=found[row.content_id],
            rationale=found.get(row.rationale_id) if row.rationale_id else None,
            aliases=read_aliases(found.get(row.aliases_id) if row.aliases_id else None),
        )
        for row in known
        if row.content_id in found
    }


def read_aliases(text: str | None) -> tuple[str, ...]:
    """Aliases are kept as one text, a JSON list."""
    return tuple(json.loads(text)) if text else ()
