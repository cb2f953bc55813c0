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
        ("retention", "0001_initial"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Content",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("text", models.TextField(verbose_name="text")),
                ("sha256", models.CharField(max_length=64, verbose_name="SHA-256")),
                ("size", models.PositiveIntegerField(verbose_name="bytes")),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                (
                    "namespace",
                    models.ForeignKey(
                        db_constraint=False,
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
                "verbose_name": "content",
                "verbose_name_plural": "contents",
            },
        ),
        migrations.CreateModel(
            name="SourceEvent",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("event_id", models.CharField(db_collation="C", max_length=128, verbose_name="event id")),
                ("session_id", models.CharField(blank=True, db_collation="C", max_length=128, verbose_name="session")),
                ("actor_id", models.UUIDField(verbose_name="sent by")),
                (
                    "source_type",
                    models.CharField(
                        choices=[
                            ("user_message", "user message"),
                            ("assistant_message", "assistant message"),
                            ("tool_result", "tool result"),
                            ("web_page", "web page"),
                            ("document", "document"),
                            ("decision_log", "decision log"),
                            ("import", "import"),
                            ("system", "system"),
                        ],
                        max_length=20,
                        verbose_name="source type",
                    ),
                ),
                (
                    "trust",
                    models.CharField(
                        choices=[
                            ("subject", "the subject's own word"),
                            ("record", "a kept record"),
                            ("tool", "a tool's report"),
                            ("generated", "generated text"),
                            ("untrusted", "untrusted material"),
                        ],
                        max_length=12,
                        verbose_name="trust",
                    ),
                ),
                ("occurred_at", models.DateTimeField(verbose_name="occurred")),
                ("ingested_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="ingested")),
                ("sequence", models.BigIntegerField(verbose_name="sequence")),
                ("content_sha256", models.CharField(blank=True, max_length=64, verbose_name="SHA-256")),
                ("fingerprint", models.CharField(editable=False, max_length=64)),
                ("redactions", models.JSONField(blank=True, default=list, verbose_name="redactions")),
                (
                    "no_rebuild",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                (
                    "topics",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=128), blank=True, default=list, size=None, verbose_name="topics"
                    ),
                ),
                (
                    "entities",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=128), blank=True, default=list, size=None, verbose_name="entities"
                    ),
                ),
                ("deletion_epoch", models.BigIntegerField(verbose_name="deletion epoch")),
                ("covered", models.BooleanField(default=False, verbose_name="covered by a revocation")),
                ("job_id", models.UUIDField(blank=True, null=True, verbose_name="job")),
                ("erased_at", models.DateTimeField(blank=True, null=True, verbose_name="erased")),
                (
                    "content",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="evidence.content",
                    ),
                ),
                (
                    "metadata",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="evidence.content",
                    ),
                ),
                (
                    "namespace",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.namespace",
                        verbose_name="namespace",
                    ),
                ),
                (
                    "reference",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="evidence.content",
                    ),
                ),
                (
                    "retention_class",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="retention.retentionclass",
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
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
                "verbose_name": "source event",
                "verbose_name_plural": "source events",
            },
        ),
        migrations.CreateModel(
            name="Evidence",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("event", "event"),
                            ("raw_source", "preserved source"),
                            ("git_artifact", "Git artefact"),
                            ("document", "document"),
                            ("reproduction", "reproduction"),
                        ],
                        max_length=16,
                        verbose_name="kind",
                    ),
                ),
                (
                    "fidelity",
                    models.CharField(
                        choices=[
                            ("visible_transcript", "visible transcript"),
                            ("transcript_snapshot", "transcript snapshot"),
                            ("hybrid", "hybrid record"),
                            ("summary", "summary"),
                            ("projection", "projection"),
                        ],
                        max_length=20,
                        verbose_name="fidelity",
                    ),
                ),
                (
                    "availability",
                    models.CharField(
                        choices=[("available", "available"), ("unavailable", "unavailable"), ("erased", "erased")],
                        default="available",
                        max_length=12,
                        verbose_name="availability",
                    ),
                ),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
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
                (
                    "event",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="evidence",
                        to="evidence.sourceevent",
                        verbose_name="event",
                    ),
                ),
            ],
            options={
                "verbose_name": "evidence",
                "verbose_name_plural": "evidence",
            },
        ),
        migrations.CreateModel(
            name="Derivation",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
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
                    "child",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parents",
                        to="evidence.sourceevent",
                        verbose_name="made",
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="children",
                        to="evidence.sourceevent",
                        verbose_name="from",
                    ),
                ),
            ],
            options={
                "verbose_name": "derivation",
                "verbose_name_plural": "derivations",
            },
        ),
        migrations.AddIndex(
            model_name="sourceevent",
            index=models.Index(fields=["tenant", "namespace", "-sequence"], name="event_by_sequence"),
        ),
        migrations.AddIndex(
            model_name="sourceevent",
            index=models.Index(fields=["tenant", "session_id"], name="event_by_session"),
        ),
        migrations.AddIndex(
            model_name="sourceevent",
            index=models.Index(fields=["tenant", "subject"], name="event_by_subject"),
        ),
        migrations.AddConstraint(
            model_name="sourceevent",
            constraint=models.UniqueConstraint(fields=("tenant", "event_id"), name="event_once"),
        ),
        migrations.AddConstraint(
            model_name="derivation",
            constraint=models.UniqueConstraint(fields=("tenant", "child", "parent"), name="derivation_once"),
        ),
        migrations.AddConstraint(
            model_name="derivation",
            constraint=models.CheckConstraint(
                condition=models.Q(("child", models.F("parent")), _negated=True), name="derivation_not_from_itself"
            ),
        ),
        ProtectTable("evidence_content"),
        ProtectTable("evidence_sourceevent"),
        ProtectTable("evidence_derivation"),
        ProtectTable("evidence_evidence"),
        migrations.RunSQL("CREATE SEQUENCE evidence_event_sequence", "DROP SEQUENCE evidence_event_sequence"),
    ]
