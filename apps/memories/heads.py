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

_VERSION = """v.id, v.memory_id, v.version, v.content_id, v.rationale_id, v.aliases_id, v.conditions, v.topics, v.entities,
    v.epistemic_status, v.verdict, v.observed_at, v.last_confirmed_at, v.expected_resolution_at, v.valid_from, v.valid_to,
    v.independent_evidence_count, v.authority_revision"""
_DOOR = """m.tenant_id = %s AND m.id = ANY(%s) AND m.namespace_id = ANY(%s) AND m.state <> 'revoked'
    AND (m.access_policy_id IS NULL OR m.access_policy_id = ANY(%s))
    AND NOT EXISTS (SELECT 1 FROM retention_revocation r
                    WHERE r.tenant_id = m.tenant_id AND r.target_kind = 'memory' AND r.target_id = m.id::text)"""
_HEADS = f"""
SELECT m.id, m.namespace_id, m.memory_type, m.fact_key, m.state, m.version, m.last_version, m.authority, m.retrieval_policy,
    m.conflict_set_id, {_VERSION}
FROM memories_memory m JOIN memories_memoryversion v ON v.id = m.head_id
WHERE {_DOOR}
"""  # noqa: S608 - pieces of this module
_READABLE = f"SELECT m.id FROM memories_memory m WHERE {_DOOR}"  # noqa: S608 - pieces of this module
_HELD = f"""
SELECT DISTINCT ON (v.memory_id) {_VERSION}
FROM memories_memoryversion v
WHERE v.tenant_id = %s AND v.memory_id = ANY(%s) AND v.content_id IS NOT NULL
    AND v.valid_from <= %s AND (v.valid_to IS NULL OR v.valid_to > %s)
ORDER BY v.memory_id, v.valid_from DESC, v.version DESC
"""  # noqa: S608 - pieces of this module
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


def readable_ids(access: Access, memory_ids: Collection[UUID]) -> set[UUID]:
    """Those of these memories that the access may read."""
    rows = fetch_prepared(_READABLE, [access.tenant_id, list(memory_ids), list(access.readable), list(access.policies)])
    return {key for (key,) in rows}


def held_at(tenant_id: UUID, memory_ids: Collection[UUID], as_of: datetime) -> dict[UUID, HeadVersion]:
    """``timeline.in_force`` in plain rows: the version of each memory that holds at an instant, for who may read the memories."""
    rows = fetch_prepared(_HELD, [tenant_id, list(memory_ids), as_of, as_of])
    return {version.memory_id: version for version in map(_head, rows)}


def _memory(row: tuple[Any, ...]) -> ReadableMemory:
    columns: Any = (*row[:_MEMORY_COLUMNS], _head(row[_MEMORY_COLUMNS:]))
    return ReadableMemory(*columns)


def _head(columns: tuple[Any, ...]) -> HeadVersion:
    # Django leaves the reading of JSON columns to its fields.
    conditions = columns[_CONDITIONS]
    read = json.loads(conditions) if isinstance(conditions, str) else conditions
    values: Any = (*columns[:_CONDITIONS], read, *columns[_CONDITIONS + 1 :])
    return HeadVersion(*values)
