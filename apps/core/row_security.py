"""Migration operations that put tables behind row-level security."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import migrations

from apps.core.isolation import APP_ROLE, SETTING

if TYPE_CHECKING:
    from django.db.backends.base.schema import BaseDatabaseSchemaEditor
    from django.db.migrations.state import StateApps

# Wrapped in a sub-select so that the planner reads the setting once per statement, not once per row.
CURRENT_TENANT = f"(SELECT nullif(nullif(current_setting('{SETTING}', true), ''), '*')::uuid)"
EVERY_TENANT = f"(SELECT current_setting('{SETTING}', true) = '*')"


class ProtectTable(migrations.RunSQL):
    """ENABLE and FORCE row-level security on a table, with the two policies of apps/core/isolation.py.

    ``condition`` says when a row belongs to the current tenant; ``{tenant}`` stands for that tenant.
    """

    def __init__(self, table: str, condition: str = "tenant_id = {tenant}") -> None:
        self.table = table
        self.condition = condition
        belongs = condition.format(tenant=CURRENT_TENANT)
        super().__init__(
            sql=[
                f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY',
                f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY',
                f'CREATE POLICY tenant_isolation ON "{table}" USING ({belongs}) WITH CHECK ({belongs})',
                f'CREATE POLICY system_context ON "{table}" TO CURRENT_USER USING ({EVERY_TENANT}) WITH CHECK ({EVERY_TENANT})',
            ],
            reverse_sql=[
                f'DROP POLICY IF EXISTS system_context ON "{table}"',
                f'DROP POLICY IF EXISTS tenant_isolation ON "{table}"',
                f'ALTER TABLE "{table}" NO FORCE ROW LEVEL SECURITY',
                f'ALTER TABLE "{table}" DISABLE ROW LEVEL SECURITY',
            ],
        )

    def deconstruct(self) -> tuple[str, list[object], dict[str, object]]:
        return self.__class__.__name__, [self.table, self.condition], {}


class AppendOnly(migrations.RunSQL):
    """A trigger that refuses UPDATE, DELETE and TRUNCATE on a table for everybody."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(
            sql=[
                (
                    "CREATE OR REPLACE FUNCTION memory_platform_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ "
                    "BEGIN RAISE EXCEPTION 'table % is append-only', TG_TABLE_NAME "
                    "USING ERRCODE = 'integrity_constraint_violation'; "
                    "END $$"
                ),
                (
                    f'CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON "{table}" '
                    "FOR EACH ROW EXECUTE FUNCTION memory_platform_append_only()"
                ),
                (
                    f'CREATE TRIGGER append_only_table BEFORE TRUNCATE ON "{table}" '
                    "FOR EACH STATEMENT EXECUTE FUNCTION memory_platform_append_only()"
                ),
            ],
            reverse_sql=[
                f'DROP TRIGGER IF EXISTS append_only_table ON "{table}"',
                f'DROP TRIGGER IF EXISTS append_only_rows ON "{table}"',
            ],
        )

    def deconstruct(self) -> tuple[str, list[object], dict[str, object]]:
        return self.__class__.__name__, [self.table], {}


class CreateAppRole(migrations.RunPython):
    """Create the application role and let it use what the owner makes, now and later."""

    def __init__(self) -> None:
        super().__init__(create_app_role, migrations.RunPython.noop)

    def deconstruct(self) -> tuple[str, list[object], dict[str, object]]:
        return self.__class__.__name__, [], {}


def create_app_role(_apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        # Two databases of one server may be migrated at once (tests): the role is shared, so its making is serialised.
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('memory_platform_app_role'))")
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [APP_ROLE])
        if cursor.fetchone() is None:
            cursor.execute(
                f"DO $$ BEGIN CREATE ROLE {APP_ROLE} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE; "
                "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
            )
        # SET, not MEMBER: who makes a role is its member at once, but only as administrator, without the right to become it.
        cursor.execute("SELECT pg_has_role(current_user, %s, 'SET')", [APP_ROLE])
        if not cursor.fetchone()[0]:
            cursor.execute(f"GRANT {APP_ROLE} TO CURRENT_USER WITH SET TRUE")
        cursor.execute(f"GRANT USAGE ON SCHEMA public TO {APP_ROLE}")
        cursor.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {APP_ROLE}")
        cursor.execute(f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {APP_ROLE}")
        cursor.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {APP_ROLE}")
        cursor.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {APP_ROLE}")


class GuardColumns(migrations.RunSQL):
    """A trigger that lets an append-only row change in named columns only.

    ``may_change``: columns that an UPDATE may set to anything. ``may_be_cleared``: columns that may only be emptied (NULL, '',
    {} or []), which is what erasure does. Rows may be deleted: erasure again.
    """

    def __init__(self, table: str, may_change: tuple[str, ...], may_be_cleared: tuple[str, ...]) -> None:
        self.table = table
        self.may_change = may_change
        self.may_be_cleared = may_be_cleared
        free = ", ".join(f"'{name}'" for name in (*may_change, *may_be_cleared))
        function = f"{table}_guard"
        cleared = " OR ".join(
            f"(NEW.{name} IS DISTINCT FROM OLD.{name} "
            f"AND coalesce(to_jsonb(NEW.{name})::text, '') NOT IN ('', 'null', '\"\"', '{{}}', '[]'))"
            for name in may_be_cleared
        )
        super().__init__(
            sql=[
                (
                    f"CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                    f"IF to_jsonb(NEW) - ARRAY[{free}] IS DISTINCT FROM to_jsonb(OLD) - ARRAY[{free}] OR {cleared} THEN "
                    f"RAISE EXCEPTION 'rows of {table} are append-only' USING ERRCODE = 'integrity_constraint_violation'; "
                    "END IF; RETURN NEW; END $$"
                ),
                f'CREATE TRIGGER append_only_columns BEFORE UPDATE ON "{table}" FOR EACH ROW EXECUTE FUNCTION {function}()',
            ],
            reverse_sql=[
                f'DROP TRIGGER IF EXISTS append_only_columns ON "{table}"',
                f"DROP FUNCTION IF EXISTS {function}()",
            ],
        )

    def deconstruct(self) -> tuple[str, list[object], dict[str, object]]:
        return self.__class__.__name__, [self.table, self.may_change, self.may_be_cleared], {}
