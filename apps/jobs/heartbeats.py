"""Signs of life. A worker's row is written by the process that does the work: it says that work gets done."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.core import clock
from apps.jobs.models import WorkerHeartbeat

EVERY = 5.0  # seconds between two beats
ALIVE = timedelta(seconds=30)  # a worker not seen for longer is not counted as there


class _Self:
    """Which worker this process belongs to; set before the cluster forks, empty everywhere else."""

    name: str = ""
    beaten_at: float = float("-inf")


@dataclass(frozen=True, slots=True)
class Worker:
    name: str
    seen_at: datetime


def introduce() -> str:
    """Give this process, and those it forks, the name of a worker: host and process id."""
    _Self.name = f"{socket.gethostname()[:100]}:{os.getpid()}"
    _Self.beaten_at = float("-inf")
    return _Self.name


def beat() -> None:
    """Note that this worker works; costs nothing when it has been noted a moment ago, or when this is no worker."""
    if not _Self.name or clock.monotonic() - _Self.beaten_at < EVERY / 2:
        return
    _Self.beaten_at = clock.monotonic()
    WorkerHeartbeat.objects.bulk_create(
        [WorkerHeartbeat(name=_Self.name, seen_at=clock.now())],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["seen_at"],
    )


def leave() -> None:
    """Take the row away at an orderly end."""
    WorkerHeartbeat.objects.filter(name=_Self.name).delete()


def living_workers() -> list[Worker]:
    """The workers seen lately, the latest first."""
    rows = WorkerHeartbeat.objects.filter(seen_at__gte=clock.now() - ALIVE).order_by("-seen_at")
    return [Worker(row.name, row.seen_at) for row in rows]
