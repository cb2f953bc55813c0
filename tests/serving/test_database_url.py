"""DATABASE_URL: a database of somebody else, and what is said when it cannot be used."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from urllib.parse import quote

import psycopg
import pytest

from memory_platform.database_url import DatabaseUrlError, database_of, require_reachable
from memory_platform.embedded.places import OWNER, SUPERUSER
from memory_platform.home import BASE_DIR
from tests.databases import TestServer

PASSWORD = "canary-5f1d"


@pytest.fixture
def address(database_server: TestServer) -> Iterator[Callable[..., str]]:
    """Makes a database on the server of the tests and gives its URL."""
    made: list[str] = []
    host = quote(str(database_server.host), safe="")

    def make(*, owner: str = OWNER, migrated: bool = False) -> str:
        made.append(database_server.new_database() if migrated else database_server.empty_database(owner))
        return f"postgres://{OWNER}@/{made[-1]}?host={host}"

    yield make
    for name in made:
        database_server.drop(name)


def manage(url: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=BASE_DIR,
        env={**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "memory_platform.settings"},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The command failed as a finding, and said so in a single line."""
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    return line


def test_a_database_without_the_schema_is_named_with_what_to_do(address):
    line = one_line(manage(address(), "provision", "-", stdin="tenants: [{key: cove}]"))
    assert "lacks" in line
    assert "manage.py migrate" in line


def test_a_migrated_one_is_used(address):
    url = address(migrated=True)
    done = manage(url, "provision", "-", stdin="tenants: [{key: cove}]")
    assert done.returncode == 0, done.stderr
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('memory_platform.tenant', '*', true)")
        assert connection.execute("SELECT key FROM tenants_tenant").fetchall() == [("cove",)]


def test_one_that_may_not_be_changed_says_what_its_user_needs(address):
    line = one_line(manage(address(owner=SUPERUSER), "serve", "--bind", "127.0.0.1:0"))
    assert "permission denied" in line
    assert "CREATEROLE" in line


def test_one_that_is_away_is_told_at_once_without_the_password():
    line = one_line(manage(f"postgres://joe:{PASSWORD}@127.0.0.1:1/cove", "provision", "-"))
    assert "cannot be reached" in line
    assert '"127.0.0.1", port 1' in line
    assert PASSWORD not in line


@pytest.mark.parametrize(
    "url",
    [
        "cove",
        f"mysql://joe:{PASSWORD}@localhost/cove",
        f"postgres://joe:{PASSWORD}@localhost",
        f"postgres://joe:{PASSWORD}@localhost:harbour/cove",
        f"postgres://joe:{PASSWORD}/more@localhost/cove",
        f"postgres://joe:12/{PASSWORD}@localhost/cove",
        f"postgres://joe:12#{PASSWORD}@localhost/cove",
    ],
)
def test_what_is_no_url_of_a_database_is_refused_without_the_password(url):
    with pytest.raises(DatabaseUrlError) as refused:
        database_of(url)
    assert "postgres://USER:PASSWORD@HOST:PORT/NAME" in str(refused.value)
    assert PASSWORD not in str(refused.value)


def test_a_well_formed_one_is_read():
    found = database_of("postgresql://joe:a%2Fb%23c@db.example:5433/cove?sslmode=require")
    assert (found["USER"], found["PASSWORD"], found["HOST"], found["PORT"]) == ("joe", "a/b#c", "db.example", 5433)
    assert (found["NAME"], found["OPTIONS"]) == ("cove", {"sslmode": "require"})


def test_a_refused_login_names_the_user(database_server):
    parameters = {"host": str(database_server.host), "user": "nobody_here", "password": PASSWORD, "dbname": "postgres"}
    with pytest.raises(DatabaseUrlError, match="nobody_here") as refused:
        require_reachable(parameters)
    assert PASSWORD not in str(refused.value)
    assert "\n" not in str(refused.value)
