"""The doorbell: tells a worker that there may be work. The only module that speaks to django-q2.

A ring is a hint. The jobs themselves are rows of ours, so a ring that is lost, doubled or late costs time and nothing else; the
sweeper finds what nobody rang for. That is why ringing never fails a request, and why a burst of jobs rings only now and then.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from contextlib import suppress
from functools import cache
from multiprocessing import Event, Value
from time import sleep
from typing import TYPE_CHECKING, Any

import structlog
from django.conf import settings
from django.db import connection, connections

from apps.core import clock
from apps.core.ids import new_id
from apps.jobs.registry import prepare_to_work
from apps.jobs.runs import error_code

if TYPE_CHECKING:
    from uuid import UUID

log = structlog.get_logger(__name__)

# A process rings at most once in this time. A worker that was rung and finds nothing looks once more after a longer time, so
# whatever was put down meanwhile is still found by the ring before.
QUIET_SECONDS = 0.05
_LAST_LOOK_SECONDS = 0.1

# Then a worker that still has work rings for itself, so that a task of the cluster always ends long before its timeout.
_DRAIN_SECONDS = 30.0

_START_SECONDS = 30.0
STOP_SECONDS = 10.0

_KEEP_CONNECTION_SECONDS = 300

_stopping = Value("b", 0, lock=False)  # one byte that all processes of the cluster share


class ClusterError(Exception):
    """The cluster did not start."""


# -- ringing


class _Rung:
    at: float = float("-inf")


def ring(kind: str, job_id: UUID | None = None) -> None:
    """Tell the workers that work of this kind may be due; call after commit. Never raises."""
    if clock.monotonic() - _Rung.at < QUIET_SECONDS or connection.in_atomic_block:
        return
    try:
        _ring(kind, "" if job_id is None else str(job_id))
        _Rung.at = clock.monotonic()
    except Exception as failure:  # noqa: BLE001 - the work is safe in its table; the request that made it must not fail
        log.warning("doorbell_failed", kind=kind, error=error_code(failure))


def _ring(kind: str, job_id: str) -> None:
    from django_q.tasks import async_task  # noqa: PLC0415 - loads the cluster's settings

    coalescing = {"broker": _coalescing_broker()} if settings.Q_CLUSTER.get("orm") else {}
    async_task("apps.jobs.doorbell.answer", kind, job_id, **coalescing)


@cache
def _coalescing_broker() -> Any:  # noqa: ANN401 - a class made below
    """The broker in the database, as a ringer uses it: one statement, and none waits twice."""
    from django_q.brokers.orm import ORM  # noqa: PLC0415 - see above

    class Coalescing(ORM):  # type: ignore[misc]
        @staticmethod
        def get_connection(list_key: str | None = None) -> None:
            """Nothing: the library's would give the connection of the request back in the middle of it."""

        def enqueue(self, task: str) -> int:
            """A ring that nobody has heard yet will be answered later than now, so it stands for this one too."""
            with connection.cursor() as cursor:
                cursor.execute(_PUT_RING, {"key": self.list_key, "payload": task, "now": clock.now()})
                return int(cursor.rowcount)

    return Coalescing()


_PUT_RING = """
    INSERT INTO django_q_ormq (key, payload, lock) SELECT %(key)s, %(payload)s, %(now)s
    WHERE NOT EXISTS (SELECT 1 FROM django_q_ormq WHERE key = %(key)s AND lock <= %(now)s)
"""


# -- answering


def answer(_kind: str, _job_id: str) -> str:
    """What a worker does when it is rung: everything that is due. Returns a word about how it ended.

    Nothing is ever raised from here, because django-q2 stores the text of exceptions, and a handler's may hold private text.
    """
    from django_q.exceptions import TimeoutException  # noqa: PLC0415 - loads the cluster's settings

    try:
        return _work((TimeoutException,))
    except TimeoutException:
        return "timeout"
    except Exception as failure:  # noqa: BLE001 - see above
        connection.close()
        log.error("drain_failed", error=error_code(failure))  # noqa: TRY400 - without its message
        return "failed"


