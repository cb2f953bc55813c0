"""Dead letters: what people do with jobs that failed too often (OJ-08)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.audits.log import record
from apps.core import clock
from apps.core.errors import Conflict, NotFound, NotPermitted
from apps.core.ids import parse_public_id, public_id
from apps.jobs import doorbell
from apps.jobs.models import ProcessingJob
from apps.jobs.reads import visible_jobs
from apps.jobs.states import State, sources
from apps.tenants.models import Role
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from apps.tenants.access import Access

MAY_SETTLE = frozenset({Role.OWNER, Role.OPERATOR, Role.COMPLIANCE})


class NotDead(Conflict):
    """The job is no dead letter (any more)."""

    code = "job_not_dead"
    title = "Not a dead letter"
    detail = "Only a job that ended as a dead letter can be retried or discarded."


class JobChanged(Conflict):
    """The job is a dead letter again, not the one that was looked at: somebody retried it meanwhile and it failed anew."""

    code = "job_changed"
    title = "Changed meanwhile"
    detail = "The job has been tried again since it was looked at."


@dataclass(frozen=True, slots=True)
class Settled:
    job_id: str
    state: str


def retry_job(access: Access, job_id: str, *, reason_code: str | None = None, fence: int | None = None) -> Settled:
    """Queue a dead letter again, with all of its attempts. ``job_id`` is the public id.

    ``fence`` is that of the job which was looked at, ``reason_code`` is kept in the audit log. Raises NotFound, NotPermitted (an
    auditor may look only), NotDead and, with a ``fence``, JobChanged.
    """
    return _settle(access, job_id, State.QUEUED, "job.retried", [reason_code] if reason_code else [], fence)


def discard_job(access: Access, job_id: str, *, reason_code: str, fence: int | None = None) -> Settled:
    """Put a dead letter away for good. Arguments and errors are those of :func:`retry_job`."""
    return _settle(access, job_id, State.DISCARDED, "job.discarded", [reason_code], fence)


def _settle(access: Access, job_id: str, target: State, verb: str, codes: list[str], fence: int | None) -> Settled:
    key = parse_public_id("job", job_id)
    with tenant_transaction(access) as tx:
        job = visible_jobs(access).filter(pk=key).first() if key else None
        if job is None:
            raise NotFound
        if not access.roles & MAY_SETTLE:
            raise NotPermitted
        columns = {"attempts": 0, "next_try_at": clock.now(), "finished_at": None} if target is State.QUEUED else {}
        dead = ProcessingJob.objects.filter(pk=job.pk, tenant_id=access.tenant_id, state__in=sources(target))
        # RUNNING is a source of QUEUED as well, but not for people.
        dead = dead.filter(state=State.DEAD)
        looked_at = dead if fence is None else dead.filter(fence=fence)
        if looked_at.update(state=target, **columns) != 1:
            raise JobChanged if dead.exists() else NotDead
        record(access, verb, "job", public_id("job", job.pk), codes=[job.kind, *codes], counts={"attempts": job.attempts})
        if target is State.QUEUED:
            tx.on_commit(lambda: doorbell.ring(job.kind, job.pk))
    return Settled(job_id, target.value)
