"""The second wall: what the database shows, whatever the code above forgets (design/01 Data rules).

Every table that belongs to a tenant is walked, of every app: a new model is under test the moment it exists.
"""

from __future__ import annotations

import psycopg
import pytest
from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connection, models, transaction

from apps.core.governance import Audited, Governance, Keeps
from apps.core.isolation import APP_ROLE, SETTING, IsolationError, current_tenant_id, system_context, tenant_context
from apps.core.models import TenantOwned
from tests.isolation.rows import one_row_each
from tests.tenants.world import World

OURS = [model for model in apps.get_models() if model.__module__.startswith("apps.")]
GOVERNED = [model for model in OURS if model.governance.tenant is not None]
SHARED = {"User", "RateWindow", "WorkerHeartbeat", "LedgerRecord", "LedgerState", "Backup"}  # of nobody or of the installation
APPS = sorted({model._meta.app_label for model in GOVERNED})


def of_app(label):
    return [model for model in GOVERNED if model._meta.app_label == label]


def table(model) -> str:
    return model._meta.db_table


def ids(value) -> str:
    return value._meta.label if hasattr(value, "_meta") else str(value)


# -- declarations


@pytest.mark.parametrize("model", OURS, ids=ids)
def test_every_model_says_whose_it_is(model):
    declared = model.governance
    assert isinstance(declared, Governance) and isinstance(declared.keeps, Keeps) and isinstance(declared.audited, Audited)
    if declared.tenant is None:
        assert model.__name__ in SHARED, "a table without a tenant is a decision; name it in SHARED"
        return
    if declared.tenant != "id":
        found = model
        for part in declared.tenant.split("__"):
            found = found._meta.get_field(part).related_model
        assert found._meta.label == "tenants.Tenant"
    if issubclass(model, TenantOwned):
        assert declared.tenant == "tenant"


@pytest.mark.django_db
@pytest.mark.parametrize("model", GOVERNED, ids=ids)
def test_every_tenant_table_forces_row_security(model):
    with connection.cursor() as cursor:
        cursor.execute("SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid = %s::regclass", [table(model)])
        assert cursor.fetchone() == (True, True)
        cursor.execute("SELECT policyname, roles, qual, with_check FROM pg_policies WHERE tablename = %s", [table(model)])
        policies = {name: (roles, using, check) for name, roles, using, check in cursor.fetchall()}
    assert set(policies) == {"tenant_isolation", "system_context"}
    roles, using, check = policies["tenant_isolation"]
    assert "public" in str(roles) and using == check and SETTING in using
    roles, using, check = policies["system_context"]
    assert APP_ROLE not in str(roles) and "public" not in str(roles) and using == check and "'*'" in using


@pytest.mark.django_db
def test_no_table_of_ours_with_a_tenant_column_is_left_out():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.table_name FROM information_schema.columns c JOIN pg_class t ON t.relname = c.table_name "
            "WHERE c.table_schema = 'public' AND c.column_name = 'tenant_id' AND t.relkind IN ('r', 'p') AND NOT t.relrowsecurity"
        )
        assert cursor.fetchall() == []


