"""Brings the database's schema up to date, once, however many processes start at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from memory_platform.database_url import SchemaError
from memory_platform.first_migration import migrate_empty_database

if TYPE_CHECKING:
    from collections.abc import Sequence

# Any fixed number: the lock only has to be the same for every process that migrates.
_MIGRATION_LOCK = 0x6D656D706C6174


def ensure_schema() -> bool:
    """Apply the migrations that are missing; True if there were any. Safe to call from several processes at once."""
    if not _plan(MigrationExecutor(connection)):
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_MIGRATION_LOCK])
    try:
        executor = MigrationExecutor(connection)
        if not executor.loader.applied_migrations:
            migrate_empty_database()
        elif _plan(executor):
            call_command("migrate", interactive=False, verbosity=0)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_MIGRATION_LOCK])
    return True


def require_schema() -> None:
    """Raise SchemaError when migrations are missing: somebody else's database is brought up to date only when it is asked for."""
    missing = _plan(MigrationExecutor(connection))
    if missing:
        msg = (
            f"the database of DATABASE_URL lacks {len(missing)} migrations. Apply them with `manage.py migrate`, "
            "or start `manage.py serve`, which applies them first."
        )
        raise SchemaError(msg)


def _plan(executor: MigrationExecutor) -> Sequence[object]:
    """The migrations that are not applied yet."""
    return executor.migration_plan(executor.loader.graph.leaf_nodes())
