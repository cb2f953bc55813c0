import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import apps.core.clock
import apps.core.ids
from apps.core.row_security import AppendOnly, ProtectTable


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("core", "0001_initial"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("at", models.DateTimeField(default=apps.core.clock.now, verbose_name="at")),
                ("actor_kind", models.CharField(max_length=8, verbose_name="actor kind")),
                ("actor_id", models.UUIDField(blank=True, null=True, verbose_name="actor")),
                ("actor", models.CharField(max_length=150, verbose_name="actor name")),
                ("credential_id", models.UUIDField(blank=True, null=True, verbose_name="credential")),
                ("verb", models.CharField(max_length=64, verbose_name="verb")),
                ("object_type", models.CharField(max_length=32, verbose_name="object type")),
                ("object_id", models.CharField(max_length=128, verbose_name="object")),
                ("namespace_id", models.UUIDField(blank=True, null=True, verbose_name="namespace")),
                (
                    "result",
                    models.CharField(
                        choices=[("ok", "done"), ("refused", "refused"), ("failed", "failed")],
                        default="ok",
                        max_length=8,
                        verbose_name="result",
                    ),
                ),
                (
                    "codes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=64), blank=True, default=list, size=None, verbose_name="codes"
                    ),
                ),
                ("counts", models.JSONField(blank=True, default=dict, verbose_name="counts")),
                ("request_id", models.CharField(blank=True, max_length=64, verbose_name="request")),
                ("revision", models.BigIntegerField(blank=True, null=True, verbose_name="revision")),
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
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit entries",
                "indexes": [
                    models.Index(fields=["tenant", "-at", "-id"], name="audit_by_time"),
                    models.Index(fields=["tenant", "object_type", "object_id"], name="audit_by_object"),
                ],
            },
        ),
        ProtectTable("audits_auditentry"),
        AppendOnly("audits_auditentry"),
    ]
