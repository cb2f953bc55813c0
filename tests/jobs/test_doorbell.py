"""The doorbell and the sweeper, without processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django_q.exceptions import TimeoutException
from django_q.models import OrmQ
from django_q.models import Task as Result
from django_q.signing import SignedPackage

from apps.core import clock
from apps.core.ids import new_id
from apps.core.isolation import system_context
from apps.jobs import doorbell, heartbeats, sweeper
from apps.jobs.look import look
from apps.jobs.models import Outbox, ProcessingJob, WorkerHeartbeat
from apps.jobs.registry import JobRun
from tests.jobs.conftest import Room

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "the strongbox is behind the mirror"


@pytest.fixture(autouse=True)
def nobody_rang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorbell._Rung, "at", float("-inf"))
    monkeypatch.setattr(doorbell, "QUIET_SECONDS", 0.0)


@pytest.fixture
def quiet_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """answer() looks once more without waiting."""
    waits: list[float] = []
    monkeypatch.setattr(doorbell, "sleep", waits.append)
    yield waits
    doorbell._stopping.value = 0


def test_a_ring_is_a_task_with_kind_and_id_and_nothing_else() -> None:
    job = new_id()
    doorbell.ring("extract", job)
    task = SignedPackage.loads(OrmQ.objects.get().payload)
    assert (task["func"], task["args"], task["kwargs"]) == ("apps.jobs.doorbell.answer", ("extract", str(job)), {})
    assert task["ack_failure"] is True


def test_a_ring_that_waits_stands_for_those_after_it() -> None:
    doorbell.ring("extract")
    doorbell.ring("deletion")
    assert OrmQ.objects.count() == 1
    OrmQ.objects.update(lock=clock.now() + timedelta(hours=1))  # a worker has taken it
    doorbell.ring("deletion")
    assert OrmQ.objects.count() == 2


def test_a_burst_of_one_process_asks_the_broker_once(monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any) -> None:
    monkeypatch.setattr(doorbell, "QUIET_SECONDS", 60.0)
    with django_assert_num_queries(1):
        for _ in range(100):
            doorbell.ring("extract")


def test_nothing_rings_inside_a_transaction() -> None:
    """It would be heard before the work can be seen, or not at all."""
    with transaction.atomic():
        doorbell.ring("extract")
    assert OrmQ.objects.count() == 0


def test_a_broken_doorbell_breaks_no_request(
    room: Room, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_args: object) -> None:
        raise DatabaseError(CANARY)

    monkeypatch.setattr(doorbell, "_ring", broken)
    (job,) = room.put("extract", "a")
    assert room.job(job).state == "queued" and CANARY not in caplog.text and "doorbell_failed" in caplog.text


def test_an_answer_does_what_is_due_and_looks_once_more(
    room: Room, handle: Callable[..., None], quiet_worker: list[float]
) -> None:
    ran: list[str] = []
    handle("extract", lambda run: ran.append(run.key))
    room.put("extract", "a", "b")
    assert doorbell.answer("extract", "") == "idle" and ran == ["a", "b"] and len(quiet_worker) == 1


def test_a_job_that_comes_during_the_last_look_is_done(
    room: Room, handle: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    handle("extract", lambda _run: None)
    late: list[ProcessingJob] = []
    monkeypatch.setattr(doorbell, "sleep", lambda _seconds: late or late.extend(room.put("extract", "late")))
    assert doorbell.answer("extract", "") == "idle" and room.job(late[0]).state == "done"


@pytest.mark.canary
@pytest.mark.requirement("AU-02")
@pytest.mark.parametrize("failure", [ValueError(CANARY), TimeoutException(CANARY), SystemExit(CANARY)])
def test_no_text_of_an_exception_reaches_the_broker(
    room: Room, handle: Callable[..., None], quiet_worker: list[float], failure: BaseException
) -> None:
    def fail(_run: JobRun) -> None:
        raise failure

    handle("extract", fail)
    (job,) = room.put("extract", "a")
    if type(failure) is SystemExit:
        with pytest.raises(SystemExit):
            doorbell.answer("extract", "")
        assert room.job(job).state == "queued"
    else:
        assert doorbell.answer("extract", "") in ("idle", "timeout")
        assert room.job(job).last_error == type(failure).__name__
    assert Result.objects.count() == 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT jobs_processingjob::text FROM jobs_processingjob")
        assert CANARY not in str(cursor.fetchall())


def test_a_database_that_is_away_is_told_without_text(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    from apps.jobs import runner

    def away(**_options: object) -> None:
        raise DatabaseError(CANARY)

    monkeypatch.setattr(runner, "drain", away)
    assert doorbell.answer("extract", "") == "failed" and CANARY not in caplog.text and "drain_failed" in caplog.text


def test_a_worker_that_was_told_to_stop_takes_nothing_new(
    room: Room, handle: Callable[..., None], quiet_worker: list[float]
) -> None:
    handle("extract", lambda _run: None)
    (job,) = room.put("extract", "a")
    doorbell._stopping.value = 1
    assert doorbell.answer("extract", "") == "stopping" and room.job(job).state == "queued"


# -- the sweeper


def test_a_look_sees_what_is_due(room: Room, handle: Callable[..., None]) -> None:
    handle("extract", lambda _run: None)
    handle("deletion", lambda _run: None)
    assert not look().due
    (job,) = room.put("deletion", "a")
    room.put("someday", "a")
    assert look().kinds == ("deletion",) and look(["extract"]).kinds == ()
    now = clock.now()
    room.change(job, state="running", lease_until=now + timedelta(seconds=60))
    assert look().busy and not look().due
    room.change(job, lease_until=now - timedelta(seconds=1))
    assert look().silent and look().due and not look().busy
    room.change(job, state="retry_wait", next_try_at=now + timedelta(seconds=60))
    assert not look().due


def test_tidying_removes_what_is_over_and_nothing_else(room: Room) -> None:
    old = clock.now() - timedelta(days=400)
    jobs = room.put("extract", "old", "dead", "new", "waiting")
    room.change(jobs[0], state="done", finished_at=old)
    room.change(jobs[1], state="dead", finished_at=old)
    room.change(jobs[2], state="done", finished_at=clock.now())
    with system_context():
        for created, delivered in ((old, old), (old, None)):
            Outbox.objects.create(
                tenant_id=room.tenant_id, topic="x", object_id=new_id(), created_at=created, delivered_at=delivered
            )
    WorkerHeartbeat.objects.create(name="long ago", seen_at=old)
    WorkerHeartbeat.objects.create(name="now", seen_at=clock.now())
    assert sweeper.tidy() == 3
    assert [job.key for job in room.jobs()] == ["dead", "new", "waiting"]
    assert [message.delivered_at for message in room.messages()] == [None]
    assert [row.name for row in WorkerHeartbeat.objects.all()] == ["now"]


def test_a_sign_of_life_is_only_given_by_workers_and_not_all_the_time(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(heartbeats._Self, "name", "")
    monkeypatch.setattr(heartbeats._Self, "beaten_at", float("-inf"))
    heartbeats.beat()
    assert heartbeats.living_workers() == []
    name = heartbeats.introduce()
    with django_assert_num_queries(3):  # one transaction
        for _ in range(10):
            heartbeats.beat()
    assert [worker.name for worker in heartbeats.living_workers()] == [name]
    heartbeats.leave()
    assert heartbeats.living_workers() == []


class Cluster:
    """Counts what is asked of it."""

    def __init__(self) -> None:
        self.alive = True
        self.started = self.killed = 0

    def start(self) -> None:
        self.started += 1
        self.alive = True

    def kill(self) -> None:
        self.killed += 1


def turns(watch: sweeper._Watch, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let the watch look that often, a second apart on its own clock."""
    stop = threading.Event()
    seconds = [clock.monotonic()]
    monkeypatch.setattr(clock, "monotonic", lambda: seconds[0])
    left = [count]

    def wait(interval: float) -> bool:
        seconds[0] += interval
        left[0] -= 1
        return left[0] < 0

    monkeypatch.setattr(stop, "wait", wait)
    watch.run(stop)


