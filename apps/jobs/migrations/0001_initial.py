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
        ("django_q", "0019_alter_task_options_alter_ormq_key_alter_ormq_lock_and_more"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="WorkerHeartbeat",
            fields=[
                ("name", models.CharField(max_length=128, primary_key=True, serialize=False, verbose_name="name")),
                ("seen_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="seen")),
            ],
            options={
                "verbose_name": "worker",
                "verbose_name_plural": "workers",
            },
        ),
        migrations.CreateModel(
            name="Outbox",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("topic", models.CharField(max_length=64, verbose_name="topic")),
                ("object_id", models.UUIDField(verbose_name="object")),
                ("version", models.BigIntegerField(default=0, verbose_name="version")),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                ("delivered_at", models.DateTimeField(blank=True, null=True, verbose_name="delivered")),
                ("attempts", models.PositiveIntegerField(default=0, verbose_name="attempts")),
                ("next_try_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="next try")),
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
                "verbose_name": "outbox message",
                "verbose_name_plural": "outbox messages",
                "indexes": [
                    models.Index(condition=models.Q(("delivered_at", None)), fields=["next_try_at", "id"], name="outbox_waiting"),
                    models.Index(
                        condition=models.Q(("attempts__gt", 0), ("delivered_at", None)),
                        fields=["object_id", "id"],
                        name="outbox_held",
                    ),
                    models.Index(fields=["tenant", "-created_at"], name="outbox_by_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProcessingJob",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=32, verbose_name="kind")),
                ("key", models.CharField(db_collation="C", max_length=200, verbose_name="key")),
                ("payload", models.JSONField(default=dict, verbose_name="payload")),
                (
                    "namespaces",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), default=list, size=None, verbose_name="namespaces"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("running", "running"),
                            ("retry_wait", "waiting to retry"),
                            ("done", "done"),
                            ("dead", "dead letter"),
                            ("discarded", "discarded"),
                        ],
                        default="queued",
                        max_length=12,
                        verbose_name="state",
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0, verbose_name="attempts")),
                ("max_attempts", models.PositiveIntegerField(default=8, verbose_name="most attempts")),
                ("fence", models.BigIntegerField(default=0, verbose_name="fence")),
                ("lease_until", models.DateTimeField(blank=True, null=True, verbose_name="lease until")),
                ("next_try_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="next try")),
                ("checkpoint", models.JSONField(default=dict, verbose_name="checkpoint")),
                ("last_error", models.CharField(blank=True, max_length=128, verbose_name="last error")),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                ("started_at", models.DateTimeField(blank=True, null=True, verbose_name="started")),
                ("finished_at", models.DateTimeField(blank=True, null=True, verbose_name="finished")),
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
                "verbose_name": "job",
                "verbose_name_plural": "jobs",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ("queued", "retry_wait"))),
                        fields=["kind", "next_try_at", "id"],
                        name="job_due",
                    ),
                    models.Index(condition=models.Q(("state", "running")), fields=["lease_until"], name="job_leases"),
                    models.Index(fields=["tenant", "state", "-created_at"], name="job_by_state"),
                    models.Index(condition=models.Q(("state", "dead")), fields=["tenant", "-finished_at"], name="job_dead"),
                ],
                "constraints": [models.UniqueConstraint(fields=("tenant", "kind", "key"), name="job_once")],
            },
        ),
        ProtectTable("jobs_outbox"),
        ProtectTable("jobs_processingjob"),
        # The cache in which django-q2 keeps its statistics (CACHES["cluster"]), as ``createcachetable`` would make it. Not logged:
        # it is written every second, read by workers only, and worth nothing after a crash.
        migrations.RunSQL(
            sql=[
                """CREATE UNLOGGED TABLE memory_platform_cluster_cache (
                       cache_key varchar(255) NOT NULL PRIMARY KEY, value text NOT NULL, expires timestamptz NOT NULL)""",
                "CREATE INDEX memory_platform_cluster_cache_expires ON memory_platform_cluster_cache (expires)",
            ],
            reverse_sql="DROP TABLE memory_platform_cluster_cache",
        ),
        # Rings are hints: after a crash the sweeper finds what they stood for, so none is worth a wait for the disk.
        migrations.RunSQL(sql="ALTER TABLE django_q_ormq SET UNLOGGED", reverse_sql="ALTER TABLE django_q_ormq SET LOGGED"),
    ]
