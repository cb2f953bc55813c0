"""Putting a backup back: the database as it was, in one transaction, and not before every file has been checked."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psycopg
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from apps.core.isolation import system_context
from apps.retention.ledger import guard
from apps.retention.models import LedgerState
from apps.tenants.models import Tenant
from memory_platform.backup.folder import DUMP
from memory_platform.backup.programs import ProgramError, environment, explained, programs
from memory_platform.commands import close_connections
from memory_platform.schema import ensure_schema

if TYPE_CHECKING:
    from memory_platform.backup.folder import Manifest

# Made by whoever set the database up; its owner may not make them, and need not.
_LEFT_OUT: Final = (" EXTENSION ", " SCHEMA - public ", " COMMENT - EXTENSION ")

_OTHERS: Final = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""

# Everything of ours goes, tables that the backup does not know as well: what is restored is the backup and nothing else.
_EMPTY: Final = """
DO $$ DECLARE one record; BEGIN
    FOR one IN SELECT format('DROP %s IF EXISTS %s CASCADE', kind, name) AS statement FROM (
        SELECT CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END
               AS kind, c.oid::regclass::text AS name, 'pg_class'::regclass AS class, c.oid
        FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
        UNION ALL
        SELECT 'FUNCTION', p.oid::regprocedure::text, 'pg_proc'::regclass, p.oid
        FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace) AS ours
    WHERE NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = ours.class AND d.objid = ours.oid AND d.deptype IN ('e', 'i'))
    LOOP EXECUTE one.statement; END LOOP;
END $$;
"""


def is_empty() -> bool:
    """Whether the database holds nothing yet that a restore would replace."""
    with system_context():
        return not (Tenant.objects.exists() or LedgerState.objects.exists())


def newer_than_us(manifest: Manifest) -> list[str]:
    """Migrations of the backup that this release does not know."""
    known = MigrationLoader(None).disk_migrations
    return sorted(f"{app}.{name}" for app, name in manifest.migrations.items() if (app, name) not in known)


def others_connected() -> int:
    """Sessions of other processes in this database."""
    close_connections()
    with psycopg.connect(**connection.get_connection_params()) as own:
        found = own.execute(_OTHERS).fetchone()
    return 0 if found is None else int(found[0])


def put_back(folder: Path) -> None:
    """Replace everything in the database by the backup, or nothing at all. Raises ProgramError."""
    tools = programs()
    close_connections()
    with tempfile.TemporaryDirectory() as private:  # owner-only
        listed = _run([tools.pg_restore, "--list", folder / DUMP])
        wanted = Path(private, "list")
        wanted.write_text(
            "".join(line for line in listed.splitlines(keepends=True) if not any(word in line for word in _LEFT_OUT))
        )
        reading: list[str | Path] = [
            tools.pg_restore,
            "--file=-",
            "--no-owner",
            "--no-comments",
            f"--use-list={wanted}",
            folder / DUMP,
        ]
        writing: list[str | Path] = [
            tools.psql,
            "--no-psqlrc",
            "--quiet",
            "--single-transaction",
            "--set=ON_ERROR_STOP=1",
            "--no-password",
            "--file=-",
        ]
        with (
            tempfile.TemporaryFile(dir=private) as said,
            subprocess.Popen(
                writing, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said, env=environment(), cwd=private
            ) as psql,
        ):
            assert psql.stdin is not None  # noqa: S101 - it is a pipe
            try:
                psql.stdin.write(_EMPTY.encode())
                psql.stdin.flush()
                read = subprocess.run(reading, check=False, stdin=subprocess.DEVNULL, stdout=psql.stdin, stderr=subprocess.PIPE)
                if read.returncode != 0 and psql.poll() is None:
                    psql.kill()  # what it has done so far is undone
            finally:
                try:
                    psql.stdin.close()
                except BrokenPipeError:  # it has ended already, and says why
                    psql.kill()
            code = psql.wait()
            said.seek(0)
            if code != 0:
                raise explained(tools.psql.name, said.read()) if code > 0 else explained(tools.pg_restore.name, read.stderr)
    guard.forget()
    ensure_schema()


def _run(command: list[str | Path]) -> str:
    done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise explained(Path(command[0]).name, done.stderr)
    return done.stdout.decode("utf-8", "replace")


__all__ = ["ProgramError", "is_empty", "newer_than_us", "others_connected", "put_back"]
