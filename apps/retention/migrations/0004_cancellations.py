import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import apps.core.clock
import apps.core.ids
from apps.core.row_security import ProtectTable


class Migration(migrations.Migration):
    dependencies = [
        ("retention", "0003_legal_holds"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Cancellation",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("session_id", models.CharField(blank=True, db_collation="C", max_length=128, verbose_name="session")),
                (
                    "traces",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, size=None, verbose_name="traces"
                    ),
                ),
                ("requested_by", models.UUIDField(verbose_name="requested by")),
                ("requested_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="requested")),
                (
                    "subject",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.subject",
                        verbose_name="for subject",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "cancellation",
                "verbose_name_plural": "cancellations",
                "indexes": [models.Index(fields=["tenant", "-requested_at"], name="cancellation_by_time")],
            },
        ),
        ProtectTable("retention_cancellation"),
    ]
