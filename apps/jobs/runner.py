"""Doing the work that is due: claim, run the handler under its service identity, note the outcome (design/03 Jobs)."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog
from django.db import connection

from apps.audits.log import record
from apps.core import clock
from apps.core.errors import NotFound
from apps.core.ids import public_id
from apps.core.isolation import tenant_context
from apps.jobs import claims, heartbeats
from apps.jobs.dispatch import dispatch
from apps.jobs.look import look
from apps.jobs.registry import Handler, allowed_now, handlers
from apps.jobs.runs import GiveUp, JobRun, Later, LeaseLost, TryAgain, error_code
from apps.tenants.access import Access, ActorKind
from apps.tenants.console_access import SERVICE_ID, SERVICE_OPERATIONS, service_access

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from uuid import UUID

log = structlog.get_logger(__name__)

_Identities = dict["tuple[UUID, tuple[UUID, ...]]", Access]

_MOST_AT_ONCE = 50
_SECONDS_AT_ONCE = 0.5  # a claim should be worked off in about this time, so that other workers get their share
_UNAVAILABLE = timedelta(minutes=10)  # how long the jobs of a tenant that is switched off wait before they look again


@dataclass(slots=True)
class Drained:
    """What a drain did: jobs that were tried, how many of those failed, and messages of the outbox."""

    jobs: int = 0
    failed: int = 0
    messages: int = 0

    @property
    def nothing(self) -> bool:
        return not self.jobs and not self.messages


def never() -> bool:
    return False


def drain(
    *,
    kinds: Collection[str] | None = None,
    seconds: float | None = None,
    should_stop: Callable[[], bool] = never,
    timeouts: tuple[type[BaseException], ...] = (),
) -> Drained:
    """Work until nothing is due: jobs of the given kinds (all when None) and messages of the outbox.

    Every kind gets its turn in each round, so none starves another. Ends earlier after ``seconds``, or when ``should_stop()``.
    ``timeouts`` are what is raised into a handler that took too long: the job failed, and the drain ends with that exception.
    """
    mine = {kind: handler for kind, handler in handlers().items() if kinds is None or kind in kinds}
    return _Drain(mine, None if seconds is None else clock.monotonic() + seconds, should_stop, timeouts).run()


class _Drain:
    def __init__(
        self,
        mine: dict[str, Handler],
        deadline: float | None,
        should_stop: Callable[[], bool],
        timeouts: tuple[type[BaseException], ...],
    ) -> None:
        self.mine = mine
        self.deadline = deadline
        self.should_stop = should_stop
        self.timeouts = timeouts
        self.done = Drained()
        self.pace: dict[str, float] = {}  # seconds per job of a kind, as measured

    def run(self) -> Drained:
        while not self._over():
            heartbeats.beat()
            mine = allowed_now(self.mine)
            found = look(mine)
            if not found.due:
                break
            before = (self.done.jobs, self.done.messages)
            if found.silent:
                for job in claims.reclaim():
                    bury(job, claims.LEASE_LOST)
            if found.messages:
                self.done.messages += dispatch()
            for kind in found.kinds:
                if self._over():
                    break
                self._work_off(mine[kind])
            if not found.silent and before == (self.done.jobs, self.done.messages):
                break  # another worker was faster
        return self.done

    def _over(self) -> bool:
        return self.should_stop() or (self.deadline is not None and clock.monotonic() >= self.deadline)

    def _work_off(self, handler: Handler) -> None:
        """One claim of one kind."""
        paced = int(_SECONDS_AT_ONCE / self.pace.get(handler.kind, 0.05))
        # What is done in one commit takes nearly as long for one as for all. A busy worker that went down to single jobs by their
        # pace would never see that it could be faster.
        limit = _MOST_AT_ONCE if handler.together is not None else max(1, min(_MOST_AT_ONCE, paced))
        waiting = claims.claim(handler.kind, lease=handler.lease, limit=limit)
        with nullcontext() if handler.wait_for_disk or not waiting else _without_waiting_for_disk():
            self._work_through(handler, waiting)

    def _work_through(self, handler: Handler, waiting: list[claims.Claimed]) -> None:
        identities: _Identities = {}
        claimed_at, begun, count = clock.monotonic(), clock.monotonic(), 0
        alone: set[UUID] = set()  # jobs that could not be done together with others
        while waiting:
            if self._over():
                for job in waiting:
                    claims.release(job, started=False)
                break
            if clock.monotonic() - claimed_at > handler.lease.total_seconds() / 3:
                waiting, claimed_at = claims.renew(waiting, lease=handler.lease), clock.monotonic()
                continue
            group = _group(handler, waiting, alone)
            waiting = [job for job in waiting if job not in group]
            try:
                if len(group) > 1 and not self._attempt_together(handler, group, identities):
                    alone |= {job.id for job in group}
                    waiting = [*group, *waiting]
                    continue
                if len(group) == 1:
                    self.done.failed += not self._attempt(handler, group[0], identities)
            except BaseException:
                for other in waiting:
                    claims.release(other, started=False)
                raise
            count += len(group)
        self.done.jobs += count
        if count:
            self.pace[handler.kind] = max((clock.monotonic() - begun) / count, 1e-4)

    def _attempt(self, handler: Handler, job: claims.Claimed, identities: _Identities) -> bool:
        """Run a handler once and note the outcome; False if it failed. Only what ends the process gets through."""
        access = _identity(handler, job, identities)
        if access is None:
            claims.postpone(job, wait=_UNAVAILABLE)
            return True
        run = self._run_of(handler, job, access)
        try:
            kept = _finish(run, job, handler.run(run))
        except LeaseLost:
            kept = False
        except GiveUp as end:
            bury(job, end.code)
            return False
        except Exception as failure:  # noqa: BLE001 - a job may raise anything; it must not stop the others
            return _failed(job, failure)
        except BaseException as end:
            # The process is told to end, or the job took too long. What the handler left open on the connection is unknown.
            connection.close()
            if isinstance(end, self.timeouts):
                _failed(job, end)
            else:
                claims.release(job, started=True)
            raise
        if not kept:
            _say("job_lease_lost", job)
        return kept

    def _attempt_together(self, handler: Handler, group: list[claims.Claimed], identities: _Identities) -> bool:
        """Run several jobs in one commit; False, with nothing done, where they have to be tried one by one."""
        access = _identity(handler, group[0], identities)
        if access is None or handler.together is None:
            return False
        runs = [self._run_of(handler, job, access) for job in group]
        try:
            return handler.together(runs) and all(_finish(run, job, None) for run, job in zip(runs, group, strict=True))
        except Exception as failure:  # noqa: BLE001 - whatever it is belongs to one of them; which one shows when they are alone
            log.warning("jobs_not_together", kind=handler.kind, jobs=len(group), error=error_code(failure))
            return all(run.completed for run in runs)
        except BaseException as end:
            connection.close()
            for job in group:
                if isinstance(end, self.timeouts):
                    _failed(job, end)
                else:
                    claims.release(job, started=True)
            raise

    def _run_of(self, handler: Handler, job: claims.Claimed, access: Access) -> JobRun:
        return JobRun(
            job_id=job.id,
            tenant_id=job.tenant_id,
            kind=job.kind,
            key=job.key,
            payload=job.payload,
            attempt=job.attempt,
            max_attempts=job.max_attempts,
            fence=job.fence,
            lease=handler.lease,
            access=access,
            checkpoint=job.checkpoint,
            should_stop=self.should_stop,
        )


def _group(handler: Handler, waiting: list[claims.Claimed], alone: set[UUID]) -> list[claims.Claimed]:
    """The next job, and those that may be done in one commit with it: first attempts under the same identity."""
    first = waiting[0]
    if handler.together is None or first.id in alone or first.attempt > 1:
        return [first]
    whose = (first.tenant_id, first.namespaces)
    return [job for job in waiting if (job.tenant_id, job.namespaces) == whose and job.attempt == 1 and job.id not in alone]


@contextmanager
def _without_waiting_for_disk() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")
    try:
        yield
    finally:
        # A connection that was lost is replaced by one that waits; then this changes nothing.
        with connection.cursor() as cursor:
            cursor.execute("RESET synchronous_commit")


def _identity(handler: Handler, job: claims.Claimed, identities: _Identities) -> Access | None:
    """The service identity of a job (ID-10): the namespaces stored on it and the operations of its handler.

    Looked up once per claim; None while the tenant is switched off.
    """
    whose = (job.tenant_id, job.namespaces)
    if whose not in identities:
        try:
            identities[whose] = service_access(*whose, operations=handler.operations or SERVICE_OPERATIONS)
        except NotFound:
            return None
    return identities[whose]


def _finish(run: JobRun, job: claims.Claimed, outcome: Later | None) -> bool:
    """Note that a handler returned; False if the job belongs to another worker by now."""
    if run.completed:
        return True
    if isinstance(outcome, Later):
        wait = timedelta(seconds=outcome.seconds)
        return claims.put_back(job, wait=wait) if outcome.not_begun else claims.postpone(job, wait=wait)
    return claims.finish(job)


def bury(job: claims.Claimed, code: str) -> None:
    """Make a job a dead letter and say so in the audit log, in one commit (OJ-08)."""
    with tenant_context(job.tenant_id):
        if not claims.bury(job, code=code):
            return
        record(
            _worker_of(job.tenant_id),
            "job.dead",
            "job",
            public_id("job", job.id),
            result="failed",
            codes=[job.kind, _as_code(code)],
            counts={"attempts": job.attempt},
        )
    _say("job_dead", job, code)


def _failed(job: claims.Claimed, failure: BaseException) -> bool:
    code = error_code(failure)
    if job.attempt >= job.max_attempts:
        bury(job, code)
    elif claims.back_off(job, code=code, at_least=timedelta(seconds=failure.seconds if isinstance(failure, TryAgain) else 0)):
        _say("job_failed", job, code)
    return False


def _worker_of(tenant_id: UUID) -> Access:
    """Who buries a job: the platform itself, with no reach at all, whether the tenant is active or not."""
    return Access(
        tenant_id=tenant_id,
        tenant_key="",
        actor_kind=ActorKind.SERVICE,
        actor_id=SERVICE_ID,
        actor="worker",
        caller_id=SERVICE_ID.hex,
    )


def _as_code(error: str) -> str:
    """An error as the audit log spells codes: a class name loses its capitals and brackets."""
    return "".join(letter if letter.isalnum() or letter in "_.:-" else "_" for letter in error.lower()).strip("_")[:64]


def _say(event: str, job: claims.Claimed, code: str | None = None) -> None:
    log.warning(event, kind=job.kind, job=public_id("job", job.id), attempt=job.attempt, **({"error": code} if code else {}))
