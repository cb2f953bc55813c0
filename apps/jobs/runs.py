"""JobRun: one attempt at one job, as its handler sees it; and the words a handler may end with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db import transaction

from apps.core import clock
from apps.core.errors import DomainError
from apps.core.isolation import current_tenant_id, tenant_context
from apps.core.prepared import fetch_prepared
from apps.jobs import heartbeats
from apps.jobs.models import ProcessingJob
from apps.jobs.states import State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import timedelta
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.tenants.access import Access

_CODE = re.compile(r"[a-z0-9_.:-]{1,64}")
_LONGEST_ERROR = 128


class LeaseLost(Exception):
    """Another worker owns the job by now; whatever this one was about to commit must not be committed."""


class GiveUp(Exception):
    """Trying again cannot help: the job becomes a dead letter at once. ``code`` is shown to people; never text."""

    def __init__(self, code: str) -> None:
        if not _CODE.fullmatch(code):
            msg = "a reason code has up to 64 letters, digits and _ . : -"
            raise ValueError(msg)
        super().__init__(code)
        self.code = code


class TryAgain(Exception):
    """The attempt failed and counts, for a reason that ``code`` names; the next one is not before ``seconds`` have passed."""

    def __init__(self, code: str, *, seconds: float = 0.0) -> None:
        if not _CODE.fullmatch(code):
            msg = "a reason code has up to 64 letters, digits and _ . : -"
            raise ValueError(msg)
        super().__init__(code)
        self.code = code
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Later:
    """The handler has not failed, it wants to be called again after ``seconds``.

    Its attempts start anew, because it has come further; unless it was ``not_begun``, then they are what they were.
    """

    seconds: float = 0.0
    not_begun: bool = False


@dataclass(slots=True)
class JobRun:
    """One attempt. ``fence`` is the number this attempt was given with its lease; every write names it."""

    job_id: UUID
    tenant_id: UUID
    kind: str
    key: str
    payload: dict[str, str | int]
    attempt: int
    max_attempts: int
    fence: int
    lease: timedelta
    access: Access
    checkpoint: dict[str, object]
    should_stop: Callable[[], bool]
    completed: bool = field(default=False, init=False)  # known to be committed

    @property
    def stopping(self) -> bool:
        """The worker was asked to end: finish the chunk, save the checkpoint, return ``Later(0)``."""
        return self.should_stop()

    def require_lease(self) -> None:
        """Inside the transaction of an effect: lock the job and make sure that it is still ours. Raises LeaseLost."""
        if current_tenant_id() != self.tenant_id:
            msg = "the lease is checked inside the transaction it protects"
            raise RuntimeError(msg)
        if not self._mine().select_for_update().exists():
            raise LeaseLost

    def complete(self) -> None:
        """Mark the job done in the open transaction: effect and mark are committed together. Raises LeaseLost."""
        self._write(state=State.DONE, finished_at=clock.now(), lease_until=None, last_error="")
        transaction.on_commit(self.note_completion)

    def save_checkpoint(self, checkpoint: dict[str, object]) -> None:
        """Keep how far the work has come, with the chunk in the open transaction, and renew the lease. Raises LeaseLost."""
        self._write(checkpoint=checkpoint, lease_until=clock.now() + self.lease)
        self.checkpoint = checkpoint

    def heartbeat(self) -> None:
        """Renew the lease between two transactions of a long piece of work. Raises LeaseLost."""
        self._write(lease_until=clock.now() + self.lease)
        heartbeats.beat()

    def _write(self, **columns: object) -> None:
        if current_tenant_id() == self.tenant_id:
            changed = self._mine().update(**columns)
        else:
            with tenant_context(self.tenant_id):
                changed = self._mine().update(**columns)
        if changed != 1:
            raise LeaseLost

    def _mine(self) -> QuerySet[ProcessingJob]:
        return ProcessingJob.objects.filter(pk=self.job_id, fence=self.fence, state=State.RUNNING)

    def note_completion(self) -> None:
        """The commit that holds the mark has happened."""
        self.completed = True


# -- several at once; each statement names the fence of every one

_LEASES = """
    SELECT j.id FROM jobs_processingjob j JOIN unnest(%s::uuid[], %s::bigint[]) AS r(id, fence) USING (id, fence)
    WHERE j.tenant_id = %s AND j.state = 'running' ORDER BY j.id FOR UPDATE OF j
"""
_COMPLETE = """
    UPDATE jobs_processingjob j SET state = 'done', finished_at = %s, lease_until = NULL, last_error = ''
    FROM unnest(%s::uuid[], %s::bigint[]) AS r(id, fence)
    WHERE r.id = j.id AND r.fence = j.fence AND j.tenant_id = %s AND j.state = 'running' RETURNING j.id
"""


def require_leases(runs: Sequence[JobRun]) -> None:
    """:meth:`JobRun.require_lease` for several jobs of one tenant. Raises LeaseLost for any of them."""
    _all_of(runs, fetch_prepared(_LEASES, [[run.job_id for run in runs], [run.fence for run in runs], runs[0].tenant_id]))


def complete_all(runs: Sequence[JobRun]) -> None:
    """:meth:`JobRun.complete` for several jobs of one tenant. Raises LeaseLost for any of them."""
    named = [[run.job_id for run in runs], [run.fence for run in runs], runs[0].tenant_id]
    _all_of(runs, fetch_prepared(_COMPLETE, [clock.now(), *named]))
    for run in runs:
        transaction.on_commit(run.note_completion)


def _all_of(runs: Sequence[JobRun], rows: Sequence[object]) -> None:
    if len(rows) != len(runs):
        raise LeaseLost


def error_code(exception: BaseException) -> str:
    """What may be kept of a failure: the code of a domain error, else class names and the database's state code."""
    if isinstance(exception, (DomainError, GiveUp, TryAgain)):
        return str(exception.code)[:_LONGEST_ERROR]
    state = getattr(exception, "sqlstate", None) or getattr(exception.__cause__, "sqlstate", None)
    name = type(exception).__qualname__ + (f"[{state}]" if isinstance(state, str) else "")
    return name[:_LONGEST_ERROR]
