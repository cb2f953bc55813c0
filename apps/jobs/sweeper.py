"""The sweeper: what a worker's first process does while the cluster works.

Every second it asks the tables, not the broker, whether anything is due, and rings: an empty or flushed broker loses nothing
and a retry starts about when it should. It also notices a cluster that is there but does nothing, and starts it anew.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog
from django.db import Error as DatabaseError
from django.db import connection

from apps.core import clock
from apps.core.isolation import system_context
from apps.core.models import RateWindow
from apps.jobs import doorbell, heartbeats
from apps.jobs.look import look
from apps.jobs.models import Outbox, ProcessingJob, WorkerHeartbeat
from apps.jobs.runs import error_code
from apps.jobs.states import State
from apps.tenants import idempotency

if TYPE_CHECKING:
    import threading

log = structlog.get_logger(__name__)
_chores: list[Callable[[], int]] = []

LOOK_EVERY = 1.0
# Idle processes killed from outside can leave a lock behind on which the next ones wait for ever; only their silence shows it.
SILENT_SECONDS = 30.0
_TIDY_EVERY = 3600.0
_TIDIED_AT_ONCE = 2000
KEPT_DONE = timedelta(days=30)  # finished jobs; that there is no row any more means the same as done
KEPT_DELIVERED = timedelta(days=7)
KEPT_HEARTBEAT = timedelta(days=1)
KEPT_IDLE = timedelta(days=1)  # counts of credentials that send nothing


def tidy() -> int:
    """Remove finished jobs, delivered messages, old signs of life, remembered answers and counts; at most a few thousand rows
    of each. Returns how many.
    """
    now = clock.now()
    removed = 0
    with system_context():
        for rows in (
            ProcessingJob.objects.filter(state=State.DONE, finished_at__lt=now - KEPT_DONE),
            Outbox.objects.filter(delivered_at__lt=now - KEPT_DELIVERED),
            WorkerHeartbeat.objects.filter(seen_at__lt=now - KEPT_HEARTBEAT),
            RateWindow.objects.filter(window_started_at__lt=now - KEPT_IDLE),
        ):
            few = rows.values_list("pk", flat=True)[:_TIDIED_AT_ONCE]
            removed += rows.model.objects.filter(pk__in=list(few)).delete()[0]
    return removed + idempotency.forget_expired(now) + sum(chore() for chore in _chores)


def register_chore(chore: Callable[[], int]) -> None:
    """Let the worker call something of a higher floor once an hour; it returns how many rows it ended."""
    if chore not in _chores:
        _chores.append(chore)


def run_worker(stop: threading.Event) -> None:
    """Run a cluster and watch over it until ``stop``. Raises ClusterError if it cannot be started."""
    name = heartbeats.introduce()
    cluster = doorbell.Cluster()
    try:
        cluster.start()
        log.info("worker_started", worker=name)
        _Watch(cluster, name).run(stop)
    finally:
        cluster.stop()
        connection.close()
        _leave()
    log.info("worker_stopped", worker=name)


class _Watch:
    def __init__(self, cluster: doorbell.Cluster, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.rung_at = self.tidied_at = float("-inf")
        self.fresh_since = clock.monotonic()  # since when silence would mean something
        self.reachable = True

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(LOOK_EVERY):
            try:
                self._turn()
            except DatabaseError as trouble:
                if self.reachable:
                    log.warning("database_unreachable", error=error_code(trouble))
                self.reachable = False
                connection.close()
                continue
            if not self.reachable:
                log.info("database_reachable")
                self.reachable = True
                self.fresh_since = clock.monotonic()

    def _turn(self) -> None:
        found = look()
        if not self.cluster.alive:
            self._start_anew("worker_cluster_died")
        elif not found.busy and self._silent():
            self._start_anew("worker_cluster_silent")
        if found.due or clock.monotonic() - self.rung_at >= heartbeats.EVERY:
            # Rung also when nothing is due: answering is what makes the worker's sign of life true.
            doorbell.ring("sweep")
            self.rung_at = clock.monotonic()
        if clock.monotonic() - self.tidied_at >= _TIDY_EVERY:
            self.tidied_at = clock.monotonic()
            tidy()

    def _silent(self) -> bool:
        if clock.monotonic() - self.fresh_since < SILENT_SECONDS:
            return False
        seen = WorkerHeartbeat.objects.filter(pk=self.name).values_list("seen_at", flat=True).first()
        return seen is None or clock.now() - seen > timedelta(seconds=SILENT_SECONDS)

    def _start_anew(self, event: str) -> None:
        log.error(event, worker=self.name)
        self.cluster.kill()
        self.cluster.start()
        self.fresh_since = clock.monotonic()


def _leave() -> None:
    try:
        heartbeats.leave()
    except DatabaseError as trouble:
        log.warning("heartbeat_not_removed", error=error_code(trouble))
    finally:
        connection.close()
