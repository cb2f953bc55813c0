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
        ("evidence", "0001_initial"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="RetrievalTrace",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("at", models.DateTimeField(default=apps.core.clock.now, verbose_name="at")),
                ("as_of", models.DateTimeField(verbose_name="as of")),
                ("actor_id", models.UUIDField(verbose_name="actor")),
                ("actor", models.CharField(max_length=150, verbose_name="actor name")),
                ("session_id", models.CharField(blank=True, db_collation="C", max_length=128, verbose_name="session")),
                ("project_id", models.UUIDField(blank=True, null=True, verbose_name="project")),
                ("mode", models.CharField(max_length=16, verbose_name="mode")),
                ("trigger", models.CharField(max_length=16, verbose_name="trigger")),
                ("decision", models.CharField(max_length=16, verbose_name="decision")),
                ("outcome", models.CharField(max_length=24, verbose_name="outcome")),
                (
                    "namespaces",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), default=list, size=None, verbose_name="namespaces"
                    ),
                ),
                (
                    "window_roles",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=32), blank=True, default=list, size=None, verbose_name="window"
                    ),
                ),
                ("lanes", models.JSONField(default=dict, verbose_name="lanes")),
                ("funnel", models.JSONField(default=dict, verbose_name="funnel")),
                (
                    "warnings",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=32), blank=True, default=list, size=None, verbose_name="warnings"
                    ),
                ),
                ("budget", models.JSONField(default=dict, verbose_name="budget")),
                ("rule_version", models.CharField(max_length=16, verbose_name="rule version")),
                ("snapshot_revision", models.BigIntegerField(verbose_name="revision")),
                ("timings_ms", models.JSONField(default=dict, verbose_name="timings, ms")),
                ("expires_at", models.DateTimeField(verbose_name="expires")),
                (
                    "request",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="evidence.content",
                        verbose_name="request text",
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
                "verbose_name": "retrieval trace",
                "verbose_name_plural": "retrieval traces",
            },
        ),
        migrations.CreateModel(
            name="TermStat",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id",
                        "generation",
                        "namespace_id",
                        "layer",
                        "term",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("generation", models.PositiveSmallIntegerField(verbose_name="generation")),
                ("namespace_id", models.UUIDField(verbose_name="namespace")),
                ("layer", models.PositiveSmallIntegerField(choices=[(0, "current"), (1, "history")], verbose_name="layer")),
                ("term", models.BigIntegerField(verbose_name="term")),
                ("documents", models.BigIntegerField(verbose_name="documents")),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "term statistic",
                "verbose_name_plural": "term statistics",
            },
        ),
        migrations.CreateModel(
            name="TraceCandidate",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("memory_id", models.UUIDField(verbose_name="memory")),
                ("version", models.PositiveIntegerField(verbose_name="version")),
                ("position", models.PositiveSmallIntegerField(verbose_name="rank")),
                ("chosen", models.BooleanField(verbose_name="chosen")),
                ("reason", models.CharField(blank=True, max_length=32, verbose_name="reason")),
                ("components", models.JSONField(default=dict, verbose_name="components")),
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
                        related_name="candidates",
                        to="retrieval.retrievaltrace",
                    ),
                ),
            ],
            options={
                "verbose_name": "trace candidate",
                "verbose_name_plural": "trace candidates",
            },
        ),
        migrations.CreateModel(
            name="IndexState",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("namespace_id", models.UUIDField(verbose_name="namespace")),
                ("generation", models.PositiveSmallIntegerField(default=1, verbose_name="generation")),
                ("analysis_version", models.CharField(max_length=16, verbose_name="analysis version")),
                ("documents", models.BigIntegerField(default=0, verbose_name="current documents")),
                ("history_documents", models.BigIntegerField(default=0, verbose_name="historical documents")),
                ("revision", models.BigIntegerField(default=0, verbose_name="projection revision")),
                ("rebuilt_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="rebuilt")),
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
                "verbose_name": "index state",
                "verbose_name_plural": "index states",
                "constraints": [models.UniqueConstraint(fields=("tenant", "namespace_id"), name="index_state_once")],
            },
        ),
        migrations.CreateModel(
            name="Posting",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id",
                        "generation",
                        "namespace_id",
                        "layer",
                        "term",
                        "memory_id",
                        "version",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("generation", models.PositiveSmallIntegerField(verbose_name="generation")),
                ("namespace_id", models.UUIDField(verbose_name="namespace")),
                ("layer", models.PositiveSmallIntegerField(choices=[(0, "current"), (1, "history")], verbose_name="layer")),
                ("term", models.BigIntegerField(verbose_name="term")),
                ("memory_id", models.UUIDField(verbose_name="memory")),
                ("version", models.PositiveIntegerField(verbose_name="version")),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "posting",
                "verbose_name_plural": "postings",
                "indexes": [models.Index(fields=["tenant", "memory_id"], name="posting_by_memory")],
            },
        ),
        migrations.AddIndex(
            model_name="retrievaltrace",
            index=models.Index(fields=["tenant", "-at", "-id"], name="trace_by_time"),
        ),
        migrations.AddIndex(
            model_name="retrievaltrace",
            index=models.Index(fields=["tenant", "session_id"], name="trace_by_session"),
        ),
        migrations.AddIndex(
            model_name="retrievaltrace",
            index=models.Index(fields=["expires_at"], name="trace_expiry"),
        ),
        migrations.AddIndex(
            model_name="tracecandidate",
            index=models.Index(fields=["tenant", "memory_id"], name="trace_candidate_by_memory"),
        ),
        ProtectTable("retrieval_posting"),
        ProtectTable("retrieval_termstat"),
        ProtectTable("retrieval_indexstate"),
        ProtectTable("retrieval_retrievaltrace"),
        ProtectTable("retrieval_tracecandidate"),
    ]
