import django.db.models.deletion
from django.db import migrations, models

import apps.core.clock
import apps.core.ids
from apps.core.row_security import ProtectTable


class Migration(migrations.Migration):
    dependencies = [
        ("evidence", "0001_initial"),
        ("retrieval", "0001_initial"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="retrievaltrace",
            name="triage",
            field=models.JSONField(
                blank=True, db_default=models.Value({}, models.JSONField()), default=dict, verbose_name="triage"
            ),
        ),
        migrations.AddField(
            model_name="tracecandidate",
            name="authority_revision",
            field=models.CharField(blank=True, db_default="", default="", max_length=64, verbose_name="authority revision"),
        ),
        migrations.CreateModel(
            name="TraceAdoption",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("memory_id", models.UUIDField(verbose_name="memory")),
                ("version", models.PositiveIntegerField(verbose_name="version")),
                ("used", models.BooleanField(verbose_name="used")),
                ("actor", models.CharField(max_length=150, verbose_name="reported by")),
                ("at", models.DateTimeField(default=apps.core.clock.now, verbose_name="at")),
                (
                    "reason",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="evidence.content",
                        verbose_name="reason text",
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
                (
                    "trace",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="adoptions",
                        to="retrieval.retrievaltrace",
                    ),
                ),
            ],
            options={
                "verbose_name": "adoption",
                "verbose_name_plural": "adoptions",
                "indexes": [models.Index(fields=["tenant", "memory_id"], name="adoption_by_memory")],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "trace", "memory_id", "version"), name="adoption_once")
                ],
            },
        ),
        ProtectTable("retrieval_traceadoption"),
    ]
