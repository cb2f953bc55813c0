"""Keeps the processes of one installation running, and ends them together.

Each child leads a process group, so that Ctrl-C in a terminal reaches us alone. It gets its stop signal on its main process only
(a signal to the whole group would hang the worker's cluster), is started again when it dies, and is told to stop by the kernel
when we are killed ourselves.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Self

from memory_platform.home import BASE_DIR

logger = logging.getLogger(__name__)

STOP_DEADLINE = 12.0  # seconds for all children together, then they are killed
_RESTARTS = 5
_RESTART_WINDOW = 60.0
_LOOK_EVERY = 0.5
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class TooManyRestarts(Exception):
    """A process or the database dies again and again; the message names it."""


@dataclass(slots=True)
class RestartBudget:
    """At most five restarts a minute: more than that is no accident, and a log full of restarts helps nobody."""

    name: str
    _at: deque[float] = field(default_factory=deque)

    def spend(self) -> None:
        """Count one restart. Raises TooManyRestarts."""
        now = time.monotonic()
        while self._at and now - self._at[0] > _RESTART_WINDOW:
            self._at.popleft()
        if len(self._at) >= _RESTARTS:
            msg = f"{self.name} died {_RESTARTS + 1} times within {_RESTART_WINDOW:.0f} s; look at the lines above for the reason"
            raise TooManyRestarts(msg)
        self._at.append(now)


@dataclass(slots=True)
class Child:
    """One long-running process of ours."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    pass_fds: tuple[int, ...] = ()
    budget: RestartBudget = field(init=False)
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.budget = RestartBudget(self.name)

    def start(self) -> None:
        self._end_remains()
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            env=dict(self.environment),
            cwd=BASE_DIR,
            pass_fds=self.pass_fds,
            process_group=0,
            preexec_fn=_ending_with(os.getpid()),  # noqa: PLW1509 - this process has no other threads when it starts children
        )

    @property
    def exit_code(self) -> int | None:
        return self.process.poll() if self.process else None

    def terminate(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._end_remains()

    def _end_remains(self) -> None:
        """What a killed child leaves behind. Nothing is lost with it: requests were not answered, and jobs have leases."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):  # the usual case: nobody is left
            os.killpg(self.process.pid, signal.SIGKILL)


class Supervisor:
    """Runs children until SIGINT or SIGTERM. Use as a context manager: leaving it ends the children, whatever happened."""

    def __init__(self, children: Sequence[Child], *, tend: Callable[[], None] = lambda: None) -> None:
        """``tend`` is called at every look around, for what has to be kept alive besides the children."""
        self.children = list(children)
        self._tend = tend
        self._stop_requests = 0
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_reader, False)
        os.set_blocking(self._wake_writer, False)

    @property
    def stopping(self) -> bool:
        return self._stop_requests > 0

    def __enter__(self) -> Self:
        signal.set_wakeup_fd(self._wake_writer, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._request_stop)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)  # wakes the loop
        for child in self.children:
            child.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._end_children()
        signal.set_wakeup_fd(-1)
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def look_around(self, wait: float = _LOOK_EVERY) -> None:
        """One turn of the loop: sleep at most ``wait`` seconds, then start again what died. Raises TooManyRestarts."""
        self._sleep(wait)
        if self.stopping:
            return
        self._tend()
        for child in self.children:
            if (code := child.exit_code) is not None:
                child.budget.spend()
                logger.warning("%s ended with exit code %d and is started again", child.name, code)
                child.start()

    def _sleep(self, seconds: float) -> None:
        if self.stopping:
            return
        select.select([self._wake_reader], [], [], seconds)
        try:
            os.read(self._wake_reader, 4096)
        except BlockingIOError:
            return

    def _request_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop_requests += 1

    def _end_children(self) -> None:
        for child in self.children:
            child.terminate()
        deadline = time.monotonic() + STOP_DEADLINE
        impatience = max(self._stop_requests, 1)
        while any(child.exit_code is None for child in self.children if child.process):
            if time.monotonic() > deadline or self._stop_requests > impatience:
                break
            select.select([self._wake_reader], [], [], 0.05)
            try:
                os.read(self._wake_reader, 4096)
            except BlockingIOError:
                continue
        for child in self.children:
            if child.process is not None and child.process.poll() is None:
                logger.warning("%s did not stop in time and is killed", child.name)
            child.kill()


def _ending_with(parent: int) -> Callable[[], None] | None:
    """What a child runs first: from now on the kernel sends it SIGTERM when its parent is gone, however that happened."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def follow_parent() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # it died between the fork and the line above
            os._exit(1)

    return follow_parent
