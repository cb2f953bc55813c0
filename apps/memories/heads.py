"""Memories with their heads for the way of every query: the door of door.py as one prepared statement and plain rows.

A query looks at dozens of memories, and building model instances of two wide tables would cost it more than everything else. A
test holds this statement equal to ``readable_memories``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from apps.core.prepared import fetch_prepared

if TYPE_CHECKING:
    from collections.abc import Collection

    from apps.tenants.access import Access

_HEADS = """
SELECT m.id, m.namespace_id, m.memory_type, m.fact_key, m.state, m.version, m.last_version, m.authority, m.retrieval_policy,
    m.conflict_set_id,
    v.id, v.memory_id, v.version, v.content_id, v.rationale_id, v.aliases_id, v.conditions, v.topics, v.entities,
    v.epistemic_status, v.verdict, v.observed_at, v.last_confirmed_at, v.expected_resolution_at, v.valid_from, v.valid_to,
    v.independent_evidence_count, v.authority_revision
FROM memories_memory m JOIN memories_memoryversion v ON v.id = m.head_id
WHERE m.tenant_id = %s AND m.id = ANY(%s) AND m.namespace_id = ANY(%s) AND m.state <> 'revoked'
    AND (m.access_policy_id IS NULL OR m.access_policy_id = ANY(%s))
"""
_MEMORY_COLUMNS = 10
_CONDITIONS = 6  # place of the JSON column among those of the version


@dataclass(frozen=True, slots=True)
class HeadVersion:
    """The columns of MemoryVersion that a packet needs, under their own names."""

    id: UUID
    memory_id: UUID
    version: int
    content_id: UUID | None
    rationale_id: UUID | None
    aliases_id: UUID | None
    conditions: dict[str, Any]
    topics: list[str]
    entities: list[str]
    epistemic_status: str
    verdict: str | None
    observed_at: datetime | None
    last_confirmed_at: datetime | None
    expected_resolution_at: datetime | None
    valid_from: datetime
    valid_to: datetime | None
    independent_evidence_count: int
    authority_revision: str


@dataclass(frozen=True, slots=True)
class ReadableMemory:
    """The columns of Memory that a packet needs, with its head."""

    id: UUID
    namespace_id: UUID
    memory_type: str
    fact_key: str
    state: str
    version: int
    last_version: int
    authority: str
    retrieval_policy: str
    conflict_set_id: UUID | None
    head: HeadVersion


def readable_heads(access: Access, memory_ids: Collection[UUID], namespace_ids: Collection[UUID]) -> list[ReadableMemory]:
    """Those of these memories that the access may read and that lie in these namespaces, with their heads."""
    within = [key for key in namespace_ids if key in access.by_id and access.by_id[key].read]
    rows = fetch_prepared(_HEADS, [access.tenant_id, list(memory_ids), within, list(access.policies)])
    return [_memory(row) for row in rows]


def _memory(row: tuple[Any, ...]) -> ReadableMemory:
    columns: Any = (*row[:_MEMORY_COLUMNS], _head(row[_MEMORY_COLUMNS:]))
    return ReadableMemory(*columns)


def _head(columns: tuple[Any, ...]) -> HeadVersion:
    # Django leaves the reading of JSON columns to its fields.
    conditions = columns[_CONDITIONS]
    read = json.loads(conditions) if isinstance(conditions, str) else conditions
    values: Any = (*columns[:_CONDITIONS], read, *columns[_CONDITIONS + 1 :])
    return HeadVersion(*values)
