"""Is it alive, and is it ready (design/06 Operations)?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.core import clock
from apps.core.errors import AuthorityUnavailable
from apps.core.isolation import system_context
from apps.jobs.heartbeats import living_workers
from apps.retention.backups import backup_standing
from apps.retention.ledger import guard
from apps.retrieval.analysis import ANALYSIS_VERSION
from apps.retrieval.models import IndexState
from memory_platform.database_url import knock

if TYPE_CHECKING:
    from collections.abc import Mapping

OK = "ok"
ABSENT = "absent"
UNREACHABLE = "unreachable"
PENDING = "pending"
UNKNOWN = "unknown"
OUTDATED = "outdated"
UNWRITTEN = "unwritten"
COPY_FAILING = "copy_failing"

_CONNECT_SECONDS = 2
_FRESH_SECONDS = 1.0  # anybody may ask; the database is asked at most this often


@dataclass(frozen=True, slots=True)
class Readiness:
    """``ready`` needs the database and its schema. An absent worker is named, and accepted work waits for it.

    ``ledger`` is how the database stands to the ledger of revocations: with anything but ``ok`` and ``none`` (nothing was ever
    deleted) no memory is given out; ``unwritten`` and ``copy_failing`` say that it is whole and cannot be written, here or there.
    """

    status: str
    database: str
    migrations: str
    worker: str
    index: str
    ledger: str
    backup: str

    @property
    def ready(self) -> bool:
        return self.status == "ready"


class NotReady(AuthorityUnavailable):
    """What is missing, named by part."""

    code = "not_ready"
    title = "Not ready"
    detail = "The platform cannot answer yet; see checks."

    def __init__(self, checks: Mapping[str, str]) -> None:
        super().__init__()
        self.checks = dict(checks)

    def extras(self) -> dict[str, object]:
        return {"checks": self.checks}


class _Known:
    """What need not be asked again: the schema does not change under a running process, the rest not within a second."""

    migrated: bool = False
    at: float = float("-inf")
    found: Readiness | None = None


def readiness() -> Readiness:
    """Ask every part; at most once a second."""
    if _Known.found is None or clock.monotonic() - _Known.at > _FRESH_SECONDS:
        _Known.found, _Known.at = _look(), clock.monotonic()
    return _Known.found


def _look() -> Readiness:
    if not _reachable():
        return Readiness("unavailable", UNREACHABLE, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)
    try:
        if not _migrated():
            return Readiness("unavailable", OK, PENDING, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)
        return Readiness("ready", OK, OK, OK if living_workers() else ABSENT, _index(), _ledger(), backup_standing())
    except DatabaseError:
        connection.close()
        return Readiness("unavailable", UNREACHABLE, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)


def _reachable() -> bool:
    try:
        knock(connection.get_connection_params(), _CONNECT_SECONDS)
    except psycopg.Error:
        return False
    return True


def _migrated() -> bool:
    if not _Known.migrated:
        executor = MigrationExecutor(connection)
        _Known.migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
    return _Known.migrated


def _index() -> str:
    """``outdated`` while a namespace's index was written by another version of the text analysis."""
    with system_context():
        return OUTDATED if IndexState.objects.exclude(analysis_version=ANALYSIS_VERSION).exists() else OK


def _ledger() -> str:
    standing = guard.standing()
    if standing.whole and guard.late():
        return UNWRITTEN
    if standing.whole and guard.copy_standing() == "failing":
        return COPY_FAILING
    return standing.value
