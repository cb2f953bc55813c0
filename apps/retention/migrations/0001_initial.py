import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import apps.core.clock
import apps.core.ids
from apps.core.row_security import ProtectTable


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("core", "0001_initial"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Revocation",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                (
                    "target_kind",
                    models.CharField(
                        choices=[
                            ("memory", "memory"),
                            ("event", "event"),
                            ("session", "session"),
                            ("subject", "subject"),
                            ("namespace", "namespace"),
                        ],
                        max_length=12,
                        verbose_name="target kind",
                    ),
                ),
                ("target_id", models.CharField(db_collation="C", max_length=128, verbose_name="target")),
                ("epoch", models.BigIntegerField(verbose_name="epoch")),
                ("accepted_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="accepted")),
                ("cover_sources", models.BooleanField(default=False, verbose_name="covers its sources")),
                ("suppress_future", models.BooleanField(default=False, verbose_name="suppresses the future")),
                ("fact_digest", models.BigIntegerField(blank=True, null=True, verbose_name="fact digest")),
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
                "verbose_name": "revocation",
                "verbose_name_plural": "revocations",
            },
        ),
        migrations.CreateModel(
            name="DeletionJob",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("deletion_request_id", models.CharField(db_collation="C", max_length=128, verbose_name="request")),
                ("request_sha256", models.CharField(editable=False, max_length=64)),
                (
                    "target_kind",
                    models.CharField(
                        choices=[
                            ("memory", "memory"),
                            ("event", "event"),
                            ("session", "session"),
                            ("subject", "subject"),
                            ("namespace", "namespace"),
                        ],
                        max_length=12,
                        verbose_name="target kind",
                    ),
                ),
                ("target_public_id", models.CharField(db_collation="C", max_length=128, verbose_name="target")),
                (
                    "target_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), default=list, size=None, verbose_name="target keys"
                    ),
                ),
                ("cover_sources", models.BooleanField(default=False, verbose_name="covers its sources")),
                ("suppress_future", models.BooleanField(default=False, verbose_name="suppresses the future")),
                ("reason", models.UUIDField(blank=True, null=True, verbose_name="reason")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("accepted", "accepted"),
                            ("running", "running"),
                            ("retry_wait", "waiting to retry"),
                            ("blocked_by_retention", "blocked by retention"),
                            ("failed_requires_action", "needs action"),
                            ("completed", "completed"),
                        ],
                        default="accepted",
                        max_length=24,
                        verbose_name="state",
                    ),
                ),
                ("epoch", models.BigIntegerField(verbose_name="epoch")),
                ("revision", models.BigIntegerField(verbose_name="revision")),
                ("requested_by", models.UUIDField(verbose_name="requested by")),
                ("job_id", models.UUIDField(blank=True, null=True, verbose_name="job")),
                ("accepted_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="accepted")),
                ("started_at", models.DateTimeField(blank=True, null=True, verbose_name="started")),
                ("completed_at", models.DateTimeField(blank=True, null=True, verbose_name="completed")),
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
                (
                    "revocation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="job",
                        to="retention.revocation",
                        verbose_name="revocation",
                    ),
                ),
            ],
            options={
                "verbose_name": "deletion",
                "verbose_name_plural": "deletions",
            },
        ),
        migrations.CreateModel(
            name="DeletionStep",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("layer", models.CharField(max_length=32, verbose_name="layer")),
                ("position", models.PositiveSmallIntegerField(verbose_name="position")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("running", "running"),
                            ("cleared", "cleared"),
                            ("retry_wait", "waiting to retry"),
                            ("blocked", "blocked"),
                            ("failed", "failed"),
                            ("not_applicable", "not applicable"),
                        ],
                        default="pending",
                        max_length=16,
                        verbose_name="state",
                    ),
                ),
                ("found", models.BigIntegerField(blank=True, null=True, verbose_name="found")),
                ("cleared", models.BigIntegerField(default=0, verbose_name="cleared")),
                ("remaining", models.BigIntegerField(blank=True, null=True, verbose_name="remaining")),
                ("attempts", models.PositiveIntegerField(default=0, verbose_name="attempts")),
                ("checkpoint", models.JSONField(blank=True, null=True, verbose_name="checkpoint")),
                ("verified_at", models.DateTimeField(blank=True, null=True, verbose_name="verified")),
                ("detail", models.CharField(blank=True, max_length=128, verbose_name="detail")),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="steps",
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
            ],
            options={
                "verbose_name": "deletion step",
                "verbose_name_plural": "deletion steps",
                "constraints": [models.UniqueConstraint(fields=("tenant", "job", "layer"), name="deletion_step_once")],
            },
        ),
        migrations.CreateModel(
            name="Exposure",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("trace_id", models.UUIDField(verbose_name="trace")),
                ("agent", models.CharField(max_length=150, verbose_name="agent")),
                ("at", models.DateTimeField(verbose_name="at")),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="exposures",
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
            ],
            options={
                "verbose_name": "exposure",
                "verbose_name_plural": "exposures",
                "constraints": [models.UniqueConstraint(fields=("tenant", "job", "trace_id"), name="exposure_once")],
            },
        ),
        migrations.CreateModel(
            name="RetentionClass",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("key", models.CharField(max_length=128, verbose_name="key")),
                ("purpose", models.CharField(blank=True, max_length=400, verbose_name="purpose")),
                ("content_days", models.PositiveIntegerField(default=365, verbose_name="content, days")),
                ("index_days", models.PositiveIntegerField(default=365, verbose_name="index, days")),
                ("candidate_days", models.PositiveIntegerField(default=90, verbose_name="candidates, days")),
                ("trace_days", models.PositiveIntegerField(default=30, verbose_name="traces, days")),
                ("audit_days", models.PositiveIntegerField(default=2555, verbose_name="audit, days")),
                ("review_after_months", models.PositiveIntegerField(default=12, verbose_name="review after, months")),
                (
                    "at_end",
                    models.CharField(
                        choices=[("review", "put up for review"), ("expire", "expire"), ("erase", "erase")],
                        default="review",
                        max_length=8,
                        verbose_name="at the end",
                    ),
                ),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
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
                "verbose_name": "retention class",
                "verbose_name_plural": "retention classes",
                "constraints": [models.UniqueConstraint(fields=("tenant", "key"), name="retention_class_once")],
            },
        ),
        migrations.AddIndex(
            model_name="revocation",
            index=models.Index(fields=["tenant", "target_kind", "target_id"], name="revocation_by_target"),
        ),
        migrations.AddIndex(
            model_name="revocation",
            index=models.Index(fields=["tenant", "namespace", "fact_digest"], name="revocation_by_fact"),
        ),
        migrations.AddIndex(
            model_name="deletionjob",
            index=models.Index(fields=["tenant", "state", "accepted_at"], name="deletion_by_state"),
        ),
        migrations.AddIndex(
            model_name="deletionjob",
            index=models.Index(fields=["tenant", "target_kind", "target_public_id"], name="deletion_by_target"),
        ),
        migrations.AddConstraint(
            model_name="deletionjob",
            constraint=models.UniqueConstraint(fields=("tenant", "deletion_request_id"), name="deletion_request_once"),
        ),
        ProtectTable("retention_retentionclass"),
        ProtectTable("retention_revocation"),
        ProtectTable("retention_deletionjob"),
        ProtectTable("retention_deletionstep"),
        ProtectTable("retention_exposure"),
    ]
