"""Putting work and messages down, inside the transaction that makes them necessary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from apps.core import clock
from apps.core.ids import new_id
from apps.core.prepared import fetch_prepared, prepared_cursor
from apps.jobs import doorbell
from apps.jobs.models import ProcessingJob
from apps.jobs.registry import DEFAULT_ATTEMPTS, handler_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

_LONGEST_VALUE = 128

# One statement for any number of jobs. A row that is there already is left alone and not returned.
_INSERT = """
    INSERT INTO jobs_processingjob (id, tenant_id, kind, key, payload, namespaces, state, attempts, max_attempts, fence,
                                    next_try_at, checkpoint, last_error, created_at)
    SELECT w.id, %(tenant)s, w.kind, w.key, w.payload, w.namespaces, 'queued', 0, w.max_attempts, 0, w.next_try_at,
           '{}'::jsonb, '', %(now)s
    FROM jsonb_to_recordset(%(rows)s::jsonb)
         AS w(id uuid, kind text, key text, payload jsonb, namespaces uuid[], max_attempts int, next_try_at timestamptz)
    ON CONFLICT (tenant_id, kind, key) DO NOTHING
    RETURNING id
"""
_PUBLISH = """
    INSERT INTO jobs_outbox (id, tenant_id, topic, object_id, version, created_at, attempts, next_try_at)
    SELECT m.id, %(tenant)s, %(topic)s, m.object_id, m.version, %(now)s, 0, %(now)s
    FROM jsonb_to_recordset(%(rows)s::jsonb) AS m(id uuid, object_id uuid, version bigint)
"""
_COLUMNS = ("id", "kind", "key", "payload", "namespaces", "max_attempts", "next_try_at")


@dataclass(frozen=True, slots=True)
class Work:
    """One job to be: ``key`` makes it once per tenant and kind; ``payload`` holds ids and numbers, never text."""

    kind: str
    key: str
    payload: dict[str, str | int]
    namespaces: tuple[UUID, ...]
    due_at: datetime | None = None


def enqueue(tx: TenantTransaction, access: Access, work: Sequence[Work]) -> list[ProcessingJob]:
    """Insert the jobs that are not there yet, and ring the doorbell after commit (OJ-01..03).

    Returns one job per piece of work in the same order; a job that exists already (same tenant, kind, key) is returned as it is.
    Raises ValueError for a payload that holds more than ids and numbers.
    """
    if not work:
        return []
    now = clock.now()
    rows = [_row(access.tenant_id, item, now) for item in work]
    made = _insert(access.tenant_id, rows, now)
    if made:
        first = next(row for row in rows if row.id in made)
        tx.on_commit(lambda: doorbell.ring(first.kind, first.id))
    if len(made) == len(rows):
        return rows
    there = _existing(access.tenant_id, [row for row in rows if row.id not in made])
    return [row if row.id in made else there[row.kind, row.key] for row in rows]


def publish(access: Access, topic: str, messages: Iterable[tuple[UUID, int]]) -> None:
    """Write outbox rows ``(object id, version)`` for a topic in the open transaction; told to consumers after commit (OJ-06)."""
    rows = [{"id": new_id(), "object_id": object_id, "version": version} for object_id, version in messages]
    if rows:
        given = orjson.dumps(rows).decode()
        with prepared_cursor() as cursor:
            cursor.execute(_PUBLISH, {"tenant": access.tenant_id, "topic": topic, "now": clock.now(), "rows": given})


def _row(tenant_id: UUID, item: Work, now: datetime) -> ProcessingJob:
    for value in item.payload.values():
        if not isinstance(value, (int, str)) or (isinstance(value, str) and len(value) > _LONGEST_VALUE):
            msg = f"the payload of a {item.kind} job may only hold ids and numbers"
            raise ValueError(msg)
    handler = handler_of(item.kind)
    return ProcessingJob(
        id=new_id(),
        tenant_id=tenant_id,
        kind=item.kind,
        key=item.key,
        payload=item.payload,
        namespaces=list(item.namespaces),
        max_attempts=handler.max_attempts if handler else DEFAULT_ATTEMPTS,
        next_try_at=item.due_at or now,
        created_at=now,
    )


def _insert(tenant_id: UUID, rows: list[ProcessingJob], now: datetime) -> set[UUID]:
    """Insert what is new and return its ids."""
    given = orjson.dumps([{name: getattr(row, name) for name in _COLUMNS} for row in rows]).decode()
    return {found for (found,) in fetch_prepared(_INSERT, {"tenant": tenant_id, "now": now, "rows": given})}


def _existing(tenant_id: UUID, rows: list[ProcessingJob]) -> dict[tuple[str, str], ProcessingJob]:
    found = ProcessingJob.objects.filter(
        tenant_id=tenant_id, kind__in={row.kind for row in rows}, key__in={row.key for row in rows}
    )
    return {(job.kind, job.key): job for job in found}