@pytest.mark.django_db
def test_the_application_role_cannot_bypass_and_owns_nothing():
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper, rolbypassrls, rolcanlogin, rolcreaterole FROM pg_roles WHERE rolname = %s", [APP_ROLE])
        assert cursor.fetchone() == (False, False, False, False)
        cursor.execute("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == (False, False)
        cursor.execute("SELECT count(*) FROM pg_class WHERE relowner = (SELECT oid FROM pg_roles WHERE rolname = %s)", [APP_ROLE])
        assert cursor.fetchone() == (0,)


# -- two tenants with a row in every table


@pytest.fixture
def two(db):
    """Two tenants; both have at least one row in every table of every app."""
    here, there = World("orchard"), World("basin")
    for world in (here, there):
        with world.inside():
            one_row_each(world, GOVERNED)
    return here, there


def owner_of(row) -> object:
    """The tenant that a row belongs to, along its declared path."""
    path = type(row).governance.tenant
    if path == "id":
        return row.pk
    for part in path.split("__"):
        row = getattr(row, part)
    return row.pk if isinstance(row, models.Model) else row


def test_every_table_has_a_row_of_both_tenants(two):
    """Without this the tests below would prove nothing about a table that is empty."""
    here, there = two
    with system_context():
        for model in GOVERNED:
            path = model.governance.tenant
            found = set(model.objects.values_list(path if path == "id" else f"{path}_id", flat=True))
            assert {here.tenant_id, there.tenant_id} <= found, model._meta.label


def test_without_a_tenant_the_owner_sees_no_row(two):
    assert current_tenant_id() is None
    for model in GOVERNED:
        assert not model.objects.exists(), model._meta.label


def test_without_a_tenant_the_application_role_sees_no_row(two):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('role', %s, true)", [APP_ROLE])
        for model in GOVERNED:
            cursor.execute(f'SELECT count(*) FROM "{table(model)}"')
            assert cursor.fetchone() == (0,), model._meta.label
        cursor.execute("SELECT set_config('role', 'none', true)")


@pytest.mark.parametrize("value", ["*", "", "nobody", "00000000-0000-0000-0000-000000000000"])
def test_the_application_role_cannot_talk_itself_into_more(two, value):
    """The system context is a policy of the owner's: setting its word does nothing for the role that requests run as."""
    with connection.cursor() as cursor:
        for model in GOVERNED:
            with transaction.atomic():
                cursor.execute("SELECT set_config('role', %s, true), set_config(%s, %s, true)", [APP_ROLE, SETTING, value])
                try:
                    with transaction.atomic():
                        cursor.execute(f'SELECT count(*) FROM "{table(model)}"')
                        assert cursor.fetchone() == (0,), model._meta.label
                except DatabaseError:
                    assert value == "nobody", model._meta.label  # no UUID: refused loudly
                cursor.execute("SELECT set_config('role', 'none', true), set_config(%s, '', true)", [SETTING])


@pytest.mark.parametrize("app", APPS)
def test_a_query_that_forgets_its_tenant_sees_nothing_foreign(two, app):
    here, there = two
    for world in (here, there):
        with world.inside():
            for model in of_app(app):
                rows = list(model.objects.all())  # forgotten on purpose
                assert rows, model._meta.label
                assert {owner_of(row) for row in rows} == {world.tenant_id}, model._meta.label
    with system_context():
        foreign = {model: set(model.objects.values_list("pk", flat=True)) for model in of_app(app)}
    with here.inside():
        for model, keys in foreign.items():
            visible = set(model.objects.values_list("pk", flat=True))
            assert visible < keys
            assert not model.objects.filter(pk__in=list(keys - visible)).exists(), model._meta.label


@pytest.mark.parametrize("app", APPS)
def test_rows_of_another_tenant_cannot_be_changed_or_removed(two, app):
    for model in of_app(app):
        cannot_be_changed_or_removed(*two, model)


def cannot_be_changed_or_removed(here, there, model):
    column = model._meta.pk.column or "tenant_id"  # a key of several columns begins with the tenant
    with there.inside():
        theirs = list(model.objects.values_list(model._meta.pk.attname if model._meta.pk.column else "tenant_id", flat=True))
        rows = model.objects.count()
    with here.inside(), connection.cursor() as cursor:
        cursor.execute(f'UPDATE "{table(model)}" SET "{column}" = "{column}" WHERE "{column}" = ANY(%s)', [theirs])
        assert cursor.rowcount == 0, model._meta.label
        cursor.execute(f'DELETE FROM "{table(model)}" WHERE "{column}" = ANY(%s)', [theirs])
        assert cursor.rowcount == 0, model._meta.label
    with there.inside():
        assert model.objects.count() == rows


@pytest.mark.parametrize("app", APPS)
def test_a_row_cannot_be_put_into_another_tenant(two, app):
    for model in of_app(app):
        if issubclass(model, TenantOwned):
            cannot_be_put_into(*two, model)


def cannot_be_put_into(here, there, model):
    with here.inside():
        row = model.objects.first()
        own = row.pk
        row.tenant_id = there.tenant_id
        with pytest.raises(DatabaseError, match="row-level security"), transaction.atomic():
            row.save(force_insert=True)
        if model._meta.label != "audits.AuditEntry":  # refuses every UPDATE before the policy is asked
            with pytest.raises(DatabaseError, match="row-level security|append-only"), transaction.atomic():
                model.objects.filter(pk=own).update(tenant_id=there.tenant_id)


# -- the contexts themselves


def test_a_context_inside_that_of_another_tenant_is_refused(two):
    here, there = two
    with here.inside():
        with tenant_context(here.tenant_id):
            assert current_tenant_id() == here.tenant_id
        with pytest.raises(IsolationError), tenant_context(there.tenant_id):
            pass
        with pytest.raises(IsolationError), system_context():
            pass
        assert current_tenant_id() == here.tenant_id
    assert current_tenant_id() is None


def test_nothing_of_a_context_is_left_on_the_connection(two):
    here, _ = two

    def state():
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user, coalesce(current_setting(%s, true), '')", [SETTING])
            return cursor.fetchone()

    before = state()
    with here.inside():
        assert state() == (APP_ROLE, str(here.tenant_id))
    assert state() == before and before[1] == ""
    with pytest.raises(ZeroDivisionError), here.inside():
        1 / 0  # noqa: B018
    assert state() == before


@pytest.mark.django_db(transaction=True)
def test_a_fresh_connection_as_the_application_role_sees_nothing():
    """As an attacker with the login would: another connection, the role, and no tenant."""
    world = World("orchard")
    with world.inside():
        one_row_each(world, GOVERNED)
    given = connection.get_connection_params()
    keys = ("host", "port", "dbname", "user", "password")
    with psycopg.connect(**{name: given[name] for name in keys if given.get(name)}, autocommit=True) as raw:
        assert raw.info.dbname == settings.DATABASES["default"]["NAME"]
        for prepare in (None, f"SET ROLE {APP_ROLE}"):
            if prepare:
                raw.execute(prepare)
            for model in GOVERNED:
                assert raw.execute(f'SELECT count(*) FROM "{table(model)}"').fetchone() == (0,), model._meta.label
        raw.execute("SELECT set_config(%s, %s, false)", [SETTING, str(world.tenant_id)])
        assert raw.execute("SELECT count(*) FROM tenants_tenant").fetchone() == (1,)
