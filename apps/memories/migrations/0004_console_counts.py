"""Indexes behind the console's counts, made without blocking writers."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("memories", "0003_evidence_instants"),
    ]

    operations = [
        AddIndexConcurrently(
            "memory", models.Index(fields=["tenant", "state", "memory_type", "namespace"], name="memory_by_state")
        ),
        AddIndexConcurrently(
            "candidate",
            models.Index(
                condition=models.Q(("status", "pending_review")), fields=["tenant", "created_at"], name="candidate_waiting"
            ),
        ),
        AddIndexConcurrently(
            "candidate",
            models.Index(
                condition=models.Q(("decision__isnull", False)),
                fields=["tenant", "decided_at", "decision"],
                name="candidate_decided",
            ),
        ),
    ]
