"""Working jobs off: claims, leases, fences, attempts, back-off and dead letters."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, connections

from apps.audits.models import AuditEntry
from apps.core import clock
from apps.core.errors import VersionConflict
from apps.core.isolation import system_context, tenant_context
from apps.jobs import claims
from apps.jobs.registry import GiveUp, JobRun, Later, LeaseLost, TryAgain
from apps.jobs.runner import Drained, drain
from apps.tenants.models import Tenant
from apps.tenants.transactions import tenant_transaction
from tests.jobs.conftest import Room

CANARY = "the strongbox is behind the mirror"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def step(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture(autouse=True)
def time() -> Iterator[Clock]:
    """Stopped, so that a retry is due when a test says so."""
    stopped = Clock()
    with clock.set_clock(stopped):
        yield stopped


def write(run: JobRun) -> None:
    """An effect that counts: one step of the tenant's revision."""
    with tenant_transaction(run.access) as tx:
        run.complete()
        tx.next_revision()


def effects(room: Room) -> int:
    with tenant_context(room.tenant_id):
        return Tenant.objects.get().revision


@pytest.mark.requirement("OJ-03", "ID-10")
def test_a_due_job_is_done_under_the_identity_stored_on_it(room: Room, handle: Callable[..., None]) -> None:
    seen: list[JobRun] = []
    handle("extract", seen.append)
    made = room.put("extract", "a", payload={"event": "e"})[0]
    done = drain()
    assert (done.jobs, done.failed) == (1, 0)
    (run,) = seen
    assert run.access.actor_kind == "service" and [grant.id for grant in run.access.namespaces] == [room.namespace_id]
    assert "delegate" not in run.access.operations and run.access.roles == frozenset()
    assert (run.job_id, run.payload, run.attempt) == (made.pk, {"event": "e"}, 1)
    job = room.job(made)
    assert (job.state, job.attempts, job.lease_until) == ("done", 1, None) and job.finished_at and job.started_at


@pytest.mark.django_db(transaction=True)
def test_effect_and_done_are_one_commit(room: Room, handle: Callable[..., None]) -> None:
    handle("extract", write)
    made = room.put("extract", "a")[0]
    drain()
    assert room.job(made).state == "done" and effects(room) == 1


@pytest.mark.django_db(transaction=True)
def test_a_handler_sees_no_transaction_and_no_tenant(room: Room, handle: Callable[..., None]) -> None:
    seen: list[object] = []
    handle("extract", lambda _run: seen.extend((connection.in_atomic_block, Tenant.objects.count())))
    room.put("extract", "a")
    drain()
    assert seen == [False, 0]


@pytest.mark.requirement("OJ-07", "OJ-08")
def test_failures_wait_longer_each_time_and_end_as_a_dead_letter(
    room: Room, handle: Callable[..., None], time: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_run: JobRun) -> None:
        raise ValueError(CANARY)

    handle("extract", fail, max_attempts=3)
    made = room.put("extract", "a")[0]
    for attempt in (1, 2):
        assert drain().failed == 1
        job = room.job(made)
        assert (job.state, job.attempts, job.last_error) == ("retry_wait", attempt, "ValueError")
        assert timedelta(seconds=2 ** (attempt - 1)) / 2 <= job.next_try_at - time.now <= timedelta(seconds=2 ** (attempt - 1))
        assert drain().jobs == 0
        time.step(2**attempt)
    drain()
    job = room.job(made)
    assert (job.state, job.attempts, job.last_error) == ("dead", 3, "ValueError")
    time.step(10_000)
    assert drain().jobs == 0
    with tenant_context(room.tenant_id):
        (entry,) = AuditEntry.objects.filter(verb="job.dead")
    assert (entry.result, entry.codes, entry.counts) == ("failed", ["extract", "valueerror"], {"attempts": 3})
    assert entry.object_id.startswith("job_") and CANARY not in caplog.text


def test_what_is_kept_of_an_error_is_its_code(room: Room, handle: Callable[..., None]) -> None:
    def conflict(_run: JobRun) -> None:
        raise VersionConflict(3)

    def broken(run: JobRun) -> None:
        with tenant_transaction(run.access), connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO tenants_namespace (id, tenant_id, scope, scope_id, deletion_epoch, created_at) "
                "VALUES (gen_random_uuid(), %s, 'nonsense', %s, 0, now())",
                [room.tenant_id, CANARY],
            )

    handle("conflict", conflict)
    handle("broken", broken)
    one, other = room.put("conflict", "a")[0], room.put("broken", "a")[0]
    drain()
    assert room.job(one).last_error == "version_conflict" and room.job(other).last_error == "IntegrityError[23514]"


