"""Metrics in Prometheus' text format: how many, how long, how late; never whose."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import Error as DatabaseError
from django.db import connection
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from apps.core import clock
from apps.core.isolation import system_context
from apps.retention.backups import newest_age
from apps.retention.ledger import guard
from apps.retention.ledger.records import pending_since
from apps.retention.readiness import barrier_is_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric

_PREFIX = "memory_platform_"
_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series per counter that nobody reads
_here = CollectorRegistry()
_requests = Counter(_PREFIX + "requests", "Requests answered.", ("method", "route", "status"), registry=_here)
_seconds = Histogram(
    _PREFIX + "request_seconds", "Time to answer, in seconds.", ("method", "route"), registry=_here, buckets=_BUCKETS
)

# Finished jobs are not counted here: they may be millions, and every number below comes from a small partial index.
_NUMBERS = """
    SELECT
        (SELECT count(*) FROM jobs_processingjob WHERE state IN ('queued', 'retry_wait') AND state = 'queued'),
        (SELECT count(*) FROM jobs_processingjob WHERE state IN ('queued', 'retry_wait') AND state = 'retry_wait'),
        (SELECT count(*) FROM jobs_processingjob WHERE state = 'running'),
        (SELECT count(*) FROM jobs_processingjob WHERE state = 'dead'),
        (SELECT coalesce(max(extract(epoch FROM %(now)s - next_try_at)), 0) FROM jobs_processingjob
         WHERE state IN ('queued', 'retry_wait') AND next_try_at <= %(now)s),
        (SELECT count(*) FROM jobs_outbox WHERE delivered_at IS NULL),
        (SELECT coalesce(max(extract(epoch FROM %(now)s - created_at)), 0) FROM jobs_outbox WHERE delivered_at IS NULL),
        (SELECT count(*) FROM jobs_outbox WHERE delivered_at IS NULL AND attempts > 1),
        (SELECT min(extract(epoch FROM %(now)s - seen_at)) FROM jobs_workerheartbeat)
"""


def observe(method: str, route: str, status: int, seconds: float) -> None:
    """Count one answered request."""
    _requests.labels(method, route, str(status)).inc()
    _seconds.labels(method, route).observe(seconds)


def render() -> bytes:
    """Everything there is to say now. With several web processes (PROMETHEUS_MULTIPROC_DIR) their requests are added up."""
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        counted = generate_latest(shared)
    else:
        counted = generate_latest(_here)
    asked = CollectorRegistry()
    asked.register(_Asked())
    return counted + generate_latest(asked)


class _Asked(Collector):
    """What is asked of the database and the pool at the time of the scrape."""

    def collect(self) -> Iterator[Metric]:
        try:
            yield from _from_database()
            yield from _of_forgetting()
            reachable = 1
        except DatabaseError:
            connection.close()
            reachable = 0
        yield GaugeMetricFamily(_PREFIX + "database_reachable", "Whether the database answered this scrape.", reachable)
        yield from _from_pool()


def _from_database() -> Iterator[Metric]:
    with system_context(), connection.cursor() as cursor:
        cursor.execute(_NUMBERS, {"now": clock.now()})
        *counts, job_lag, waiting, outbox_lag, failing, heartbeat = cursor.fetchone()
    jobs = GaugeMetricFamily(_PREFIX + "jobs", "Jobs that are not done, by state.", labels=("state",))
    for state, count in zip(("queued", "retry_wait", "running", "dead"), counts, strict=True):
        jobs.add_metric((state,), count)
    yield jobs
    yield GaugeMetricFamily(_PREFIX + "job_lag_seconds", "For how long the most delayed job has been due.", float(job_lag))
    yield GaugeMetricFamily(_PREFIX + "outbox_messages", "Messages that wait for delivery.", waiting)
    yield GaugeMetricFamily(_PREFIX + "outbox_failing_messages", "Messages that a consumer has refused at least once.", failing)
    yield GaugeMetricFamily(_PREFIX + "outbox_lag_seconds", "Age of the oldest message that waits.", float(outbox_lag))
    if heartbeat is not None:
        yield GaugeMetricFamily(_PREFIX + "worker_heartbeat_age_seconds", "Since the last sign of life.", float(heartbeat))


def _of_forgetting() -> Iterator[Metric]:
    """Whether memory is given out, what the ledger lacks, and how old the newest backup is."""
    whole = int(barrier_is_whole())
    yield GaugeMetricFamily(_PREFIX + "barrier_whole", "Whether database and ledger agree; 0: no memory is given out.", whole)
    waiting = pending_since(timedelta())
    yield GaugeMetricFamily(_PREFIX + "ledger_unwritten_entries", "Revocations and holds that wait for the ledger.", waiting)
    failing = int(guard.copy_standing() == "failing")
    yield GaugeMetricFamily(_PREFIX + "ledger_copy_failing", "Whether the ledger's second location lags behind.", failing)
    age = newest_age()
    if age is not None:
        yield GaugeMetricFamily(_PREFIX + "backup_age_seconds", "Since the newest finished backup.", age.total_seconds())


def _from_pool() -> Iterator[Metric]:
    pool = getattr(connection, "pool", None)
    if pool is None:
        return
    numbers = pool.get_stats()
    for name, text in (
        ("pool_size", "Connections of this process."),
        ("pool_available", "Connections of this process that are free."),
        ("requests_waiting", "Threads of this process that wait for a connection."),
        ("requests_errors", "Times a thread of this process got no connection."),
    ):
        yield GaugeMetricFamily(f"{_PREFIX}database_{name}", text, numbers.get(name, 0))
