"""What every test shares: a real PostgreSQL, a database per test process, a fresh one after each test that commits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import TransactionTestCase

from tests.databases import TestServer, pointed_at, test_server


@pytest.fixture(scope="session")
def database_server() -> Iterator[TestServer]:
    with test_server() as server:
        yield server


@pytest.fixture(autouse=True)
def _ledger_of_its_own(request: pytest.FixtureRequest, settings: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A test begins with a database that has no ledger yet. The folder is made by whoever writes the first entry."""
    name = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:16]
    settings.LEDGER_FOLDER = tmp_path_factory.getbasetemp() / "ledgers" / name


@pytest.fixture(scope="session")
def django_db_setup(database_server: TestServer, django_db_blocker: Any) -> Iterator[None]:
    """Takes the place of pytest-django's own: a clone of the migrated template instead of running every migration."""
    with django_db_blocker.unblock():
        name = database_server.new_database()
    try:
        with pytest.MonkeyPatch.context() as patch, pointed_at(name):
            patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _case: database_server.reset(name))
            yield
    finally:
        database_server.drop(name)
