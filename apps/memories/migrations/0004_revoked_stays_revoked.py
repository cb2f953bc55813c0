from django.db import migrations

# A row copied back out of an old backup would say that it is active; the table itself refuses that.
GUARD = """
CREATE FUNCTION memories_memory_stays_revoked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'a revoked memory stays revoked' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER stays_revoked BEFORE UPDATE ON memories_memory FOR EACH ROW
    WHEN (OLD.state = 'revoked' AND NEW.state <> 'revoked') EXECUTE FUNCTION memories_memory_stays_revoked();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0003_conflict_outcomes"),
    ]

    operations = [
        migrations.RunSQL(
            GUARD,
            "DROP TRIGGER stays_revoked ON memories_memory; DROP FUNCTION memories_memory_stays_revoked()",
        ),
    ]
