"""The short way from an empty database to the present schema ends where Django's own way ends."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from itertools import count

import pytest
from django.core.management import call_command
from django.db.migrations.state import ModelState

from memory_platform.embedded.programs import program
from memory_platform.first_migration import migrate_empty_database
from tests.databases import TestServer, pointed_at


@pytest.mark.slow
def test_it_makes_the_database_that_django_makes(database_server: TestServer, django_db_blocker, monkeypatch):
    drawn = count_drawn_models(monkeypatch)
    ours, theirs = database_server.empty_database(), database_server.empty_database()
    try:
        with django_db_blocker.unblock():
            with pointed_at(ours):
                migrate_empty_database()
            few = drawn()
            with pointed_at(theirs):
                call_command("migrate", interactive=False, verbosity=0)
        short, long = dump(database_server, ours), dump(database_server, theirs)
        assert "CREATE TABLE public.memories_memory" in short
        assert "FORCE ROW LEVEL SECURITY" in short
        assert short == long
        assert few < drawn() - few, "it is no shorter"
    finally:
        database_server.drop(ours)
        database_server.drop(theirs)


def count_drawn_models(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    calls = count()
    render = ModelState.render
    monkeypatch.setattr(ModelState, "render", lambda state, apps: (next(calls), render(state, apps))[1])
    return lambda: next(calls)


def dump(server: TestServer, name: str) -> str:
    """Every object and row, but for the times at which migrations ran and the lines that pg_dump makes up anew each time."""
    command = [program("pg_dump"), "--host", server.host, "--username", "postgres", "--inserts", name]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("\\restrict", "\\unrestrict"))]
    return re.sub(r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*\+00'", "'at some time'", "\n".join(lines))
