"""Real workers: processes that are killed, stopped and left without a broker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from django.conf import settings
from django.db import connection

from apps.core.isolation import tenant_context
from apps.jobs.heartbeats import living_workers
from apps.jobs.models import ProcessingJob
from apps.tenants.models import Tenant
from tests.jobs.conftest import Room

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

PROJECT = Path(__file__).resolve().parents[2]
CANARY = "the strongbox is behind the mirror"


@dataclass
class Workshop:
    """Starts workers on the database of the test and looks at what they write."""

    folder: Path
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8", "replace")

    def run(self, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.jobs.worker_settings",
            "TRIAL_DATABASE": settings.DATABASES["default"]["NAME"],
            "TRIAL_FOLDER": str(self.folder),
        }
        with (self.folder / "log").open("ab") as log:
            worker = subprocess.Popen(
                [sys.executable, "manage.py", "worker", *arguments],
                cwd=PROJECT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.workers.append(worker)
        return worker

    def start(self) -> subprocess.Popen[bytes]:
        """A worker, when it shows its first sign of life."""
        worker = self.run()
        self.wait(lambda: any(one.name.endswith(f":{worker.pid}") for one in living_workers()), "a heartbeat")
        return worker

    def wait(self, condition: Callable[[], object], what: str, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            ended = [worker.returncode for worker in self.workers if worker.poll() not in (None, 0, -signal.SIGKILL)]
            assert not ended, f"a worker ended with {ended} before {what}\n{self.log[-4000:]}"
            assert time.monotonic() < deadline, f"no {what} within {seconds} s\n{self.log[-4000:]}"
            time.sleep(0.05)

    def close(self) -> None:
        for worker in self.workers:
            for process in [*descendants(worker.pid), worker.pid]:
                with_suppressed(os.kill, process, signal.SIGKILL)
            worker.wait()


@pytest.fixture
def workshop(tmp_path: Path, room: Room) -> Iterator[Workshop]:
    shop = Workshop(tmp_path)
    yield shop
    shop.close()


def test_drain_works_off_everything_and_ends(workshop: Workshop, room: Room) -> None:
    jobs = room.put("trial", *map(str, range(20)))
    worker = workshop.run("--drain")
    assert worker.wait(120) == 0, workshop.log
    assert states(room, jobs) == {"done"} and effects(room) == 20


@pytest.mark.parametrize("arguments", [("--drain", "--kinds", "nonsense"), ("--kinds", "trial"), ("--no-such-flag",)])
def test_wrong_usage_ends_with_2(workshop: Workshop, arguments: tuple[str, ...]) -> None:
    assert workshop.run(*arguments).wait(120) == 2, workshop.log


def test_drain_of_named_kinds(workshop: Workshop, room: Room) -> None:
    trial, moody = room.put("trial", "a"), room.put("moody", "b")
    assert workshop.run("--drain", "--kinds", "moody").wait(120) == 0, workshop.log
    assert (states(room, trial), states(room, moody)) == ({"queued"}, {"done"})


@pytest.mark.chaos
@pytest.mark.requirement("OJ-03")
def test_a_worker_killed_in_the_middle_of_a_job(workshop: Workshop, room: Room) -> None:
    """kill -9 while the handler's transaction is open: the attempt is counted, the lease runs out, another process takes the job, and
    there is exactly one effect."""
    (workshop.folder / "hold").touch()
    workshop.start()
    (job,) = room.put("trial", "a")
    workshop.wait((workshop.folder / "a.1").exists, "first attempt")
    workshop.wait((workshop.folder / "a.1").read_text, "process id")
    assert (room.job(job).state, room.job(job).attempts) == ("running", 1)
    os.kill(int((workshop.folder / "a.1").read_text()), signal.SIGKILL)
    (workshop.folder / "hold").unlink()
    workshop.wait(lambda: room.job(job).state == "done", "second attempt")
    done = room.job(job)
    assert (done.attempts, done.fence, effects(room)) == (2, 2, 1) and (workshop.folder / "a.2").exists()


@pytest.mark.chaos
def test_a_whole_worker_killed_leaves_no_process_and_no_job_behind(workshop: Workshop, room: Room) -> None:
    (workshop.folder / "hold").touch()
    first = workshop.start()
    jobs = room.put("trial", "a", "b", "c")
    workshop.wait((workshop.folder / "a.1").exists, "first attempt")
    family = descendants(first.pid)
    assert len(family) >= 4
    first.kill()
    first.wait()
    workshop.wait(lambda: not any(map(alive, family)), "end of the processes of the killed worker")
    (workshop.folder / "hold").unlink()
    workshop.start()
    workshop.wait(lambda: states(room, jobs) == {"done"}, "work of the second worker")
    assert effects(room) == 3


@pytest.mark.chaos
def test_an_emptied_broker_loses_nothing(workshop: Workshop, room: Room) -> None:
    (workshop.folder / "hold").touch()
    workshop.start()
    jobs = room.put("trial", "a", "b")
    workshop.wait((workshop.folder / "a.1").exists, "first attempt")
    jobs += room.put("trial", "c", "d")
    empty_broker()
    (workshop.folder / "hold").unlink()
    workshop.wait(lambda: states(room, jobs) == {"done"}, "work that nobody rang for")
    empty_broker()
    jobs += room.put("trial", "e")
    empty_broker()
    workshop.wait(lambda: states(room, jobs) == {"done"}, "work that nobody rang for")
    assert effects(room) == 5


@pytest.mark.requirement("OJ-07")
def test_a_retry_comes_soon_after_its_time(workshop: Workshop, room: Room) -> None:
    (workshop.folder / "sulk").write_text(CANARY)
    workshop.start()
    (job,) = room.put("moody", "a")
    workshop.wait(lambda: room.job(job).attempts >= 2, "second attempt")
    (workshop.folder / "sulk").unlink()
    workshop.wait(lambda: room.job(job).state == "done", "a good attempt")
    assert effects(room) == 1 and CANARY not in workshop.log and "ValueError" in workshop.log


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_lets_the_job_in_hand_end(workshop: Workshop, room: Room, how: signal.Signals) -> None:
    (workshop.folder / "hold").touch()
    worker = workshop.start()
    (job,) = room.put("trial", "a")
    workshop.wait((workshop.folder / "a.1").exists, "first attempt")
    family = descendants(worker.pid)
    worker.send_signal(how)
    (workshop.folder / "hold").unlink()
    assert worker.wait(30) == 0, workshop.log
    assert room.job(job).state == "done" and effects(room) == 1
    assert not any(map(alive, family)) and living_workers() == []


@pytest.mark.chaos
def test_a_signal_to_the_whole_group_does_not_hang_the_worker(workshop: Workshop, room: Room) -> None:
    worker = workshop.start()
    family = descendants(worker.pid)
    os.killpg(worker.pid, signal.SIGTERM)
    assert worker.wait(30) == 0, workshop.log
    assert not any(map(alive, family))


@pytest.mark.chaos
def test_idle_processes_killed_from_outside_are_replaced(workshop: Workshop, room: Room) -> None:
    """An idle process may be killed while it holds the lock of the queue; then its successor waits for ever and is replaced in turn."""
    worker = workshop.start()
    workshop.wait(lambda: rings() == 0, "an idle worker")
    for process in leaves(worker.pid):
        with_suppressed(os.kill, process, signal.SIGKILL)
    (job,) = room.put("trial", "a")
    workshop.wait(lambda: room.job(job).state == "done", "work after the killing", seconds=120)
    assert effects(room) == 1


def states(room: Room, jobs: list[ProcessingJob]) -> set[str]:
    with tenant_context(room.tenant_id):
        return set(ProcessingJob.objects.filter(pk__in=[job.pk for job in jobs]).values_list("state", flat=True))


def effects(room: Room) -> int:
    with tenant_context(room.tenant_id):
        return Tenant.objects.get().revision


def empty_broker() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_q_ormq")


def rings() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_q_ormq")
        return int(cursor.fetchone()[0])


def descendants(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def leaves(pid: int) -> list[int]:
    return [child.pid for child in psutil.Process(pid).children(recursive=True) if not child.children()]


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def with_suppressed(call: Callable[..., object], *arguments: object) -> None:
    try:
        call(*arguments)
    except ProcessLookupError:
        return
