"""Going on with a deletion that stopped: after a hold was lifted or the cause of a failure was mended (DJ-21)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.db.models import Q

from apps.audits import log
from apps.core.errors import NotFound
from apps.core.ids import new_id, parse_public_id, public_id
from apps.jobs.models import ProcessingJob
from apps.jobs.queue import Work, enqueue
from apps.retention.deletion import AcceptedDeletion, answer
from apps.retention.layers import Target
from apps.retention.models import DeletionJob
from apps.retention.reads import visible_jobs
from apps.retention.targets import known_namespaces, target_of
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

IsHeld = Callable[[Target, Iterable[UUID]], bool]

_WAITING: Final = (ProcessingJob.State.QUEUED, ProcessingJob.State.RUNNING, ProcessingJob.State.RETRY_WAIT)


def resume_deletion(access: Access, job_id: str) -> AcceptedDeletion:
    """Put a stopped deletion to work again, from its checkpoint; one that is completed or under way is only shown.

    Asked of those who hold ``deletions:resume``: they reach every deletion of the namespaces they know. What is still held is
    blocked again by the next chunk. Raises NotFound.
    """
    key = parse_public_id("del", job_id)
    spaces = [grant.id for grant in known_namespaces(access)]
    with tenant_transaction(access) as tx:
        within = Q(pk__in=visible_jobs(access).values("pk")) | Q(namespace_id__in=spaces)
        found = DeletionJob.objects.filter(within, tenant_id=access.tenant_id).select_for_update(of=("self",))
        job = None if key is None else found.filter(pk=key).first()
        if job is None:
            raise NotFound
        requeue(tx, access, job)
        return answer(job, replayed=True)


def requeue(tx: TenantTransaction, access: Access, job: DeletionJob) -> bool:
    """Queue the work of a locked deletion again unless it is completed or somebody is at it; True when it was queued."""
    work = _work_of(job).first()
    if job.state == DeletionJob.State.COMPLETED or (work is not None and work.state in _WAITING):
        return False
    spaces = tuple(work.namespaces) if work is not None else (job.namespace_id,)
    again = Work("deletion", f"{job.id}:{new_id().hex}", {"deletion": str(job.id)}, spaces)
    DeletionJob.objects.filter(pk=job.pk).update(job_id=enqueue(tx, access, [again])[0].id)
    log.record(access, "deletion.resumed", "deletion", public_id("del", job.id), namespace_id=job.namespace_id, codes=[job.state])
    return True


def release_unheld(tx: TenantTransaction, access: Access, is_held: IsHeld) -> int:
    """Queue every blocked deletion of the tenant again that no hold stands in the way of any more; returns how many."""
    blocked = DeletionJob.objects.filter(tenant_id=access.tenant_id, state=DeletionJob.State.BLOCKED_BY_RETENTION)
    released = 0
    for job in blocked.select_related("revocation", "namespace").order_by("accepted_at").select_for_update(of=("self",)):
        if not is_held(target_of(job), touched_namespaces(job)):
            released += requeue(tx, access, job)
    return released


def touched_namespaces(job: DeletionJob) -> tuple[UUID, ...]:
    """Every namespace that a deletion was accepted for, as its work remembers."""
    found = _work_of(job).values_list("namespaces", flat=True).first()
    return (job.namespace_id, *(found or ()))


def _work_of(job: DeletionJob) -> QuerySet[ProcessingJob]:
    rows = ProcessingJob.objects.filter(tenant_id=job.tenant_id)
    return rows.none() if job.job_id is None else rows.filter(pk=job.job_id)
