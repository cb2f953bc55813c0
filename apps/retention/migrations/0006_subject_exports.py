import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import apps.core.clock
import apps.core.ids
from apps.core.row_security import ProtectTable


class Migration(migrations.Migration):
    dependencies = [
        ("retention", "0005_ledger_and_backups"),
        ("tenants", "0002_subjects_export_operation"),
    ]

    operations = [
        migrations.CreateModel(
            name="SubjectExport",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("export_request_id", models.CharField(db_collation="C", max_length=128, verbose_name="request")),
                (
                    "reason_code",
                    models.CharField(
                        choices=[
                            ("subject_request", "the person asked"),
                            ("legal_order", "an authority asked"),
                            ("internal_review", "own review"),
                        ],
                        default="subject_request",
                        max_length=20,
                        verbose_name="why",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("accepted", "accepted"),
                            ("running", "running"),
                            ("ready", "ready"),
                            ("revoked", "overtaken by a deletion"),
                            ("expired", "expired"),
                        ],
                        default="accepted",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                (
                    "namespaces",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), default=list, size=None, verbose_name="namespaces"
                    ),
                ),
                ("epochs", models.BigIntegerField(blank=True, editable=False, null=True)),
                (
                    "keys",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, editable=False, size=None
                    ),
                ),
                (
                    "shares",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, editable=False, size=None
                    ),
                ),
                ("counts", models.JSONField(blank=True, default=dict, verbose_name="rows by layer")),
                ("size", models.BigIntegerField(blank=True, null=True, verbose_name="size, bytes")),
                ("sha256", models.CharField(blank=True, max_length=64, verbose_name="SHA-256")),
                ("requested_by", models.UUIDField(verbose_name="requested by")),
                ("job_id", models.UUIDField(blank=True, null=True, verbose_name="job")),
                ("requested_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="requested")),
                ("as_of", models.DateTimeField(blank=True, null=True, verbose_name="as of")),
                ("completed_at", models.DateTimeField(blank=True, null=True, verbose_name="completed")),
                ("expires_at", models.DateTimeField(verbose_name="expires")),
                ("removed_at", models.DateTimeField(blank=True, null=True, verbose_name="files removed")),
                ("downloads", models.PositiveIntegerField(default=0, verbose_name="downloads")),
                ("downloaded_at", models.DateTimeField(blank=True, null=True, verbose_name="last downloaded")),
                (
                    "subject",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.subject",
                        verbose_name="subject",
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
                "verbose_name": "subject export",
                "verbose_name_plural": "subject exports",
                "indexes": [
                    models.Index(fields=["tenant", "-requested_at"], name="export_by_time"),
                    models.Index(condition=models.Q(("removed_at", None)), fields=["tenant", "state"], name="export_with_files"),
                ],
                "constraints": [models.UniqueConstraint(fields=("tenant", "export_request_id"), name="export_request_once")],
            },
        ),
        ProtectTable("retention_subjectexport"),
    ]