def test_giving_up_is_final(room: Room, handle: Callable[..., None]) -> None:
    def give_up(_run: JobRun) -> None:
        raise GiveUp(code="source_gone")

    handle("extract", give_up)
    made = room.put("extract", "a")[0]
    assert drain().failed == 1
    job = room.job(made)
    assert (job.state, job.attempts, job.last_error) == ("dead", 1, "source_gone")
    with pytest.raises(ValueError, match="reason code"):
        GiveUp("a sentence with spaces")


def test_later_is_no_failure_and_keeps_the_checkpoint(room: Room, handle: Callable[..., None], time: Clock) -> None:
    def chunk(run: JobRun) -> Later | None:
        at = int(str(run.checkpoint.get("at", 0)))
        with tenant_transaction(run.access):
            run.save_checkpoint({"at": at + 1})
        return Later(30) if at < 3 else None

    handle("deletion", chunk, max_attempts=2)
    made = room.put("deletion", "a")[0]
    for turn in (1, 2, 3):
        assert drain().jobs == 1
        job = room.job(made)
        assert (job.state, job.attempts, job.checkpoint) == ("queued", 0, {"at": turn})
        assert job.next_try_at == time.now + timedelta(seconds=30)
        time.step(30)
    drain()
    assert room.job(made).state == "done"


def test_one_bad_job_holds_nobody_up(room: Room, handle: Callable[..., None]) -> None:
    def pick(run: JobRun) -> None:
        if run.key == "bad":
            raise ValueError
        write(run)

    handle("extract", pick)
    jobs = room.put("extract", "bad", *map(str, range(30)))
    done = drain()
    assert (done.jobs, done.failed) == (31, 1)
    assert [room.job(job).state for job in jobs] == ["retry_wait"] + ["done"] * 30


@pytest.mark.requirement("OJ-07")
def test_a_failure_that_says_how_long_waits_at_least_so_long(room: Room, handle: Callable[..., None], time: Clock) -> None:
    def busy(run: JobRun) -> None:
        raise TryAgain(code="server_busy", seconds=120)

    handle("extract", busy)
    (job,) = room.put("extract", "a")
    for attempt in (1, 2):
        drain()
        waiting = room.job(job)
        assert (waiting.state, waiting.attempts, waiting.last_error) == ("retry_wait", attempt, "server_busy")
        assert waiting.next_try_at == time() + timedelta(seconds=120)
        time.step(121)
    drain()
    assert (room.job(job).state, room.job(job).last_error) == ("dead", "server_busy")
    with pytest.raises(ValueError, match="reason code"):
        TryAgain("said what it failed on")


def test_a_job_that_was_not_begun_keeps_its_attempts(room: Room, handle: Callable[..., None], time: Clock) -> None:
    answers: list[Later | None] = [Later(5, not_begun=True), None, Later(5, not_begun=True)]

    def work(run: JobRun) -> Later | None:
        answer = answers.pop(0)
        if answer is None:
            raise TryAgain(code="server_busy")
        return answer

    handle("extract", work)
    (job,) = room.put("extract", "a")
    seen = []
    for _ in range(3):
        drain()
        now = room.job(job)
        seen.append((now.state, now.attempts, now.last_error))
        time.step(6)
    assert seen == [("queued", 0, ""), ("retry_wait", 1, "server_busy"), ("retry_wait", 1, "server_busy")]


@pytest.mark.django_db(transaction=True)
def test_attempts_are_counted_before_the_work(room: Room, handle: Callable[..., None]) -> None:
    seen: list[tuple[str, int]] = []

    def look(run: JobRun) -> None:
        with connections["default"].cursor() as cursor:
            assert not connection.in_atomic_block
            with system_context():
                cursor.execute("SELECT state, attempts FROM jobs_processingjob WHERE id = %s", [run.job_id])
                seen.append(cursor.fetchone())

    handle("extract", look)
    room.put("extract", "a")
    drain()
    assert seen == [("running", 1)]


def test_several_at_once_only_on_their_first_attempt(room: Room) -> None:
    jobs = room.put("extract", "a", "b", "c", "d")
    room.change(jobs[0], attempts=1)
    lease = timedelta(seconds=60)
    assert [job.key for job in claims.claim("extract", lease=lease, limit=10)] == ["a"]
    assert [job.key for job in claims.claim("extract", lease=lease, limit=2)] == ["b", "c"]
    assert [job.key for job in claims.claim("extract", lease=lease, limit=10)] == ["d"]
    assert claims.claim("extract", lease=lease, limit=10) == []


