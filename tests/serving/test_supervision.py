"""Children that die, children that will not stop, and the signal that ends them all."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from memory_platform import supervision
from memory_platform.supervision import Child, Supervisor, TooManyRestarts


@pytest.fixture(autouse=True)
def signals():
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def child(script: str, *arguments: int) -> Child:
    command = [sys.executable, "-c", f"import os, signal, subprocess, sys, time; {script}", *map(str, arguments)]
    return Child("the helper", command, dict(os.environ), pass_fds=arguments)


def test_a_child_that_dies_again_and_again_is_given_up_by_name():
    with Supervisor([child("sys.exit(3)")]) as supervisor, pytest.raises(TooManyRestarts, match="the helper died 6 times"):
        keep_looking(supervisor)


def test_a_child_that_ignores_the_stop_signal_is_killed(monkeypatch):
    monkeypatch.setattr(supervision, "STOP_DEADLINE", 0.3)
    reader, writer = os.pipe()
    stubborn = child("signal.signal(signal.SIGTERM, signal.SIG_IGN); os.close(int(sys.argv[1])); time.sleep(60)", writer)
    with Supervisor([stubborn]):
        os.close(writer)
        assert os.read(reader, 1) == b"", "it listens no more"
    os.close(reader)
    assert stubborn.exit_code == -signal.SIGKILL


def test_processes_of_a_killed_child_end_with_it():
    reader, writer = os.pipe()
    parent = child("subprocess.Popen(['sleep', '60'], pass_fds=[int(sys.argv[1])]); time.sleep(60)", writer)
    with Supervisor([parent]):
        os.close(writer)
        os.kill(parent.process.pid, signal.SIGKILL)
    assert os.read(reader, 1) == b"", "the last process that held the pipe is gone"
    os.close(reader)


def test_a_signal_asks_for_the_end():
    with Supervisor([child("time.sleep(60)")]) as supervisor:
        assert not supervisor.stopping
        os.kill(os.getpid(), signal.SIGTERM)
        supervisor.look_around(5)
        assert supervisor.stopping
    assert supervisor.children[0].exit_code == -signal.SIGTERM


def keep_looking(supervisor: Supervisor) -> None:
    while True:
        supervisor.look_around(0.05)
