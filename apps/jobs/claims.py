"""Taking jobs and giving them back: the short transactions around a handler.

Everything here sees every tenant, and decides by state, time and fence alone.

Attempts are counted and committed with the claim, before any work: a job that kills its worker is a job that failed.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import F

from apps.core import clock
from apps.core.isolation import system_context
from apps.jobs.backoff import delay
from apps.jobs.models import ProcessingJob
from apps.jobs.states import State, sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from uuid import UUID

LEASE_LOST = "lease_lost"  # last_error of a job whose worker fell silent
_RECLAIMED_AT_ONCE = 200

_DUE = """
    SELECT id, attempts FROM jobs_processingjob
    WHERE kind = %s AND state IN ('queued', 'retry_wait') AND next_try_at <= %s
    ORDER BY next_try_at, id LIMIT %s FOR UPDATE SKIP LOCKED
"""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job that is ours until ``lease_until``; ``fence`` is what later writes have to name."""

    id: UUID
    tenant_id: UUID
    kind: str
    key: str
    payload: dict[str, str | int]
    namespaces: tuple[UUID, ...]
    attempt: int
    max_attempts: int
    fence: int
    checkpoint: dict[str, object]


def claim(kind: str, *, lease: timedelta, limit: int) -> list[Claimed]:
    """Take up to ``limit`` due jobs of one kind, the longest waiting first.

    Several at once only on their first attempt: one that failed before, or took its worker down, is taken alone, so that it can
    harm no other.
    """
    now = clock.now()
    with system_context():
        with connection.cursor() as cursor:
            cursor.execute(_DUE, [kind, now, limit])
            due = cursor.fetchall()
        if not due:
            return []
        chosen = [due[0][0]] if due[0][1] else [job_id for job_id, attempts in due if not attempts]
        ProcessingJob.objects.filter(pk__in=chosen).update(
            state=State.RUNNING, attempts=F("attempts") + 1, fence=F("fence") + 1, lease_until=now + lease, started_at=now
        )
        rows = list(ProcessingJob.objects.filter(pk__in=chosen))
    order = {job_id: place for place, job_id in enumerate(chosen)}
    return [_claimed(row) for row in sorted(rows, key=lambda row: order[row.pk])]


def renew(jobs: Sequence[Claimed], *, lease: timedelta) -> list[Claimed]:
    """Renew the lease of jobs that wait for their turn behind others of one claim; returns those that are still ours."""
    until = clock.now() + lease
    with system_context():
        return [job for job in jobs if _move(job, State.RUNNING, lease_until=until)]


def release(job: Claimed, *, started: bool) -> bool:
    """Give a job back because the worker ends; one that was not even begun gets its attempt back."""
    with _note():
        return _move(job, State.QUEUED, lease_until=None, next_try_at=clock.now(), attempts=job.attempt - (0 if started else 1))


def postpone(job: Claimed, *, wait: timedelta) -> bool:
    """The job wants to go on later; that is no failure, so its attempts start anew."""
    with _note():
        return _move(job, State.QUEUED, lease_until=None, next_try_at=clock.now() + wait, attempts=0, last_error="")


def put_back(job: Claimed, *, wait: timedelta) -> bool:
    """The job was not begun and waits for its turn: the attempts that it had, and their error, stay."""
    state = State.RETRY_WAIT if job.attempt > 1 else State.QUEUED
    with _note():
        return _move(job, state, lease_until=None, next_try_at=clock.now() + wait, attempts=job.attempt - 1)


def finish(job: Claimed) -> bool:
    """Mark a job done whose handler did not do so itself. False if it belongs to another worker by now."""
    with _note():
        if _move(job, State.DONE, lease_until=None, finished_at=clock.now(), last_error=""):
            return True
        return ProcessingJob.objects.filter(pk=job.id, fence=job.fence, state=State.DONE).exists()


def back_off(job: Claimed, *, code: str, at_least: timedelta = timedelta()) -> bool:
    """Let a failed job wait before its next attempt. False if it belongs to another worker by now."""
    wait = max(delay(job.attempt), at_least)
    with _note():
        return _move(job, State.RETRY_WAIT, lease_until=None, next_try_at=clock.now() + wait, last_error=code)


def bury(job: Claimed, *, code: str) -> bool:
    """Make a job a dead letter; call in the open context of its tenant, together with the audit entry."""
    return _move(job, State.DEAD, lease_until=None, finished_at=clock.now(), last_error=code)


def reclaim() -> list[Claimed]:
    """Take back the jobs of workers that fell silent: they wait and are tried again.

    Returns those that have no attempt left, unchanged, for the caller to bury.
    """
    now = clock.now()
    exhausted = []
    with system_context():
        silent = ProcessingJob.objects.filter(state=State.RUNNING, lease_until__lt=now).order_by("lease_until")
        for row in silent.select_for_update(skip_locked=True)[:_RECLAIMED_AT_ONCE]:
            if row.attempts >= row.max_attempts:
                exhausted.append(_claimed(row))
            else:
                _move(
                    _claimed(row),
                    State.RETRY_WAIT,
                    lease_until=None,
                    next_try_at=now + delay(row.attempts),
                    last_error=LEASE_LOST,
                )
    return exhausted


@contextmanager
def _note() -> Iterator[None]:
    """The transaction of a mark that need not wait for the disk: if a crash undoes it, the job runs again, as it may anyway."""
    with system_context():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit = off")
        yield


def _move(job: Claimed, target: State, **columns: object) -> bool:
    allowed = [State.RUNNING] if target is State.RUNNING else sources(target)
    moved = ProcessingJob.objects.filter(pk=job.id, fence=job.fence, state__in=allowed)
    return moved.update(state=target, **columns) == 1


def _claimed(row: ProcessingJob) -> Claimed:
    return Claimed(
        id=row.pk,
        tenant_id=row.tenant_id,
        kind=row.kind,
        key=row.key,
        payload=row.payload,
        namespaces=tuple(row.namespaces),
        attempt=row.attempts,
        max_attempts=row.max_attempts,
        fence=row.fence,
        checkpoint=row.checkpoint,
    )
