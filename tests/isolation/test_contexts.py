"""What a tenant context leaves behind: nothing on the connection, nothing in the thread, nothing for what runs after the commit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import DatabaseError, connection, transaction

from apps.core.isolation import APP_ROLE, SETTING, IsolationError, current_tenant_id, system_context, tenant_context
from apps.tenants.models import Namespace, Tenant
from tests.tenants.world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db) -> World:
    return World("orchard")


def speaks_for() -> tuple[str, str]:
    """The role and the tenant of the connection, as the database has them."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT current_user, coalesce(current_setting('{SETTING}', true), '')")
        return tuple(cursor.fetchone())


def assert_nothing_is_left() -> None:
    role, tenant = speaks_for()
    assert role != APP_ROLE and tenant == ""
    assert current_tenant_id() is None
    assert not Namespace.objects.exists()


def test_after_an_exception_nothing_is_left(world):
    with pytest.raises(KeyError), tenant_context(world.tenant_id):
        raise KeyError
    assert_nothing_is_left()


def test_after_a_refused_statement_nothing_is_left(world):
    with pytest.raises(DatabaseError), tenant_context(world.tenant_id), connection.cursor() as cursor:  # noqa: PT012 - the context is what is tested
        cursor.execute("SET LOCAL statement_timeout = 20")
        cursor.execute("SELECT pg_sleep(5)")
    assert_nothing_is_left()
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone()[0] != "20ms"


def test_after_the_connection_was_killed_a_new_one_speaks_for_nobody(world):
    with pytest.raises(DatabaseError), tenant_context(world.tenant_id), connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    connection.close()
    assert_nothing_is_left()
    with tenant_context(world.tenant_id):
        assert speaks_for() == (APP_ROLE, str(world.tenant_id))


def test_a_connection_closed_in_the_middle_goes_back_clean(world):
    """The pool gets it with an open transaction, role and tenant; the next user of the pool must find none of them."""
    with pytest.raises(KeyError), tenant_context(world.tenant_id):  # noqa: PT012 - the context is what is tested
        connection.close()
        raise KeyError
    for _ in range(3):
        assert_nothing_is_left()
        connection.close()


def test_threads_do_not_share_a_context(world):
    def look() -> object:
        try:
            return current_tenant_id(), Namespace.objects.count()
        finally:
            connection.close()

    with tenant_context(world.tenant_id), ThreadPoolExecutor(1) as pool:
        assert pool.submit(look).result(30) == (None, 0)


def test_what_runs_after_the_commit_is_outside_and_may_open_a_context_of_its_own(world):
    found: list[object] = []

    def afterwards() -> None:
        found.append(current_tenant_id())
        with tenant_context(world.tenant_id):
            found.append(speaks_for())
            found.append(Namespace.objects.exists())
        with system_context():
            found.append(Tenant.objects.count())

    with tenant_context(world.tenant_id):
        transaction.on_commit(afterwards)
    assert found == [None, (APP_ROLE, str(world.tenant_id)), True, 1]
    assert_nothing_is_left()


def test_another_tenant_inside_is_refused_and_takes_nothing_along(world):
    other = World("basin")
    with tenant_context(world.tenant_id):
        for inner in (lambda: tenant_context(other.tenant_id), system_context):
            with pytest.raises(IsolationError), inner():
                pass
        assert speaks_for() == (APP_ROLE, str(world.tenant_id))
    assert_nothing_is_left()