def test_the_watch_rings_for_due_work_and_for_a_sign_of_life(
    room: Room, handle: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    handle("extract", lambda _run: None)
    rung: list[str] = []
    monkeypatch.setattr(doorbell, "ring", lambda kind, *_: rung.append(kind))
    watch = sweeper._Watch(Cluster(), "here:1")
    turns(watch, monkeypatch, 11)
    assert len(rung) == 3, "at once, and every five seconds"
    room.put("extract", "a")
    rung.clear()
    turns(watch, monkeypatch, 3)
    assert len(rung) >= 3


def test_the_watch_replaces_a_cluster_that_died_or_fell_silent(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster()
    watch = sweeper._Watch(cluster, "here:1")
    WorkerHeartbeat.objects.create(name="here:1", seen_at=clock.now() - timedelta(minutes=5))
    turns(watch, monkeypatch, 25)
    assert cluster.started == 0, "it has just been started"
    turns(watch, monkeypatch, 10)
    assert (cluster.killed, cluster.started) == (1, 1)
    cluster.alive = False
    turns(watch, monkeypatch, 1)
    assert (cluster.killed, cluster.started) == (2, 2)


def test_the_watch_leaves_a_worker_in_peace_that_holds_a_lease(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    (job,) = room.put("extract", "a")
    room.change(job, state="running", lease_until=clock.now() + timedelta(minutes=5))
    cluster = Cluster()
    turns(sweeper._Watch(cluster, "here:1"), monkeypatch, 100)
    assert cluster.started == 0


def test_the_watch_outlives_a_database_that_is_away(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []

    def away() -> None:
        calls.append(1)
        if len(calls) < 5:
            raise DatabaseError(CANARY)

    watch = sweeper._Watch(Cluster(), "here:1")
    monkeypatch.setattr(watch, "_turn", away)
    turns(watch, monkeypatch, 8)
    assert len(calls) == 8 and CANARY not in caplog.text
    assert [record.message for record in caplog.records] == ["database_unreachable", "database_reachable"]
