"""The last user stops the server, whatever happens to it on the way in or out."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from memory_platform.embedded import server
from memory_platform.embedded.leases import lease
from memory_platform.embedded.places import Places
from tests.database.conftest import Holder, query, server_pid

pytestmark = pytest.mark.chaos


@pytest.mark.parametrize("start", [[], ["--without-sigint"]], ids=["at a prompt", "in the background of a shell"])
def test_signals_while_it_leaves_wait_until_the_server_is_stopped(home, holder, start):
    one = holder(*start)
    one.wait_up()
    pid = server_pid(home)
    with start_lock(home) as locked:  # somebody else is starting or stopping: leaving has to wait
        one.process.stdin.write("\n")
        one.process.stdin.flush()
        wait_until(lambda: waits_for(locked, one))
        one.process.send_signal(signal.SIGTERM)
        one.process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            one.process.wait(0.3)
    assert one.process.wait(60) != 0, "the signal is not forgotten"
    assert server_pid(home) is None
    assert not psutil.pid_exists(pid)


def test_a_forked_child_that_outlives_its_parent_is_no_user(home, holder):
    """A worker that was killed leaves processes behind for a moment, and just then `serve` leaves."""
    doomed = holder("--with-child")
    doomed.wait_up()
    [child] = [one for one in psutil.Process(doomed.process.pid).children() if one.name() != "postgres"]
    pid = server_pid(home)
    doomed.kill()
    try:
        with lease(home):
            assert server_pid(home) == pid
        assert child.is_running()
        assert server_pid(home) is None
    finally:
        child.kill()


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_a_start_that_is_interrupted_leaves_no_server(home, monkeypatch, interruption):
    """Before the server has written its pid file nobody could find it later."""

    def interrupted(_places: Places, pid: int) -> bool:
        assert psutil.pid_exists(pid)
        raise interruption

    monkeypatch.setattr(server, "_becomes_reachable", interrupted)
    with pytest.raises(interruption), lease(home):
        pass
    data = str(Places.of(home).data)
    assert [one.pid for one in psutil.process_iter(["cmdline"]) if data in (one.info["cmdline"] or [])] == []
    monkeypatch.undo()
    with lease(home):
        assert query(home, "SELECT word FROM kept") == [("tide",)]


def test_a_signal_while_it_waits_to_start_ends_it(home, holder):
    with start_lock(home) as locked:
        one = holder()
        wait_until(lambda: waits_for(locked, one))
        one.process.send_signal(signal.SIGTERM)
        assert one.process.wait(60) == 128 + signal.SIGTERM
    assert server_pid(home) is None


@contextmanager
def start_lock(home: Path) -> Iterator[int]:
    """Held by us meanwhile; gives the inode of its file."""
    descriptor = os.open(Places.of(home).start_lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield os.fstat(descriptor).st_ino
    finally:
        os.close(descriptor)


def waits_for(inode: int, one: Holder) -> bool:
    """Whether a process is blocked on the lock; the kernel lists it behind an arrow."""
    lines = Path("/proc/locks").read_text().splitlines()
    return any("->" in line and f" {one.process.pid} " in line and f":{inode} " in line for line in lines)


def wait_until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
