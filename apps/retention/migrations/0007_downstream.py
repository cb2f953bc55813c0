import django.db.models.deletion
from django.db import migrations, models

import apps.core.clock
import apps.core.ids
from apps.core.row_security import ProtectTable


class Migration(migrations.Migration):
    dependencies = [
        ("retention", "0006_subject_exports"),
        ("tenants", "0002_subjects_export_operation"),
    ]

    operations = [
        migrations.CreateModel(
            name="DownstreamSystem",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=64, verbose_name="name")),
                ("url", models.CharField(max_length=2048, verbose_name="address")),
                ("sealed_secret", models.TextField(editable=False)),
                ("registered_by", models.UUIDField(verbose_name="registered by")),
                ("registered_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="registered")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                ("last_tried_at", models.DateTimeField(blank=True, null=True, verbose_name="last tried")),
                ("last_answer", models.CharField(blank=True, max_length=64, verbose_name="last answer")),
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
                "verbose_name": "downstream system",
                "verbose_name_plural": "downstream systems",
            },
        ),
        migrations.CreateModel(
            name="DownstreamNotice",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "not acknowledged yet"), ("acknowledged", "acknowledged"), ("given_up", "given up")],
                        default="waiting",
                        max_length=12,
                        verbose_name="state",
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0, verbose_name="attempts")),
                ("last_answer", models.CharField(blank=True, max_length=64, verbose_name="last answer")),
                ("last_tried_at", models.DateTimeField(blank=True, null=True, verbose_name="last tried")),
                ("next_try_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="next try")),
                ("settled_at", models.DateTimeField(blank=True, null=True, verbose_name="settled")),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to="retention.deletionjob",
                        verbose_name="deletion",
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
                    "system",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="notices",
                        to="retention.downstreamsystem",
                        verbose_name="downstream system",
                    ),
                ),
            ],
            options={
                "verbose_name": "downstream notice",
                "verbose_name_plural": "downstream notices",
            },
        ),
        migrations.AddConstraint(
            model_name="downstreamsystem",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at", None)), fields=("tenant", "name"), name="downstream_name_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="downstreamnotice",
            constraint=models.UniqueConstraint(fields=("tenant", "job", "system"), name="downstream_notice_once"),
        ),
        migrations.AddConstraint(
            model_name="downstreamnotice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("settled_at", None), ("state", "waiting")),
                    models.Q(models.Q(("state", "waiting"), _negated=True), ("settled_at__isnull", False)),
                    _connector="OR",
                ),
                name="downstream_notice_settled",
            ),
        ),
        ProtectTable("retention_downstreamsystem"),
        ProtectTable("retention_downstreamnotice"),
    ]
