"""The statements of ingestion, written by hand because thousands of events a second pass through them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.db import connection

from apps.core.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime

    from apps.evidence.models import SourceEvent

# The key-share lock lets events of one namespace flow side by side and stops only a deletion, which takes the row for itself:
# an event is either seen by it or sees it.
_GROUND: Final = """
    WITH spaces AS (
        SELECT id, deletion_epoch FROM tenants_namespace WHERE tenant_id = %(tenant)s AND id = ANY(%(spaces)s) ORDER BY id FOR KEY SHARE
    )
    SELECT (SELECT jsonb_object_agg(id, deletion_epoch) FROM spaces),
           (SELECT jsonb_object_agg(key, id) FROM retention_retentionclass WHERE tenant_id = %(tenant)s AND key = ANY(%(classes)s)),
           ARRAY(SELECT nextval('evidence_event_sequence') FROM generate_series(1, %(count)s))
"""

_SEPARATOR: Final = "\x1f"  # labels hold no control characters, so this joins and splits them without escaping

_COLUMNS: Final = (
    ("id", "uuid"),
    ("event_id", "text"),
    ("namespace_id", "uuid"),
    ("subject_id", "uuid"),
    ("session_id", "text"),
    ("actor_id", "uuid"),
    ("source_type", "text"),
    ("trust", "text"),
    ("occurred_at", "timestamptz"),
    ("ingested_at", "timestamptz"),
    ("sequence", "bigint"),
    ("content_id", "uuid"),
    ("content_sha256", "text"),
    ("reference_id", "uuid"),
    ("metadata_id", "uuid"),
    ("fingerprint", "text"),
    ("retention_class_id", "uuid"),
    ("deletion_epoch", "bigint"),
    ("covered", "boolean"),
    ("job_id", "uuid"),
    ("erased_at", "timestamptz"),
)

# Rows go in sorted by event id, so that two batches that share ids wait for each other in one order and never in a circle.
_INSERT: Final = f"""
    INSERT INTO evidence_sourceevent (tenant_id, no_rebuild, redactions, topics, entities, {", ".join(name for name, _ in _COLUMNS)})
    SELECT %s, '{{}}', r.redactions::jsonb, string_to_array(r.topics, %s), string_to_array(r.entities, %s),
           {", ".join("r." + name for name, _ in _COLUMNS)}
    FROM unnest(%s::text[], %s::text[], %s::text[], {", ".join(f"%s::{kind}[]" for _, kind in _COLUMNS)})
         AS r(redactions, topics, entities, {", ".join(name for name, _ in _COLUMNS)})
    ORDER BY r.event_id COLLATE "C"
    ON CONFLICT (tenant_id, event_id) DO NOTHING
"""  # noqa: S608 - names of columns above, values are bound


@dataclass(frozen=True, slots=True)
class Ground:
    """What a batch stands on: epochs of its (locked) namespaces, retention classes by key, and its sequence numbers in order."""

    epochs: dict[UUID, int]
    classes: dict[str, UUID]
    sequences: list[int]


def lock_ground(tenant_id: UUID, namespaces: Collection[UUID], classes: Collection[str], count: int) -> Ground:
    """Lock the namespaces against deletions and fetch what the rows need, in one statement. Raises NotFound for a namespace that is gone."""
    with connection.cursor() as cursor:
        cursor.execute(_GROUND, {"tenant": tenant_id, "spaces": list(namespaces), "classes": list(classes), "count": count})
        epochs, keys, sequences = cursor.fetchone()
    found = {UUID(key): epoch for key, epoch in _object(epochs).items()}
    if len(found) != len(namespaces):
        raise NotFound
    return Ground(found, {key: UUID(value) for key, value in _object(keys).items()}, sequences)


def insert(tenant_id: UUID, rows: Iterable[SourceEvent]) -> int:
    """Insert events whose id is free in the tenant; returns how many that were. Waits for others who are inserting the same ids."""
    rows = list(rows)
    lists: list[list[object]] = [
        [json.dumps(row.redactions) for row in rows],
        [_SEPARATOR.join(row.topics) for row in rows],
        [_SEPARATOR.join(row.entities) for row in rows],
        *([getattr(row, name) for row in rows] for name, _ in _COLUMNS),
    ]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [tenant_id, _SEPARATOR, _SEPARATOR, *lists])
        return int(cursor.rowcount)


def forget(row: SourceEvent, at: datetime) -> None:
    """Leave nothing on a row but that its id is taken: no hash, no labels, no traces of what it said."""
    row.erased_at = at
    row.covered = True
    row.content_sha256 = ""
    row.fingerprint = ""
    row.redactions = []
    row.topics = []
    row.entities = []
    row.no_rebuild = []


def _object(value: str | dict[str, object] | None) -> dict[str, object]:
    # Django leaves JSON of plain cursors as text.
    return json.loads(value) if isinstance(value, str) else value or {}