def test_a_silent_worker_loses_its_job_and_cannot_report(room: Room, handle: Callable[..., None], time: Clock) -> None:
    handle("extract", write, lease=60)
    made = room.put("extract", "a")[0]
    (mine,) = claims.claim("extract", lease=timedelta(seconds=60), limit=1)
    time.step(59)
    assert drain().jobs == 0
    time.step(2)
    drain()
    job = room.job(made)
    assert (job.state, job.last_error) == ("retry_wait", "lease_lost")
    time.step(60)
    drain()
    assert room.job(made).state == "done" and effects(room) == 1 and room.job(made).attempts == 2
    assert not claims.finish(mine) and not claims.back_off(mine, code="x") and not claims.release(mine, started=True)
    assert room.job(made).state == "done"


def test_a_fenced_off_handler_cannot_commit(room: Room, handle: Callable[..., None], time: Clock) -> None:
    outcomes: list[str] = []

    def commit(run: JobRun, attempt: Callable[[], None]) -> None:
        with tenant_transaction(run.access) as tx:
            tx.next_revision()
            attempt()

    def slow(run: JobRun) -> None:
        if run.attempt == 1:
            time.step(100)  # falls asleep; another worker takes over meanwhile
            claims.reclaim()
            time.step(100)
            assert len(claims.claim("extract", lease=timedelta(seconds=60), limit=1)) == 1
        for attempt in (run.require_lease, run.complete, lambda: run.save_checkpoint({"at": 1})):
            with pytest.raises(LeaseLost):
                commit(run, attempt)
        with pytest.raises(LeaseLost):
            run.heartbeat()
        outcomes.append("fenced")
        run.heartbeat()

    handle("extract", slow)
    made = room.put("extract", "a")[0]
    done = drain()
    assert outcomes == ["fenced"] and done.failed == 1 and effects(room) == 0
    job = room.job(made)
    assert (job.state, job.attempts, job.fence, job.checkpoint) == ("running", 2, 2, {})


def test_a_lease_is_only_checked_inside_the_transaction_it_protects(room: Room, handle: Callable[..., None]) -> None:
    handle("extract", lambda run: run.require_lease())
    made = room.put("extract", "a")[0]
    drain()
    assert room.job(made).last_error == "RuntimeError"


def test_a_job_that_kills_every_worker_dies_and_is_audited(room: Room, handle: Callable[..., None], time: Clock) -> None:
    handle("extract", write, max_attempts=2)
    made = room.put("extract", "a")[0]
    for _ in range(2):
        time.step(600)
        drain(kinds=[])  # takes back what a silent worker held
        time.step(600)
        assert len(claims.claim("extract", lease=timedelta(seconds=60), limit=1)) == 1
    time.step(600)
    drain()
    job = room.job(made)
    assert (job.state, job.attempts, job.last_error) == ("dead", 2, "lease_lost") and effects(room) == 0
    with tenant_context(room.tenant_id):
        assert AuditEntry.objects.get(verb="job.dead").codes == ["extract", "lease_lost"]


def test_a_heartbeat_keeps_the_job(room: Room, handle: Callable[..., None], time: Clock) -> None:
    def long_work(run: JobRun) -> None:
        for _ in range(5):
            time.step(50)
            run.heartbeat()
            assert claims.reclaim() == []
        write(run)

    handle("extract", long_work, lease=60)
    made = room.put("extract", "a")[0]
    drain()
    assert (room.job(made).state, room.job(made).attempts) == ("done", 1)


@pytest.mark.django_db(transaction=True)
def test_being_told_to_end_gives_the_jobs_back(room: Room, handle: Callable[..., None]) -> None:
    def ended(run: JobRun) -> None:
        with tenant_transaction(run.access) as tx:
            tx.next_revision()
            raise SystemExit(143)

    handle("extract", ended)
    jobs = room.put("extract", "a", "b", "c")
    with pytest.raises(SystemExit):
        drain()
    assert [(room.job(job).state, room.job(job).attempts) for job in jobs] == [("queued", 1), ("queued", 0), ("queued", 0)]
    assert effects(room) == 0


def test_a_stop_between_jobs_gives_the_rest_back(room: Room, handle: Callable[..., None]) -> None:
    ran: list[str] = []
    handle("extract", lambda run: ran.append(run.key))
    jobs = room.put("extract", "a", "b", "c")
    assert drain(should_stop=lambda: len(ran) == 1).jobs == 1
    assert [(room.job(job).state, room.job(job).attempts) for job in jobs] == [("done", 1), ("queued", 0), ("queued", 0)]


