"""One tenant with one namespace, and handlers that exist for a test only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import pytest

from apps.core.isolation import system_context, tenant_context
from apps.jobs import registry
from apps.jobs.models import Outbox, ProcessingJob
from apps.jobs.queue import Work, enqueue
from apps.jobs.registry import JobRun, Later, job_handler
from apps.tenants.access import Access
from apps.tenants.console_access import service_access
from apps.tenants.models import Namespace, Tenant
from apps.tenants.transactions import tenant_transaction


@dataclass(frozen=True)
class Room:
    """What the tests of this folder need of a tenant."""

    tenant_id: UUID
    namespace_id: UUID
    access: Access

    def put(self, kind: str, *keys: str, **fields: object) -> list[ProcessingJob]:
        payload = fields.pop("payload", {})
        with tenant_transaction(self.access) as tx:
            work = [Work(kind, key, payload, (self.namespace_id,), **fields) for key in keys]
            return enqueue(tx, self.access, work)

    def job(self, job: ProcessingJob) -> ProcessingJob:
        with tenant_context(self.tenant_id):
            return ProcessingJob.objects.get(pk=job.pk)

    def jobs(self) -> list[ProcessingJob]:
        with tenant_context(self.tenant_id):
            return list(ProcessingJob.objects.order_by("id"))

    def change(self, job: ProcessingJob, **columns: object) -> None:
        with tenant_context(self.tenant_id):
            assert ProcessingJob.objects.filter(pk=job.pk).update(**columns) == 1

    def messages(self) -> list[Outbox]:
        with tenant_context(self.tenant_id):
            return list(Outbox.objects.order_by("id"))


def make_room(key: str = "orchard") -> Room:
    with system_context():
        tenant = Tenant.objects.create(key=key, name=key)
        namespace = Namespace.objects.create(tenant=tenant, scope="organization", scope_id=key)
    return Room(tenant.id, namespace.id, service_access(tenant.id, [namespace.id]))


@pytest.fixture
def room(db: None) -> Room:
    """In the test's own transaction; a test that needs real commits is marked ``django_db(transaction=True)``."""
    return make_room()


@pytest.fixture
def other_room(room: Room) -> Room:
    return make_room("harbour")


@pytest.fixture
def handle(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Register a handler for the time of a test; nothing else is registered meanwhile."""
    monkeypatch.setattr(registry, "_handlers", {})
    monkeypatch.setattr(registry, "_consumers", {})

    def register(kind: str, function: Callable[[JobRun], Later | None], *, lease: float = 60, **options: object) -> None:
        job_handler(kind, lease=timedelta(seconds=lease), **{"max_attempts": 3, **options})(function)

    return register
