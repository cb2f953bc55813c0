"""System checks: one set of settings makes django-q2 safe as a doorbell (design/03 Jobs); anything else refuses to start."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.checks import Error, register

if TYPE_CHECKING:
    from collections.abc import Iterator

TAG = "jobs"
_DATABASE_CACHE = "django.core.cache.backends.db.DatabaseCache"

# Setting → the only value, and what another one does (measured on 1.11.1).
_FIXED: dict[str, tuple[object, str]] = {
    "queue_limit": (1, "rings that wait in a process for longer than `retry` are run again by another"),
    "bulk": (1, "rings fetched together and not begun are run again by another"),
    "max_attempts": (1, "a ring that kills its worker is rung again without end; attempts are counted on the job instead"),
    "ack_failures": (True, "a failed ring would come back for ever"),
    "save_limit": (-1, "every ring would leave a row behind"),
    "sync": (False, "handlers would run inside the request"),
    "scheduler": (False, "schedules are not used, the sweeper looks every second"),
    "error_reporter": ({}, "exceptions would leave the house with their texts"),
}
_DEFAULTS: dict[str, object] = {"bulk": 1, "sync": False, "error_reporter": {}, "scheduler": True}


@register(TAG)
def check_cluster_settings(**_kwargs: Any) -> list[Error]:  # noqa: ANN401 - signature of Django
    """Every unsafe setting is an error with the value it must have."""
    return list(unsafe_settings(getattr(settings, "Q_CLUSTER", {}), getattr(settings, "CACHES", {})))


def unsafe_settings(cluster: dict[str, Any], caches: dict[str, Any]) -> Iterator[Error]:
    """One error per setting of Q_CLUSTER that makes the doorbell lose, repeat or publish something."""
    for name, (only, why) in _FIXED.items():
        found = cluster.get(name, _DEFAULTS.get(name))
        if found != only or isinstance(found, bool) != isinstance(only, bool):
            yield Error(f"Q_CLUSTER['{name}'] must be {only!r}: {why}.", id="jobs.E001")
    workers, timeout, retry = (cluster.get(name) for name in ("workers", "timeout", "retry"))
    if not isinstance(workers, int) or workers < 1:
        yield Error("Q_CLUSTER['workers'] must be a whole number of at least 1.", id="jobs.E002")
        return
    if not isinstance(timeout, int) or timeout < 1 or not isinstance(retry, int):
        yield Error("Q_CLUSTER['timeout'] and Q_CLUSTER['retry'] must be whole numbers of seconds.", id="jobs.E003")
        return
    least = timeout * (1 + math.ceil(1 / workers))
    if retry <= least:
        yield Error(f"Q_CLUSTER['retry'] must be more than {least} s (timeout × (1 + queue_limit / workers)).", id="jobs.E004")
    if caches.get(cluster.get("cache", "default"), {}).get("BACKEND") != _DATABASE_CACHE:
        yield Error("Q_CLUSTER['cache'] must name a cache in the database: other processes have to see it.", id="jobs.E005")
    if not cluster.get("orm") and not cluster.get("redis"):
        yield Error("Q_CLUSTER needs a broker: 'orm' (default) or 'redis'.", id="jobs.E006")
