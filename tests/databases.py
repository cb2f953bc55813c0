"""Test databases: clones of one migrated template, on the same server that the product uses.

Each test process has a clone of its own. After a test that commits, the rows it left are deleted by the superuser, whom neither
row-level security nor the append-only triggers stop; where that does not bring back the template's content (a test changed the
schema or a seeded table), the clone is made anew, which takes longer.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import psycopg
from django.conf import settings
from django.db import connections

from memory_platform.commands import database_running
from memory_platform.embedded.places import OWNER
from memory_platform.embedded.server import superuser_connection
from memory_platform.first_migration import migrate_empty_database

if TYPE_CHECKING:
    from memory_platform.embedded.leases import Lease

PROJECT = Path(__file__).resolve().parent.parent
KEPT_TEMPLATES = 3
_LOCK = 0x6D656D74657374  # any fixed number, the same for every test process


class TestServer:
    """Makes and drops databases on the server of the tests."""

    __test__ = False

    def __init__(self, held: Lease | None) -> None:
        self._held = held
        self.template = f"template_{_fingerprint()}"
        self._pristine: dict[str, str] = {}

    def admin(self) -> psycopg.Connection[Any]:
        """An autocommit connection that may create databases: the superuser of the embedded server, else the owner itself."""
        if self._held is not None:
            return superuser_connection(self._held.places)
        database = settings.DATABASES["default"]
        return psycopg.connect(
            host=database["HOST"],
            port=database["PORT"] or None,
            user=database["USER"],
            password=database["PASSWORD"] or None,
            dbname="postgres",
            autocommit=True,
        )

    @property
    def host(self) -> str:
        return str(settings.DATABASES["default"]["HOST"])

    @property
    def owner(self) -> str:
        return OWNER if self._held is not None else settings.DATABASES["default"]["USER"]

    def new_database(self) -> str:
        """A fresh clone of the migrated template."""
        name = _own_name()
        self.clone(name)
        return name

    def empty_database(self, owner: str = "") -> str:
        """A database in which nothing was migrated yet."""
        name = _own_name()
        with self.admin() as admin:
            admin.execute(f'CREATE DATABASE "{name}" OWNER "{owner or self.owner}"')
        return name

    def clone(self, name: str) -> None:
        with self._locked() as admin:
            self._ensure_template(admin)
            admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{self.template}" OWNER "{self.owner}"')
        if self._held is not None:
            with superuser_connection(self._held.places, name) as connection:
                self._pristine = _content(connection)

    def reset(self, name: str) -> None:
        """Bring a database back to what the migrations left. Open connections of ours must be idle or closed."""
        if not self._wipe(name):
            close_connections()
            self.drop(name)
            self.clone(name)

    def _wipe(self, name: str) -> bool:
        if self._held is None:
            return False
        try:
            with superuser_connection(self._held.places, name) as connection, connection.transaction() as transaction:
                connection.execute("SET LOCAL session_replication_role = replica; SET LOCAL lock_timeout = '2s'")
                content = _content(connection)
                for table in content.keys() - self._pristine.keys():
                    connection.execute(f"DELETE FROM {table}")
                if _content(connection) == self._pristine:
                    return True
                raise psycopg.Rollback(transaction)
        except psycopg.errors.LockNotAvailable:
            return False
        return False

    def drop(self, name: str) -> None:
        with self.admin() as admin:
            admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    @contextmanager
    def _locked(self) -> Iterator[psycopg.Connection[Any]]:
        with self.admin() as admin:
            admin.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
            yield admin  # closing the connection lets the lock go

    def _ensure_template(self, admin: psycopg.Connection[Any]) -> None:
        found = admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", [self.template]).fetchone()
        if found is not None:
            return
        self._tidy(admin)
        part = f"{self.template}_part"
        admin.execute(f'DROP DATABASE IF EXISTS "{part}" WITH (FORCE)')
        admin.execute(f'CREATE DATABASE "{part}" OWNER "{self.owner}"')
        with pointed_at(part):
            migrate_empty_database()
        admin.execute(f'ALTER DATABASE "{part}" RENAME TO "{self.template}"')

    def _tidy(self, admin: psycopg.Connection[Any]) -> None:
        """Drop what dead test processes and older migrations left."""
        names = [row[0] for row in admin.execute("SELECT datname FROM pg_database ORDER BY oid DESC").fetchall()]
        templates = [name for name in names if re.fullmatch(r"template_[0-9a-f]{16}", name)]
        dead = [name for name in names if (match := re.match(r"test_(\d+)_", name)) and not psutil.pid_exists(int(match[1]))]
        for name in [*templates[KEPT_TEMPLATES:], *dead]:
            admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@contextmanager
def test_server() -> Iterator[TestServer]:
    """The server of the tests, for as long as this process needs it."""
    with database_running() as held:
        yield TestServer(held)


@contextmanager
def pointed_at(name: str) -> Iterator[None]:
    """Django's default connection speaks to this database; afterwards every connection to it is closed."""
    connection = connections["default"]
    before = connection.settings_dict["NAME"]
    close_connections()
    _point(name)
    try:
        yield
    finally:
        close_connections()
        _point(before)


def close_connections() -> None:
    for connection in connections.all(initialized_only=True):
        connection.close()
        connection.close_pool()


def _own_name() -> str:
    """What a database of this process is called; one whose process is dead is dropped by the next run."""
    return f"test_{os.getpid()}_{secrets.token_hex(4)}"


def _point(name: str) -> None:
    settings.DATABASES["default"]["NAME"] = name
    connections["default"].settings_dict["NAME"] = name


def _content(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """Table → digest of its rows, for every table that has any; with it the list of all tables under the empty name."""
    tables = [
        name
        for (name,) in connection.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1"
        )
    ]
    digests = " UNION ALL ".join(
        f"SELECT '{name}', md5(string_agg(row::text, '' ORDER BY row::text)) FROM {name} AS row HAVING count(*) > 0"
        for name in tables
    )
    return {"": " ".join(tables), **dict(connection.execute(digests).fetchall())}


def _fingerprint() -> str:
    """Changes with every migration file, model file and installed set of packages: whatever decides how the template looks."""
    digest = hashlib.sha256()
    files = [*PROJECT.glob("apps/*/migrations/*.py"), *PROJECT.glob("apps/**/*.py"), PROJECT / "requirements" / "dev.txt"]
    files += [PROJECT / "memory_platform" / name for name in ("settings.py", "first_migration.py")]
    for file in sorted(set(files)):
        relevant = (
            "migrations" in file.parts
            or "models" in file.parts
            or file.name in ("apps.py", "row_security.py", "settings.py", "first_migration.py")
        )
        if file.exists() and (relevant or file.suffix == ".txt"):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


test_server.__test__ = False  # type: ignore[attr-defined]
