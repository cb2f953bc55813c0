"""Looking at jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.jobs.models import ProcessingJob
from apps.tenants.access import ActorKind
from apps.tenants.models import Role

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.tenants.access import Access

_SEE_ALL = frozenset({Role.OWNER, Role.OPERATOR, Role.COMPLIANCE, Role.AUDITOR})


def find_jobs(tenant_id: UUID, kind: str, keys: Iterable[str]) -> dict[str, ProcessingJob]:
    """The jobs of a kind by key, in the open tenant context. A key without a row was never enqueued, or is long done."""
    return {job.key: job for job in ProcessingJob.objects.filter(tenant_id=tenant_id, kind=kind, key__in=list(keys))}


def visible_jobs(access: Access) -> QuerySet[ProcessingJob]:
    """The jobs a person may look at: those of the tenant for its owner, operators, compliance staff and auditors, else none."""
    jobs = ProcessingJob.objects.filter(tenant_id=access.tenant_id)
    return jobs if access.actor_kind != ActorKind.AGENT and access.roles & _SEE_ALL else jobs.none()
