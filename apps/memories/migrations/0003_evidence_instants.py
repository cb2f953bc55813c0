"""Evidence says for which instant it speaks; deletions of events and sessions find what was stated there."""

import django.contrib.postgres.indexes
from django.db import migrations, models

from apps.core.row_security import GuardColumns


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0002_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="evidencelink",
            name="held_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="speaks for"),
        ),
        migrations.AddField(
            model_name="memoryversion",
            name="session_id",
            field=models.CharField(blank=True, db_collation="C", default="", max_length=128, verbose_name="session"),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="candidate",
            name="session_id",
            field=models.CharField(blank=True, db_collation="C", default="", max_length=128, verbose_name="session"),
            preserve_default=False,
        ),
        migrations.AddIndex(
            model_name="candidate",
            index=django.contrib.postgres.indexes.GinIndex(fields=["source_events"], name="candidate_by_sources"),
        ),
        # The guard of versions once more, because a session can be forgotten too.
        migrations.RunSQL(
            [
                "DROP TRIGGER append_only_columns ON memories_memoryversion",
                "DROP FUNCTION memories_memoryversion_guard()",
            ],
            migrations.RunSQL.noop,
        ),
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