def _work(timeouts: tuple[type[BaseException], ...]) -> str:
    from apps.jobs.runner import drain  # noqa: PLC0415 - handlers enqueue, and enqueueing rings

    until = clock.monotonic() + _DRAIN_SECONDS
    looked_twice = False
    while not stopping():
        left = until - clock.monotonic()
        if left <= 0:
            ring("more")
            return "more"
        if not drain(seconds=left, should_stop=stopping, timeouts=timeouts).nothing:
            looked_twice = False
        elif looked_twice:
            return "idle"
        else:
            looked_twice = True
            sleep(_LAST_LOOK_SECONDS)
    return "stopping"


def stopping() -> bool:
    """Whether the worker was asked to end; true in all of its processes at once."""
    return bool(_stopping.value)


# -- the cluster


class Cluster:
    """The processes of django-q2, under a parent that stays in charge.

    They form a process group of their own, so that a signal to the parent's group reaches the parent only: the cluster hangs when
    all of its processes are told to stop at once. And they end when the parent does, however it ends.
    """

    def __init__(self) -> None:
        self.process: Any = None
        self._stop: Any = None
        self._lifeline: int | None = None

    def start(self) -> None:
        """Start the processes and wait until they stand. Raises ClusterError."""
        from django_q.cluster import get_mp_context  # noqa: PLC0415 - only in a worker

        use_plain_connections()
        prepare_to_work()
        _stopping.value = 0
        self._stop, started = Event(), Event()
        reader, self._lifeline = os.pipe()
        self.process = get_mp_context().Process(
            target=_guard, name="cluster", args=(self._stop, started, new_id(), reader, self._lifeline)
        )
        gc.collect()
        gc.freeze()  # what is there now stays shared between the processes instead of being touched by each collector
        self.process.start()
        os.close(reader)
        until = clock.monotonic() + _START_SECONDS
        while not started.is_set():
            if not self.process.is_alive() or clock.monotonic() > until:
                self.kill()
                raise ClusterError
            sleep(0.02)

    @property
    def alive(self) -> bool:
        return self.process is not None and bool(self.process.is_alive())

    def stop(self) -> None:
        """Let the work in hand end, at most for STOP_SECONDS; what does not end is killed, and its leases run out."""
        _stopping.value = 1
        if self.alive:
            # In a thread of its own: if a process died while it looked at the event, setting it waits for ever.
            threading.Thread(target=self._stop.set, daemon=True).start()
            self.process.join(STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End every process of the cluster now."""
        if self.process is not None and self.process.exitcode != 0:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.join()
        if self._lifeline is not None:
            os.close(self._lifeline)
        self.process = self._lifeline = None


def use_plain_connections() -> None:
    """Close the pool and go on without one: processes made by fork would share its connections, and each needs only one."""
    for one in connections.all():
        one.close()
        if hasattr(one, "close_pool"):
            one.close_pool()
        one.settings_dict["OPTIONS"].pop("pool", None)
        one.settings_dict["CONN_MAX_AGE"] = _KEEP_CONNECTION_SECONDS  # the broker is asked several times a second


def _guard(stop: Any, started: Any, cluster_id: UUID, reader: int, lifeline: int) -> None:  # noqa: ANN401
    """The first process of the cluster."""
    from django_q.cluster import Sentinel  # noqa: PLC0415 - only in a worker

    os.setpgid(0, 0)
    os.close(lifeline)
    threading.Thread(target=_die_with_parent, args=(reader,), daemon=True).start()
    try:
        Sentinel(stop, started, cluster_id)
    except Exception as failure:  # noqa: BLE001 - multiprocessing would print it with its message
        log.error("cluster_failed", error=error_code(failure))  # noqa: TRY400 - without its message
        os._exit(1)


def _die_with_parent(reader: int) -> None:
    """The other end of the pipe is held by the parent alone and closes with it."""
    os.read(reader, 1)
    os.killpg(os.getpgrp(), signal.SIGKILL)
