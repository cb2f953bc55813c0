"""Several jobs in one commit: what that changes, and what it must not change (OJ-04, OJ-08)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from apps.core.isolation import system_context, tenant_context
from apps.jobs.models import ProcessingJob
from apps.jobs.registry import JobRun, LeaseLost, complete_all, require_leases
from apps.jobs.runner import drain
from apps.tenants.models import Tenant
from apps.tenants.transactions import tenant_transaction
from tests.jobs.conftest import Room

pytestmark = pytest.mark.django_db(transaction=True)

Handle = Callable[..., None]


class Work:
    """A handler that counts, alone and together; ``poison`` names the key that fails."""

    def __init__(self, poison: str | None = None) -> None:
        self.poison = poison
        self.groups: list[list[str]] = []
        self.alone: list[str] = []

    def one(self, run: JobRun) -> None:
        self.alone.append(run.key)
        with tenant_transaction(run.access) as tx:
            run.require_lease()
            self.effect([run.key])
            run.complete()
            tx.next_revision()

    def many(self, runs: Sequence[JobRun]) -> bool:
        self.groups.append([run.key for run in runs])
        with tenant_transaction(runs[0].access) as tx:
            require_leases(runs)
            tx.next_revision()
            self.effect([run.key for run in runs])
            complete_all(runs)
        return True

    def effect(self, keys: Sequence[str]) -> None:
        if self.poison in keys:
            raise ValueError(self.poison)


def revision(room: Room) -> int:
    with tenant_context(room.tenant_id):
        return Tenant.objects.get().revision


def states(room: Room) -> dict[str, str]:
    return {job.key: job.state for job in room.jobs()}


@pytest.mark.requirement("OJ-01")
def test_jobs_of_one_identity_are_one_commit(room: Room, handle: Handle) -> None:
    work = Work()
    handle("trial", work.one, together=work.many)
    room.put("trial", "a", "b", "c")
    done = drain()
    assert (done.jobs, done.failed) == (3, 0)
    assert (work.groups, work.alone) == ([["a", "b", "c"]], [])
    assert set(states(room).values()) == {"done"}
    assert revision(room) == 1


def test_jobs_of_different_namespaces_are_not_mixed(room: Room, other_room: Room, handle: Handle) -> None:
    work = Work()
    handle("trial", work.one, together=work.many)
    room.put("trial", "a", "b")
    other_room.put("trial", "x", "y")
    drain()
    assert sorted(map(sorted, work.groups)) == [["a", "b"], ["x", "y"]]


@pytest.mark.requirement("OJ-08")
def test_a_poisoned_job_waits_alone_and_the_others_are_done(room: Room, handle: Handle) -> None:
    work = Work(poison="b")
    handle("trial", work.one, together=work.many)
    room.put("trial", "a", "b", "c")
    done = drain()
    assert (done.jobs, done.failed) == (3, 1)
    assert work.groups == [["a", "b", "c"]]
    assert work.alone == ["a", "b", "c"]
    assert states(room) == {"a": "done", "b": "retry_wait", "c": "done"}
    assert revision(room) == 2  # nothing of the group's attempt was left


def test_a_job_that_failed_before_harms_no_group(room: Room, handle: Handle) -> None:
    work = Work()
    handle("trial", work.one, together=work.many)
    first, *_ = room.put("trial", "a", "b", "c")
    room.change(first, attempts=1, state=ProcessingJob.State.RETRY_WAIT)
    drain()
    assert work.alone == ["a"]
    assert work.groups == [["b", "c"]]


@pytest.mark.requirement("OJ-04")
def test_a_lease_that_was_lost_undoes_the_group_and_not_the_others(room: Room, handle: Handle) -> None:
    """Another worker has taken over one of them between the claim and the commit."""
    work = Work()

    def robbed(runs: Sequence[JobRun]) -> bool:
        with system_context():
            ProcessingJob.objects.filter(key="b").update(fence=99)
        return work.many(runs)

    handle("trial", work.one, together=robbed)
    room.put("trial", "a", "b", "c")
    drain()
    assert states(room) == {"a": "done", "b": "running", "c": "done"}
    assert revision(room) == 2


@pytest.mark.parametrize("step", [require_leases, complete_all])
def test_every_fence_is_named(room: Room, handle: Handle, step: Callable[[Sequence[JobRun]], None]) -> None:
    caught: list[type[BaseException]] = []

    def many(runs: Sequence[JobRun]) -> bool:
        runs[1].fence += 1
        try:
            with tenant_transaction(runs[0].access):
                step(runs)
        except LeaseLost:
            caught.append(LeaseLost)
        runs[1].fence -= 1
        return False

    handle("trial", Work().one, together=many)
    room.put("trial", "a", "b")
    drain()
    assert caught == [LeaseLost]
    assert set(states(room).values()) == {"done"}


@pytest.mark.requirement("OJ-04")
def test_a_worker_that_ends_in_a_group_gives_all_of_it_back(room: Room, handle: Handle) -> None:
    def many(runs: Sequence[JobRun]) -> bool:
        with tenant_transaction(runs[0].access):
            complete_all(runs)
            raise KeyboardInterrupt

    handle("trial", Work().one, together=many)
    room.put("trial", "a", "b")
    with pytest.raises(KeyboardInterrupt):
        drain()
    assert states(room) == {"a": "queued", "b": "queued"}


def test_a_group_that_took_too_long_is_tried_one_by_one_later(room: Room, handle: Handle) -> None:
    class TooLong(BaseException):
        pass

    def many(runs: Sequence[JobRun]) -> bool:
        raise TooLong

    work = Work()
    handle("trial", work.one, together=many)
    room.put("trial", "a", "b")
    with pytest.raises(TooLong):
        drain(timeouts=(TooLong,))
    assert states(room) == {"a": "retry_wait", "b": "retry_wait"}
    for job in room.jobs():
        room.change(job, next_try_at=job.created_at - timedelta(seconds=1))
    drain()
    assert work.alone == ["a", "b"]
    assert set(states(room).values()) == {"done"}
