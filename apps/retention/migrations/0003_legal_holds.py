import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import apps.core.clock
import apps.core.ids
from apps.core.row_security import ProtectTable


class Migration(migrations.Migration):
    dependencies = [
        ("retention", "0002_certificates"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="LegalHold",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                (
                    "target_kind",
                    models.CharField(
                        choices=[("memory", "memory"), ("event", "event"), ("subject", "subject"), ("namespace", "namespace")],
                        max_length=12,
                        verbose_name="target kind",
                    ),
                ),
                ("target_public_id", models.CharField(db_collation="C", max_length=160, verbose_name="target")),
                ("subject_id", models.UUIDField(blank=True, null=True, verbose_name="subject")),
                (
                    "keys",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, size=None, verbose_name="target keys"
                    ),
                ),
                ("reason_code", models.CharField(max_length=64, verbose_name="reason")),
                ("placed_by", models.UUIDField(verbose_name="placed by")),
                ("placed_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="placed")),
                ("until", models.DateTimeField(verbose_name="until")),
                ("lifted_by", models.UUIDField(blank=True, null=True, verbose_name="lifted by")),
                ("lifted_at", models.DateTimeField(blank=True, null=True, verbose_name="lifted")),
                (
                    "namespace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.namespace",
                        verbose_name="namespace",
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
                "verbose_name": "legal hold",
                "verbose_name_plural": "legal holds",
                "indexes": [
                    models.Index(condition=models.Q(("lifted_at", None)), fields=["tenant", "until"], name="hold_in_force"),
                    models.Index(fields=["tenant", "-placed_at"], name="hold_by_time"),
                ],
            },
        ),
        ProtectTable("retention_legalhold"),
    ]
