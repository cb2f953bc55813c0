"""Working a deletion off: layer by layer, in chunks, from wherever it stopped (design/05 step 3).

Everything that has to survive a kill is a column written in the transaction of the rows it speaks of: state, attempts, cursor
and counts of each step. So the worker that comes next goes on behind the last committed chunk, and no chunk is counted twice.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol

from django.db.models import F
from django.db.models.functions import Coalesce

from apps.audits import log
from apps.core import clock
from apps.core.ids import public_id
from apps.jobs.queue import publish
from apps.jobs.registry import GiveUp, LeaseLost
from apps.jobs.runs import error_code
from apps.retention.certificates import ensure_certificate
from apps.retention.deletion_states import DONE, sources_of, state_of, step_sources_of
from apps.retention.exposures import record_exposures
from apps.retention.holds import Held, is_held, require_unheld
from apps.retention.layers import CHUNK, Layer, Target, layer_named
from apps.retention.models import DeletionJob, DeletionStep
from apps.retention.targets import target_of
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from uuid import UUID

    from apps.tenants.access import Access

_NO_DELETION: Final = "deletion_missing"
_HOLD: Final = "legal_hold"

ROUNDS: Final = 3  # how often a layer is cleared again when its own count says that something is left
PATIENCE: Final = timedelta(seconds=30)  # then other jobs get their turn

State = DeletionJob.State
Step = DeletionStep.State


class Lease(Protocol):
    """What the job runner lends for the time of one attempt (apps/jobs/runs.py)."""

    attempt: int
    max_attempts: int

    @property
    def stopping(self) -> bool: ...
    def require_lease(self) -> None: ...
    def heartbeat(self) -> None: ...
    def complete(self) -> None: ...


class NotCleared(Exception):
    """A layer still counts rows after several rounds; somebody keeps writing, or its clear() and verify() disagree."""


def work_off(access: Access, deletion_id: UUID, lease: Lease) -> bool:
    """Go on with a deletion; False when there is more to do later, True when it is completed or a hold blocks it (DJ-13..22).

    A layer that fails puts step and job into ``retry_wait``, on the last attempt into ``failed_requires_action``, and raises
    what it raised. Raises GiveUp for a deletion that does not exist, LeaseLost when another worker has taken over.
    """
    until = clock.monotonic() + PATIENCE.total_seconds()
    target = _begin(access, deletion_id, lease)
    if target is None:
        return True
    for step_id, key in _open_steps(access, deletion_id):
        try:
            if not _clear(access, target, _layer(key), step_id, lease, until):
                return False
        except LeaseLost:
            raise
        except Held:
            _note_hold(access, deletion_id, step_id, lease)
            return True
        except Exception as failure:
            _note_failure(access, deletion_id, step_id, lease, failure)
            raise
    _complete(access, deletion_id, lease)
    return True


def _layer(key: str) -> Layer:
    """Raises GiveUp for a layer whose app is not installed any more: its rows may still be there."""
    found = layer_named(key)
    if found is None:
        code = f"layer_missing.{key}"
        raise GiveUp(code)
    return found


def _begin(access: Access, deletion_id: UUID, lease: Lease) -> Target | None:
    """Move the job to running; None when it is completed already."""
    with tenant_transaction(access):
        lease.require_lease()
        job = (
            DeletionJob.objects.filter(tenant_id=access.tenant_id, pk=deletion_id)
            .select_related("revocation", "namespace")
            .first()
        )
        if job is None:
            raise GiveUp(_NO_DELETION)
        if job.state == State.COMPLETED:
            return None
        if job.state != State.RUNNING:
            _move(access, deletion_id, State.RUNNING, started_at=Coalesce(F("started_at"), clock.now()))
        return target_of(job)


def _open_steps(access: Access, deletion_id: UUID) -> list[tuple[UUID, str]]:
    with tenant_transaction(access):
        return list(
            DeletionStep.objects.filter(tenant_id=access.tenant_id, job_id=deletion_id)
            .exclude(state__in=DONE)
            .order_by("position")
            .values_list("id", "layer")
        )


def _clear(access: Access, target: Target, layer: Layer, step_id: UUID, lease: Lease, until: float) -> bool:
    """Clear one layer and prove it; False when time is up between two chunks. Raises NotCleared."""
    cursor = _open(access, target, layer, step_id, lease)
    for _ in range(ROUNDS):
        while True:
            cursor = _clear_chunk(access, target, layer, step_id, lease, cursor)
            if cursor is None:
                break
            if lease.stopping or clock.monotonic() > until:
                return False
            lease.heartbeat()
        if _prove(access, target, layer, step_id, lease):
            return True
    raise NotCleared


def _open(access: Access, target: Target, layer: Layer, step_id: UUID, lease: Lease) -> str | None:
    """Count the attempt before the work, and look how much there is; returns the cursor to go on from."""
    with tenant_transaction(access):
        lease.require_lease()
        step = _locked(access, step_id)
        if step.found is None:
            step.found = layer.discover(target)
            if layer.key == "traces":
                record_exposures(target)
        changed = DeletionStep.objects.filter(pk=step_id, state__in=step_sources_of(Step.RUNNING)).update(
            state=Step.RUNNING, attempts=F("attempts") + 1, found=step.found, detail=""
        )
        if changed != 1:
            raise LeaseLost
        return None if step.checkpoint is None else step.checkpoint.get("cursor")


def _clear_chunk(access: Access, target: Target, layer: Layer, step_id: UUID, lease: Lease, cursor: str | None) -> str | None:
    """One chunk, with its cursor and its count, in one commit."""
    spaces = access.by_id.keys()
    if not layer.in_transaction:
        with tenant_transaction(access):
            require_unheld(target, spaces)
    done = None if layer.in_transaction else layer.clear(target, cursor)
    with tenant_transaction(access):
        lease.require_lease()
        _locked(access, step_id)
        columns: dict[str, object] = {}
        if done is None:
            require_unheld(target, spaces)
            done = layer.clear(target, cursor)
            columns["checkpoint"] = {"cursor": done.cursor}
        elif done.cursor is not None:
            columns["checkpoint"] = {"cursor": done.cursor}
        DeletionStep.objects.filter(pk=step_id).update(cleared=F("cleared") + done.count, **columns)
        return done.cursor


def _prove(access: Access, target: Target, layer: Layer, step_id: UUID, lease: Lease) -> bool:
    """Count what is left by the layer's other route; only zero clears the step.

    The step stays locked meanwhile: whoever wants to add something that this layer would have to clear looks at the step under
    a share lock, and so either is counted here or sees that the layer is done. The few rows that came in since the last chunk are
    cleared under the same lock; otherwise somebody who never stops sending could keep a deletion from ever being completed.
    """
    with tenant_transaction(access):
        lease.require_lease()
        step = _locked(access, step_id)
        left = layer.verify(target)
        if 0 < left <= CHUNK and not is_held(target, access.by_id.keys()) and layer.in_transaction:
            step.cleared += layer.clear(target, None).count
            left = layer.verify(target)
        found = max(step.found or 0, step.cleared)
        columns: dict[str, object] = {"remaining": left, "cleared": step.cleared, "found": found}
        if left == 0:
            columns |= {"state": Step.CLEARED, "verified_at": clock.now()}
        DeletionStep.objects.filter(pk=step_id).update(**columns)
        return left == 0


def _locked(access: Access, step_id: UUID) -> DeletionStep:
    return DeletionStep.objects.select_for_update().get(tenant_id=access.tenant_id, pk=step_id)


def _note_failure(access: Access, deletion_id: UUID, step_id: UUID, lease: Lease, failure: Exception) -> None:
    """Say on step and job what became of them. A code, never a message."""
    last = lease.attempt >= lease.max_attempts or isinstance(failure, GiveUp)
    with tenant_transaction(access):
        lease.require_lease()
        after = Step.FAILED if last else Step.RETRY_WAIT
        DeletionStep.objects.filter(pk=step_id, state__in=[*step_sources_of(after), Step.PENDING]).update(
            state=after, detail=error_code(failure)
        )
        state = state_of(_states(access, deletion_id))
        _move(access, deletion_id, state)
        if last:
            log.record(access, "deletion.stalled", "deletion", public_id("del", deletion_id), result="failed", codes=[state])


def _note_hold(access: Access, deletion_id: UUID, step_id: UUID, lease: Lease) -> None:
    """Block step and job, and end the work: whoever lifts the hold puts it down again (apps/retention/resumption.py)."""
    with tenant_transaction(access):
        lease.require_lease()
        DeletionStep.objects.filter(pk=step_id, state__in=step_sources_of(Step.BLOCKED)).update(state=Step.BLOCKED, detail=_HOLD)
        _move(access, deletion_id, state_of(_states(access, deletion_id)))
        log.record(access, "deletion.blocked", "deletion", public_id("del", deletion_id), result="refused", codes=[_HOLD])
        lease.complete()


def _complete(access: Access, deletion_id: UUID, lease: Lease) -> None:
    """The job is completed when its steps say so, in one commit with the audit entry and the end of the work."""
    with tenant_transaction(access):
        lease.require_lease()
        held = DeletionJob.objects.select_for_update(of=("self",)).select_related("revocation", "namespace")
        job = held.get(tenant_id=access.tenant_id, pk=deletion_id)
        if job.state == State.COMPLETED:
            return
        steps = list(DeletionStep.objects.filter(tenant_id=access.tenant_id, job_id=deletion_id))
        state = state_of(step.state for step in steps)
        if state != State.COMPLETED:
            raise NotCleared
        job.completed_at = clock.now()
        _move(access, deletion_id, state, completed_at=job.completed_at)
        ensure_certificate(job)
        publish(access, "deletion.completed", [(deletion_id, job.epoch)])
        log.record(
            access,
            "deletion.completed",
            "deletion",
            public_id("del", deletion_id),
            namespace_id=job.namespace_id,
            codes=[job.target_kind],
            counts={step.layer: step.cleared for step in steps if step.state == Step.CLEARED},
        )
        lease.complete()


def _states(access: Access, deletion_id: UUID) -> list[str]:
    return list(DeletionStep.objects.filter(tenant_id=access.tenant_id, job_id=deletion_id).values_list("state", flat=True))


def _move(access: Access, deletion_id: UUID, state: State, **columns: object) -> None:
    """The guarded UPDATE: only along an edge of the table. Raises LeaseLost when somebody else moved the job meanwhile."""
    changed = DeletionJob.objects.filter(
        tenant_id=access.tenant_id, pk=deletion_id, state__in=[state, *sources_of(state)]
    ).update(state=state, **columns)
    if changed != 1:
        raise LeaseLost
