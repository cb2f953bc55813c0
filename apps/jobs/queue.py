"""Putting work and messages down, inside the transaction that makes them necessary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.jobs.models import Outbox, ProcessingJob

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction


@dataclass(frozen=True, slots=True)
class Work:
    """One job to be: ``key`` makes it once per tenant and kind; ``payload`` holds ids and numbers, never text."""

    kind: str
    key: str
    payload: dict[str, str | int]
    namespaces: tuple[UUID, ...]
    due_at: datetime | None = None


def enqueue(tx: TenantTransaction, access: Access, work: Sequence[Work]) -> list[ProcessingJob]:
    """Insert the jobs that are not there yet, tell the outbox, and ring the doorbell after commit.

    Returns one job per piece of work in the same order; a job that exists already (same tenant, kind, key) is returned as it is.
    """
    from apps.jobs import doorbell  # noqa: PLC0415 - the doorbell imports django-q2, which must not load with the models

    rows = [
        ProcessingJob(
            tenant_id=access.tenant_id,
            kind=item.kind,
            key=item.key,
            payload=item.payload,
            namespaces=list(item.namespaces),
            **({"next_try_at": item.due_at} if item.due_at else {}),
        )
        for item in work
    ]
    ProcessingJob.objects.bulk_create(rows, ignore_conflicts=True)
    if rows:
        tx.on_commit(lambda: doorbell.ring(rows[0].kind, rows[0].id))
    return rows


def publish(access: Access, topic: str, messages: Iterable[tuple[UUID, int]]) -> None:
    """Write outbox rows ``(object id, version)`` for a topic in the open transaction."""
    Outbox.objects.bulk_create(
        [Outbox(tenant_id=access.tenant_id, topic=topic, object_id=object_id, version=version) for object_id, version in messages]
    )
