"""The statements of ingestion, written by hand because thousands of events a second pass through them.

Rows travel as one JSON parameter, however many there are: composing statements of thousands of parameters would cost more
than PostgreSQL needs for the rows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

import orjson

from apps.core.errors import NotFound
from apps.core.prepared import prepared_cursor

if TYPE_CHECKING:
    from collections.abc import Collection

# The key-share lock lets events of one namespace flow side by side and stops only a deletion, which takes the row for itself:
# an event is either seen by it or sees it.
_GROUND: Final = """
    WITH spaces AS (
        SELECT id, deletion_epoch FROM tenants_namespace
        WHERE tenant_id = %(tenant)s AND id = ANY(%(spaces)s::uuid[]) ORDER BY id FOR KEY SHARE
    ), classes AS (
        SELECT key, id FROM retention_retentionclass WHERE tenant_id = %(tenant)s AND key = ANY(%(classes)s::text[])
    )
    SELECT (SELECT jsonb_object_agg(id, deletion_epoch) FROM spaces),
           (SELECT jsonb_object_agg(key, id) FROM classes),
           ARRAY(SELECT nextval('evidence_event_sequence') FROM generate_series(1, %(count)s))
"""

_COLUMNS: Final = {
    "id": "uuid",
    "tenant_id": "uuid",
    "event_id": "text",
    "namespace_id": "uuid",
    "subject_id": "uuid",
    "session_id": "text",
    "actor_id": "uuid",
    "source_type": "text",
    "trust": "text",
    "occurred_at": "timestamptz",
    "ingested_at": "timestamptz",
    "sequence": "bigint",
    "content_id": "uuid",
    "content_sha256": "text",
    "reference_id": "uuid",
    "metadata_id": "uuid",
    "fingerprint": "text",
    "retention_class_id": "uuid",
    "redactions": "jsonb",
    "no_rebuild": "bigint[]",
    "topics": "text[]",
    "entities": "text[]",
    "deletion_epoch": "bigint",
    "covered": "boolean",
    "job_id": "uuid",
    "erased_at": "timestamptz",
}

# Rows go in sorted by event id, so that two batches that share ids wait for each other in one order and never in a circle.
_INSERT: Final = f"""
    INSERT INTO evidence_sourceevent ({", ".join(_COLUMNS)})
    SELECT {", ".join("r." + name for name in _COLUMNS)}
    FROM json_to_recordset(%s::json) AS r({", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())})
    ORDER BY r.event_id COLLATE "C"
    ON CONFLICT (tenant_id, event_id) DO NOTHING
"""  # noqa: S608 - names of columns above, values are bound


@dataclass(slots=True, kw_only=True)
class NewEvent:
    """A row of evidence.SourceEvent on its way in; the fields are its columns."""

    id: UUID
    tenant_id: UUID
    event_id: str
    namespace_id: UUID
    subject_id: UUID | None
    session_id: str
    actor_id: UUID
    source_type: str
    trust: str
    occurred_at: datetime
    ingested_at: datetime
    sequence: int
    content_sha256: str
    fingerprint: str
    retention_class_id: UUID
    deletion_epoch: int
    redactions: list[dict[str, str | int]] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    no_rebuild: list[int] = field(default_factory=list)
    content_id: UUID | None = None
    reference_id: UUID | None = None
    metadata_id: UUID | None = None
    covered: bool = False
    job_id: UUID | None = None
    erased_at: datetime | None = None

    def forget(self) -> None:
        """Leave nothing but that the id is taken: no hash, no labels, no trace of what it said."""
        self.covered = True
        self.erased_at = self.ingested_at
        self.content_sha256 = self.fingerprint = ""
        self.redactions, self.topics, self.entities = [], [], []


@dataclass(frozen=True, slots=True)
class Ground:
    """What a batch stands on: epochs of its (locked) namespaces, retention classes by key, and its sequence numbers in order."""

    epochs: dict[UUID, int]
    classes: dict[str, UUID]
    sequences: list[int]


def lock_ground(tenant_id: UUID, namespaces: Collection[UUID], classes: Collection[str], count: int) -> Ground:
    """Lock the namespaces against deletions and fetch what the rows need, in one statement.

    Raises NotFound for a namespace that is gone.
    """
    with prepared_cursor() as cursor:
        cursor.execute(_GROUND, {"tenant": tenant_id, "spaces": list(namespaces), "classes": list(classes), "count": count})
        epochs, keys, sequences = cursor.fetchone()
    found = {UUID(key): epoch for key, epoch in json.loads(epochs or "{}").items()}
    if len(found) != len(namespaces):
        raise NotFound
    return Ground(found, {key: UUID(value) for key, value in json.loads(keys or "{}").items()}, sequences)


def insert(rows: Collection[NewEvent]) -> int:
    """Insert events whose id is free in their tenant; returns how many that were.

    Waits for others who are inserting the same ids at the moment.
    """
    with prepared_cursor() as cursor:
        cursor.execute(_INSERT, [orjson.dumps(list(rows)).decode()])
        return int(cursor.rowcount)