@pytest.mark.django_db(transaction=True)
def test_a_job_that_takes_too_long_has_failed(room: Room, handle: Callable[..., None]) -> None:
    class TooLongError(SystemExit):
        pass

    def slow(_run: JobRun) -> None:
        raise TooLongError

    handle("extract", slow)
    jobs = room.put("extract", "a", "b")
    with pytest.raises(TooLongError):
        drain(timeouts=(TooLongError,))
    assert [(room.job(job).state, room.job(job).attempts) for job in jobs] == [("retry_wait", 1), ("queued", 0)]


def test_only_the_kinds_asked_for_and_only_with_a_handler(room: Room, handle: Callable[..., None]) -> None:
    handle("extract", write)
    handle("deletion", write)
    extract, deletion, unknown = room.put("extract", "a")[0], room.put("deletion", "a")[0], room.put("someday", "a")[0]
    assert drain(kinds=["extract"]).jobs == 1
    assert [room.job(job).state for job in (extract, deletion, unknown)] == ["done", "queued", "queued"]
    assert drain().jobs == 1 and room.job(unknown).state == "queued"


def test_work_that_work_makes_is_done_too(room: Room, handle: Callable[..., None]) -> None:
    handle("extract", lambda run: room.put("extract", str(int(run.key) + 1)) and None if int(run.key) < 5 else None)
    room.put("extract", "0")
    assert drain().jobs == 6


def test_work_for_the_future_waits(room: Room, handle: Callable[..., None], time: Clock) -> None:
    handle("extract", write)
    room.put("extract", "a", due_at=time.now + timedelta(hours=1))
    assert drain().jobs == 0
    time.step(3600)
    assert drain().jobs == 1


def test_the_jobs_of_a_suspended_tenant_wait(room: Room, other_room: Room, handle: Callable[..., None], time: Clock) -> None:
    handle("extract", write)
    mine, theirs = room.put("extract", "a")[0], other_room.put("extract", "a")[0]
    with system_context():
        Tenant.objects.filter(pk=room.tenant_id).update(status=Tenant.Status.SUSPENDED)
    drain()
    assert (room.job(mine).state, room.job(mine).attempts, other_room.job(theirs).state) == ("queued", 0, "done")
    with system_context():
        Tenant.objects.filter(pk=room.tenant_id).update(status=Tenant.Status.ACTIVE)
    time.step(601)
    drain()
    assert room.job(mine).state == "done"


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("OJ-03")
def test_two_workers_share_the_work_and_each_job_runs_once(room: Room, handle: Callable[..., None]) -> None:
    ran: list[str] = []

    def work(run: JobRun) -> None:
        write(run)
        ran.append(run.key)

    handle("extract", work)
    room.put("extract", *map(str, range(200)))
    counts = [drained.jobs for drained in in_threads(drain, drain)]
    assert sorted(ran, key=int) == list(map(str, range(200))) and sum(counts) == 200 and effects(room) == 200


@pytest.mark.django_db(transaction=True)
def test_a_handler_that_swallows_its_own_rollback_runs_again(room: Room, handle: Callable[..., None]) -> None:
    """complete() in a transaction that was rolled back completes nothing; the runner notices and does it itself."""

    def careless(run: JobRun) -> None:
        with suppress(IntegrityError), tenant_transaction(run.access):
            run.complete()
            raise IntegrityError

    handle("extract", careless)
    made = room.put("extract", "a")[0]
    drain()
    assert room.job(made).state == "done"


@pytest.mark.django_db(transaction=True)
def test_only_work_that_can_be_done_again_does_not_wait_for_the_disk(room: Room, handle: Callable[..., None]) -> None:
    seen: list[str] = []

    def mode(_run: JobRun | None = None) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SHOW synchronous_commit")
            seen.append(cursor.fetchone()[0])

    handle("extract", mode, wait_for_disk=False)
    handle("deletion", mode)
    room.put("extract", "a", "b")
    room.put("deletion", "a")
    drain(kinds=["extract"])
    mode()
    drain(kinds=["deletion"])
    assert seen == ["off", "off", "on", "on"]


@pytest.mark.django_db(transaction=True)
def test_a_lost_connection_is_the_failure_of_one_job(room: Room, handle: Callable[..., None]) -> None:
    def cut(run: JobRun) -> None:
        if run.key == "b":
            with tenant_transaction(run.access), connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        write(run)

    handle("extract", cut)
    jobs = room.put("extract", "a", "b", "c")
    drain()
    assert [room.job(job).state for job in jobs] == ["done", "retry_wait", "done"]


def in_threads(*calls: Callable[[], Drained]) -> list[Drained]:
    results: list[Drained] = []

    def run(call: Callable[[], Drained]) -> None:
        try:
            results.append(call())
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
