import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models

import apps.core.clock
import apps.core.ids
from apps.core.row_security import GuardColumns, ProtectTable


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("core", "0001_initial"),
        ("evidence", "0001_initial"),
        ("retention", "0001_initial"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="ConflictSet",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("memory_type", models.CharField(max_length=12, verbose_name="type")),
                ("fact_key", models.CharField(db_collation="C", max_length=200, verbose_name="fact key")),
                ("conditions_hash", models.CharField(editable=False, max_length=64)),
                ("reason", models.CharField(max_length=64, verbose_name="why undecided")),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "open"), ("resolved", "resolved")], default="open", max_length=10, verbose_name="status"
                    ),
                ),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                ("resolved_at", models.DateTimeField(blank=True, null=True, verbose_name="resolved")),
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
                "verbose_name": "conflict",
                "verbose_name_plural": "conflicts",
            },
        ),
        migrations.CreateModel(
            name="Label",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(choices=[("topic", "topic"), ("entity", "entity")], max_length=8, verbose_name="kind")),
                ("key", models.CharField(db_collation="C", max_length=128, verbose_name="key")),
                (
                    "aliases",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=128), blank=True, default=list, size=None, verbose_name="aliases"
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
                "verbose_name": "label",
                "verbose_name_plural": "labels",
            },
        ),
        migrations.CreateModel(
            name="Memory",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                (
                    "memory_type",
                    models.CharField(
                        choices=[
                            ("preference", "preference"),
                            ("fact", "fact"),
                            ("episodic", "episode"),
                            ("procedural", "procedure"),
                            ("decision", "decision"),
                            ("state", "state"),
                            ("finding", "finding"),
                            ("constraint", "constraint"),
                            ("progress", "progress"),
                            ("goal", "goal"),
                        ],
                        max_length=12,
                        verbose_name="type",
                    ),
                ),
                ("fact_key", models.CharField(db_collation="C", max_length=200, verbose_name="fact key")),
                ("conditions_hash", models.CharField(editable=False, max_length=64)),
                (
                    "authority",
                    models.CharField(
                        choices=[("database", "database"), ("git", "Git")],
                        default="database",
                        max_length=8,
                        verbose_name="authority",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("active", "active"),
                            ("pending_review", "pending review"),
                            ("needs_review", "needs review"),
                            ("superseded", "superseded"),
                            ("withdrawn", "withdrawn"),
                            ("archived", "archived"),
                            ("revoked", "revoked"),
                        ],
                        default="active",
                        max_length=16,
                        verbose_name="state",
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1, verbose_name="version")),
                ("last_version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "retrieval_policy",
                    models.CharField(
                        choices=[("always", "always"), ("relevant", "when relevant"), ("never", "never")],
                        default="relevant",
                        max_length=8,
                        verbose_name="retrieval policy",
                    ),
                ),
                ("review_after", models.DateTimeField(verbose_name="review after")),
                ("created_by", models.UUIDField(verbose_name="created by")),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                ("updated_revision", models.BigIntegerField(verbose_name="updated in revision")),
                (
                    "access_policy",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.accesspolicy",
                        verbose_name="access policy",
                    ),
                ),
                (
                    "conflict_set",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="members",
                        to="memories.conflictset",
                        verbose_name="conflict",
                    ),
                ),
                (
                    "created_for",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.subject",
                        verbose_name="stated by",
                    ),
                ),
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
                    "retention_class",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="retention.retentionclass",
                        verbose_name="retention class",
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
                "verbose_name": "memory",
                "verbose_name_plural": "memories",
            },
        ),
        migrations.CreateModel(
            name="Candidate",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("candidate_id", models.CharField(db_collation="C", max_length=128, verbose_name="candidate id")),
                ("origin", models.CharField(max_length=64, verbose_name="origin")),
                ("policy_version", models.CharField(max_length=16, verbose_name="policy version")),
                (
                    "source_events",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, size=None, verbose_name="source events"
                    ),
                ),
                (
                    "evidence",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, size=None, verbose_name="evidence"
                    ),
                ),
                ("actor_id", models.UUIDField(verbose_name="proposed by")),
                ("session_id", models.CharField(blank=True, db_collation="C", max_length=128, verbose_name="session")),
                ("fingerprint", models.CharField(editable=False, max_length=64)),
                (
                    "memory_type",
                    models.CharField(
                        choices=[
                            ("preference", "preference"),
                            ("fact", "fact"),
                            ("episodic", "episode"),
                            ("procedural", "procedure"),
                            ("decision", "decision"),
                            ("state", "state"),
                            ("finding", "finding"),
                            ("constraint", "constraint"),
                            ("progress", "progress"),
                            ("goal", "goal"),
                        ],
                        max_length=12,
                        verbose_name="type",
                    ),
                ),
                ("fact_key", models.CharField(db_collation="C", max_length=200, verbose_name="fact key")),
                ("conditions", models.JSONField(blank=True, default=dict, verbose_name="conditions")),
                (
                    "epistemic_status",
                    models.CharField(
                        choices=[
                            ("explicit", "explicit"),
                            ("observed", "observed"),
                            ("inferred", "inferred"),
                            ("validated", "validated"),
                        ],
                        max_length=12,
                        verbose_name="epistemic status",
                    ),
                ),
                (
                    "verdict",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("provisional", "provisional"),
                            ("supported", "supported"),
                            ("contested", "contested"),
                            ("refuted", "refuted"),
                            ("not_applicable", "not applicable"),
                        ],
                        max_length=16,
                        null=True,
                        verbose_name="verdict",
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
                (
                    "retrieval_policy",
                    models.CharField(
                        choices=[("always", "always"), ("relevant", "when relevant"), ("never", "never")],
                        default="relevant",
                        max_length=8,
                        verbose_name="retrieval policy",
                    ),
                ),
                (
                    "authority",
                    models.CharField(
                        choices=[("database", "database"), ("git", "Git")],
                        default="database",
                        max_length=8,
                        verbose_name="authority",
                    ),
                ),
                ("relations", models.JSONField(blank=True, default=list, verbose_name="relations")),
                ("valid_from", models.DateTimeField(blank=True, null=True, verbose_name="valid from")),
                ("valid_to", models.DateTimeField(blank=True, null=True, verbose_name="valid to")),
                ("observed_at", models.DateTimeField(blank=True, null=True, verbose_name="observed")),
                ("last_confirmed_at", models.DateTimeField(blank=True, null=True, verbose_name="last confirmed")),
                ("expected_resolution_at", models.DateTimeField(blank=True, null=True, verbose_name="expected resolution")),
                ("expected_version", models.PositiveIntegerField(blank=True, null=True, verbose_name="expected version")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("received", "received"),
                            ("pending_review", "pending review"),
                            ("committed", "committed"),
                            ("no_op", "nothing new"),
                            ("conflict", "conflict"),
                            ("rejected", "rejected"),
                            ("withdrawn", "withdrawn"),
                        ],
                        default="received",
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                (
                    "decision",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("ADD", "added"),
                            ("NO_OP", "nothing new"),
                            ("ATTACH_EVIDENCE", "evidence attached"),
                            ("SUPERSEDE", "superseded"),
                            ("INSERT_HISTORY", "inserted into history"),
                            ("CONFLICT", "conflict"),
                            ("REJECT", "rejected"),
                        ],
                        max_length=16,
                        null=True,
                        verbose_name="decision",
                    ),
                ),
                (
                    "reasons",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=64), blank=True, default=list, size=None, verbose_name="reasons"
                    ),
                ),
                ("memory_version", models.PositiveIntegerField(blank=True, null=True, verbose_name="version")),
                ("revision", models.BigIntegerField(blank=True, null=True, verbose_name="revision")),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                ("decided_at", models.DateTimeField(blank=True, null=True, verbose_name="decided")),
                ("expires_at", models.DateTimeField(verbose_name="expires")),
                (
                    "access_policy",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.accesspolicy",
                        verbose_name="access policy",
                    ),
                ),
                (
                    "aliases",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evidence.content",
                    ),
                ),
                (
                    "content",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evidence.content",
                    ),
                ),
                (
                    "event",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="candidates",
                        to="evidence.sourceevent",
                        verbose_name="extracted from",
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
                    "rationale",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evidence.content",
                    ),
                ),
                (
                    "retention_class",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="retention.retentionclass",
                        verbose_name="retention class",
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
                        verbose_name="stated by",
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
                    "conflict_set",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="memories.conflictset",
                        verbose_name="conflict",
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="candidates",
                        to="memories.memory",
                        verbose_name="memory",
                    ),
                ),
            ],
            options={
                "verbose_name": "candidate",
                "verbose_name_plural": "candidates",
            },
        ),
        migrations.CreateModel(
            name="MemoryVersion",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("version", models.PositiveIntegerField(verbose_name="version")),
                ("content_hash", models.CharField(blank=True, max_length=64, verbose_name="content hash")),
                ("conditions", models.JSONField(blank=True, default=dict, verbose_name="conditions")),
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
                (
                    "epistemic_status",
                    models.CharField(
                        choices=[
                            ("explicit", "explicit"),
                            ("observed", "observed"),
                            ("inferred", "inferred"),
                            ("validated", "validated"),
                        ],
                        max_length=12,
                        verbose_name="epistemic status",
                    ),
                ),
                (
                    "verdict",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("provisional", "provisional"),
                            ("supported", "supported"),
                            ("contested", "contested"),
                            ("refuted", "refuted"),
                            ("not_applicable", "not applicable"),
                        ],
                        max_length=16,
                        null=True,
                        verbose_name="verdict",
                    ),
                ),
                (
                    "retrieval_policy",
                    models.CharField(
                        choices=[("always", "always"), ("relevant", "when relevant"), ("never", "never")],
                        max_length=8,
                        verbose_name="retrieval policy",
                    ),
                ),
                ("occurred_at", models.DateTimeField(blank=True, null=True, verbose_name="occurred")),
                ("observed_at", models.DateTimeField(blank=True, null=True, verbose_name="observed")),
                ("last_confirmed_at", models.DateTimeField(blank=True, null=True, verbose_name="last confirmed")),
                ("expected_resolution_at", models.DateTimeField(blank=True, null=True, verbose_name="expected resolution")),
                ("valid_from", models.DateTimeField(verbose_name="valid from")),
                ("effective", models.BooleanField(default=True, verbose_name="effective time was stated")),
                ("valid_to", models.DateTimeField(blank=True, null=True, verbose_name="valid to")),
                ("ingested_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="recorded")),
                ("revision", models.BigIntegerField(verbose_name="revision")),
                ("retired_revision", models.BigIntegerField(blank=True, null=True, verbose_name="retired in revision")),
                ("independent_evidence_count", models.PositiveIntegerField(default=0, verbose_name="independent evidence")),
                ("authority_revision", models.CharField(blank=True, max_length=64, verbose_name="authority revision")),
                ("decision", models.CharField(max_length=16, verbose_name="decision")),
                ("author_id", models.UUIDField(verbose_name="author")),
                ("origin", models.CharField(max_length=64, verbose_name="origin")),
                ("session_id", models.CharField(blank=True, db_collation="C", max_length=128, verbose_name="session")),
                ("hidden_characters", models.BooleanField(default=False, verbose_name="holds hidden characters")),
                (
                    "aliases",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evidence.content",
                    ),
                ),
                (
                    "author_subject",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.subject",
                        verbose_name="stated by",
                    ),
                ),
                (
                    "content",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="evidence.content"
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="memories.memory",
                        verbose_name="memory",
                    ),
                ),
                (
                    "rationale",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evidence.content",
                    ),
                ),
                (
                    "reason",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evidence.content",
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
                "verbose_name": "memory version",
                "verbose_name_plural": "memory versions",
            },
        ),
        migrations.AddField(
            model_name="memory",
            name="head",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="memories.memoryversion",
                verbose_name="current version",
            ),
        ),
        migrations.CreateModel(
            name="EvidenceLink",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                (
                    "stance",
                    models.CharField(
                        choices=[("supports", "supports"), ("refutes", "refutes")],
                        default="supports",
                        max_length=8,
                        verbose_name="stance",
                    ),
                ),
                ("held_at", models.DateTimeField(blank=True, null=True, verbose_name="speaks for")),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                (
                    "evidence",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="links", to="evidence.evidence"),
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
                    "memory",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="evidence_links", to="memories.memory"
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="evidence_links", to="memories.memoryversion"
                    ),
                ),
            ],
            options={
                "verbose_name": "evidence link",
                "verbose_name_plural": "evidence links",
            },
        ),
        migrations.CreateModel(
            name="Relation",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                (
                    "type",
                    models.CharField(
                        choices=[
                            ("supersedes", "supersedes"),
                            ("contradicts", "contradicts"),
                            ("duplicate_of", "duplicate of"),
                            ("derived_from", "derived from"),
                        ],
                        max_length=12,
                        verbose_name="type",
                    ),
                ),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="relations_out",
                        to="memories.memory",
                        verbose_name="from",
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="relations_in",
                        to="memories.memory",
                        verbose_name="to",
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
                "verbose_name": "relation",
                "verbose_name_plural": "relations",
            },
        ),
        migrations.AddConstraint(
            model_name="conflictset",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "open")),
                fields=("tenant", "namespace", "memory_type", "fact_key", "conditions_hash"),
                name="conflict_one_open_set",
            ),
        ),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.UniqueConstraint(fields=("tenant", "kind", "key"), name="label_once"),
        ),
        migrations.AddIndex(
            model_name="candidate",
            index=models.Index(fields=["tenant", "namespace", "status", "id"], name="candidate_by_status"),
        ),
        migrations.AddIndex(
            model_name="candidate",
            index=models.Index(fields=["tenant", "event"], name="candidate_by_event"),
        ),
        migrations.AddIndex(
            model_name="candidate",
            index=models.Index(fields=["tenant", "memory"], name="candidate_by_memory"),
        ),
        migrations.AddIndex(
            model_name="candidate",
            index=django.contrib.postgres.indexes.GinIndex(fields=["source_events"], name="candidate_by_sources"),
        ),
        migrations.AddIndex(
            model_name="candidate",
            index=models.Index(
                condition=models.Q(("status", "pending_review")), fields=["tenant", "created_at"], name="candidate_waiting"
            ),
        ),
        migrations.AddIndex(
            model_name="candidate",
            index=models.Index(
                condition=models.Q(("decision__isnull", False)),
                fields=["tenant", "decided_at", "decision", "namespace", "access_policy"],
                name="candidate_decided",
            ),
        ),
        migrations.AddConstraint(
            model_name="candidate",
            constraint=models.UniqueConstraint(fields=("tenant", "candidate_id"), name="candidate_once"),
        ),
        migrations.AddConstraint(
            model_name="memoryversion",
            constraint=models.UniqueConstraint(fields=("tenant", "memory", "version"), name="memory_version_once"),
        ),
        migrations.AddConstraint(
            model_name="memoryversion",
            constraint=models.CheckConstraint(
                condition=models.Q(("valid_to", None), ("valid_to__gte", models.F("valid_from")), _connector="OR"),
                name="memory_version_order",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(fields=["tenant", "namespace", "fact_key"], name="memory_by_fact_key"),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(fields=["tenant", "namespace", "id"], name="memory_by_namespace"),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(fields=["tenant", "updated_revision"], name="memory_by_revision"),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("retrieval_policy", "always"), ("state", "active")),
                fields=["tenant", "namespace"],
                name="memory_always",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("conflict_set", None), _negated=True),
                fields=["tenant", "conflict_set"],
                name="memory_in_conflict",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("state", "active")), fields=["tenant", "review_after"], name="memory_review_due"
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(fields=["tenant", "state", "memory_type", "namespace", "access_policy"], name="memory_by_state"),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.UniqueConstraint(
                condition=models.Q(("conflict_set", None), ("state", "active")),
                fields=("tenant", "namespace", "memory_type", "fact_key", "conditions_hash"),
                name="memory_one_exclusive_head",
            ),
        ),
        migrations.AddIndex(
            model_name="evidencelink",
            index=models.Index(fields=["tenant", "evidence"], name="evidence_link_by_evidence"),
        ),
        migrations.AddConstraint(
            model_name="evidencelink",
            constraint=models.UniqueConstraint(fields=("tenant", "version", "evidence"), name="evidence_link_once"),
        ),
        migrations.AddConstraint(
            model_name="relation",
            constraint=models.UniqueConstraint(fields=("tenant", "source", "target", "type"), name="relation_once"),
        ),
        migrations.AddConstraint(
            model_name="relation",
            constraint=models.CheckConstraint(
                condition=models.Q(("source", models.F("target")), _negated=True), name="relation_not_to_itself"
            ),
        ),
        ProtectTable("memories_candidate"),
        ProtectTable("memories_conflictset"),
        ProtectTable("memories_label"),
        ProtectTable("memories_evidencelink"),
        ProtectTable("memories_relation"),
        ProtectTable("memories_memory"),
        ProtectTable("memories_memoryversion"),
        GuardColumns(
            "memories_memoryversion",
            may_change=("valid_to", "retired_revision", "independent_evidence_count"),
            may_be_cleared=(
                "content_id",
                "rationale_id",
                "aliases_id",
                "reason_id",
                "content_hash",
                "conditions",
                "topics",
                "entities",
                "session_id",
            ),
        ),
    ]
