"""The data folder: made whole or not at all, never deleted."""

from __future__ import annotations

import logging
import os
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memory_platform.embedded.errors import EmbeddedDatabaseError
from memory_platform.embedded.places import SUPERUSER, Places
from memory_platform.embedded.programs import MAJOR_VERSION, program

if TYPE_CHECKING:
    from pathlib import Path

    from memory_platform.embedded.account import Account

logger = logging.getLogger(__name__)

_PART = "data.part-"
# Written before the folder gets its final name: a folder that has it was whole once.
_WHOLE = "memory_platform.whole"

# What a person may tune afterwards in data/postgresql.conf; sized for a small machine that runs web and worker as well.
_FIRST_SETTINGS = {
    "shared_buffers": "192MB",
    "max_connections": "60",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "effective_cache_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "huge_pages": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


def ensure_data_folder(places: Places, account: Account) -> None:
    """Make the data folder if there is none. The caller holds the start lock.

    A half-made folder (a first start that was killed) is moved aside with a warning. A folder that was whole and lost files
    raises EmbeddedDatabaseError: starting with an empty database would hide the loss.
    """
    data = places.data
    if _is_complete(data):
        _require_our_version(data)
        return
    if (data / _WHOLE).exists():
        msg = (
            f"the database folder {data} has lost files (PG_VERSION or global/pg_control). Restore it from a backup, "
            "or move the folder away to start with an empty database."
        )
        raise EmbeddedDatabaseError(msg)
    for leftover in (data, *sorted(places.root.glob(f"{_PART}*"))):
        if leftover.exists():
            _move_aside(leftover)
    part = places.root / f"{_PART}{os.getpid()}"
    part.mkdir(mode=0o700)
    account.own(part)
    _run_initdb(part, places, account)
    (part / _WHOLE).touch(mode=0o600)
    account.own(part / _WHOLE)
    part.rename(data)


def _is_complete(data: Path) -> bool:
    return (data / "PG_VERSION").is_file() and (data / "global" / "pg_control").is_file()


def _require_our_version(data: Path) -> None:
    found = (data / "PG_VERSION").read_text(encoding="ascii").strip()
    if found != MAJOR_VERSION:
        msg = (
            f"the database folder {data} was made by PostgreSQL {found}, the installed server is {MAJOR_VERSION}. "
            "Make a backup with the older release and restore it with this one."
        )
        raise EmbeddedDatabaseError(msg)


def _move_aside(folder: Path) -> None:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")  # noqa: TID251 - a file name, made before apps are loaded
    aside = folder.with_name(f"data.half-made-{stamp}")
    folder.rename(aside)
    logger.warning("a half-made database folder was moved to %s; a new one is made", aside)


def _run_initdb(part: Path, places: Places, account: Account) -> None:
    initdb = program("initdb")
    command = [str(initdb), "--pgdata", str(part), "--username", SUPERUSER, "--auth", "peer", "--data-checksums"]
    command += ["--encoding", "UTF8", "--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"]
    for name, value in _FIRST_SETTINGS.items():
        command += ["--set", f"{name}={value}"]
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=server_environment(),
            cwd="/",
            text=True,
            start_new_session=True,
            preexec_fn=account.becoming(initdb, places.root),
        )
    except (OSError, subprocess.SubprocessError) as trouble:
        msg = f"initdb cannot be started as user {account.name}: {trouble}"
        raise EmbeddedDatabaseError(msg) from trouble
    if done.returncode != 0:
        msg = f"the database folder could not be made (initdb ended with {done.returncode}):\n{done.stdout.strip()[-2000:]}"
        raise EmbeddedDatabaseError(msg)


def server_environment() -> dict[str, str]:
    """The server inherits none of our environment: no secret, no PG* variable, no locale of the caller."""
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
