from django.db import migrations, models

from apps.core.row_security import CreateAppRole


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        CreateAppRole(),
        migrations.CreateModel(
            name="RateWindow",
            fields=[
                ("credential_id", models.UUIDField(editable=False, primary_key=True, serialize=False, verbose_name="credential")),
                ("window_started_at", models.DateTimeField(verbose_name="window started")),
                ("requests", models.PositiveIntegerField(verbose_name="requests")),
            ],
            options={
                "verbose_name": "rate window",
                "verbose_name_plural": "rate windows",
                "db_table": "core_rate_window",
            },
        ),
        # Counting is worth no write-ahead log, and a row that changes with every request needs room beside it.
        migrations.RunSQL(
            "ALTER TABLE core_rate_window SET UNLOGGED; ALTER TABLE core_rate_window SET (fillfactor = 50)",
            migrations.RunSQL.noop,
        ),
    ]
