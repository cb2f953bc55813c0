"""The storage layer: after it, no file of the database but its log holds bytes of what was deleted (design/05 layer ``storage``).

Deleting a row leaves its bytes in the page; VACUUM only marks the place as free. So the tables that can hold words are rewritten
(VACUUM FULL: heap, indexes and TOAST), one after the other. A rewrite shuts its table for its own duration (figures:
docs/concepts/forgetting.md); it waits at most briefly for the lock, so that it never makes others queue behind a long reader, and
deletions that wait at the same time share one rewrite.

Rows that somebody's older snapshot can still see survive a rewrite. Therefore each deletion first waits until every snapshot is
younger than its own work.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from django.db import OperationalError, connection

from apps.core import clock
from apps.jobs.registry import TryAgain
from apps.retention.layers import Cleared, Layer, RemainingCopy, Target
from apps.retention.models import DeletionStep
from apps.retention.private_tables import private_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCK: Final = 0x6D70_7265_7772  # of the whole database server's advisory locks ours has to be told apart
_LOCK_WAIT: Final = "500ms"  # while we wait for a table, whoever comes after us waits as well
_LOCK_TRIES: Final = 6
_SNAPSHOT_PATIENCE: Final = 10.0  # seconds for running statements to end
_LOOK_EVERY: Final = 0.05
_LOCK_NOT_AVAILABLE: Final = "55P03"
_IN_USE: Final = "storage_in_use"
_OLD_SNAPSHOT: Final = "old_snapshot_open"

# Snapshots of this database older than a transaction id, and whatever else keeps dead rows alive. A lazy VACUUM does not.
_OLDER_SNAPSHOTS: Final = """
    SELECT (SELECT count(*) FROM pg_stat_activity a WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
              AND a.backend_xmin IS NOT NULL AND age(a.backend_xmin) >= age(%(mark)s::xid)
              AND a.pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum))
         + (SELECT count(*) FROM pg_prepared_xacts p WHERE p.database = current_database()
              AND age(p.transaction) >= age(%(mark)s::xid))
         + (SELECT count(*) FROM pg_replication_slots s WHERE s.xmin IS NOT NULL AND age(s.xmin) >= age(%(mark)s::xid))
"""


class StorageLayer(Layer):
    """One chunk is one table. The cursor is JSON: ``{table: file number before its rewrite}``, which is also the proof."""

    key: ClassVar[str] = "storage"
    in_transaction: ClassVar[bool] = False

    def discover(self, target: Target) -> int:  # noqa: ARG002 - any deletion may have left bytes in any of them
        return len(private_tables())

    def clear(self, target: Target, cursor: str | None) -> Cleared:  # noqa: ARG002 - pages belong to all
        """Rewrite the next table, or learn that somebody else just did. Raises TryAgain when it is in use for too long."""
        rewritten: dict[str, int] = json.loads(cursor) if cursor else {}
        waiting = [table for table in private_tables() if table not in rewritten]
        if not waiting:
            return Cleared(0, None)
        _await_younger_snapshots()
        rewritten[waiting[0]] = rewrite(waiting[0])
        return Cleared(1, json.dumps(rewritten))

    def verify(self, target: Target) -> int:
        """Asked of the catalogue: tables that still are the file they were."""
        step = _step(target)
        cursor = None if step is None or step.checkpoint is None else step.checkpoint.get("cursor")
        before: dict[str, int] = json.loads(cursor) if cursor else {}
        now = {table: _file_of(table) for table in private_tables()}
        return sum(table not in before or before[table] == number for table, number in now.items())

    def remaining_copies(self, target: Target) -> list[RemainingCopy]:
        """The write-ahead log, which a server that nobody writes to overwrites late: the date is the earliest."""
        step = _step(target)
        if step is None or step.verified_at is None:
            return [RemainingCopy("database_pages", "until_rewritten"), RemainingCopy("write_ahead_log", "until_overwritten")]
        return [RemainingCopy("write_ahead_log", "until_overwritten", step.verified_at + _kept_for_recovery())]


def rewrite(table: str) -> int:
    """Write a table anew unless somebody did since we asked; returns the file number it had. Raises TryAgain.

    Whoever rewrites holds the advisory lock. We note the file while nobody does, and ask again once it is our turn: another
    number means that a whole rewrite began after we had noted ours, so it has left out our dead rows too.
    """
    with _advisory_lock(shared=True):
        before = _file_of(table)
    with _advisory_lock(shared=False):
        if _file_of(table) == before:
            _vacuum_full(table)
    return before


def _vacuum_full(table: str) -> None:
    name = connection.ops.quote_name(table)
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [_LOCK_WAIT])
        try:
            for turn in range(1, _LOCK_TRIES + 1):
                try:
                    cursor.execute(f"VACUUM (FULL) {name}")
                except OperationalError as refused:
                    if getattr(refused.__cause__, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                        raise
                    if turn == _LOCK_TRIES:
                        raise TryAgain(_IN_USE, seconds=10) from refused
                    time.sleep(_LOOK_EVERY * turn)
                else:
                    return
        finally:
            cursor.execute("RESET lock_timeout")


def _await_younger_snapshots() -> None:
    """Until nobody sees the rows any more that were deleted before now. Raises TryAgain."""
    until = clock.monotonic() + _SNAPSHOT_PATIENCE
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::xid::text")  # a transaction of its own, later than every deletion before
        mark = cursor.fetchone()[0]
        while True:
            cursor.execute(_OLDER_SNAPSHOTS, {"mark": mark})
            if cursor.fetchone()[0] == 0:
                return
            if clock.monotonic() > until:
                raise TryAgain(_OLD_SNAPSHOT, seconds=10)
            time.sleep(_LOOK_EVERY)


@contextmanager
def _advisory_lock(*, shared: bool) -> Iterator[None]:
    suffix = "_shared" if shared else ""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_lock{suffix}(%s)", [_LOCK])
        try:
            yield
        finally:
            cursor.execute(f"SELECT pg_advisory_unlock{suffix}(%s)", [_LOCK])


def _file_of(table: str) -> int:
    """The number of the file a table is in; each rewrite gives it a new one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relfilenode FROM pg_class WHERE oid = %s::regclass", [table])
        return int(cursor.fetchone()[0])


def _kept_for_recovery() -> timedelta:
    """How long the server needs what it has logged: two rounds of checkpoints. Then it overwrites it as the log goes on."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('checkpoint_timeout')::interval")
        round_of: timedelta = cursor.fetchone()[0]
    return 2 * round_of


def _step(target: Target) -> DeletionStep | None:
    return DeletionStep.objects.filter(tenant_id=target.tenant_id, job_id=target.job_id, layer=StorageLayer.key).first()
