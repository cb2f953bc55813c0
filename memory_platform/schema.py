"""Brings the database's schema up to date, once, however many processes start at the same time."""

from __future__ import annotations

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

# Any fixed number: the lock only has to be the same for every process that migrates.
_MIGRATION_LOCK = 0x6D656D706C6174


def ensure_schema() -> bool:
    """Apply the migrations that are missing; True if there were any. Safe to call from several processes at once."""
    if not _pending():
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_MIGRATION_LOCK])
    try:
        if _pending():
            call_command("migrate", interactive=False, verbosity=0)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_MIGRATION_LOCK])
    return True


def _pending() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
