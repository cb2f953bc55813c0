from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evidence", "0002_console_indexes"),
        ("memories", "0001_initial"),
        ("retention", "0001_initial"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="candidate",
            index=models.Index(
                condition=models.Q(("reasons", []), _negated=True),
                fields=["tenant", "id"],
                include=("reasons",),
                name="candidate_by_reason",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(
                    models.Q(("retrieval_policy", "relevant"), _negated=True),
                    models.Q(("authority", "database"), _negated=True),
                    _connector="OR",
                ),
                fields=["tenant", "id"],
                name="memory_unusual",
            ),
        ),
    ]
