"""Vectors for the semantic lane, as plain numbers: nothing here needs the extension that compares them."""

from __future__ import annotations

from typing import ClassVar

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import apps.retrieval.models.semantic
from apps.core.row_security import ProtectTable


class Migration(migrations.Migration):
    dependencies: ClassVar = [("retrieval", "0004_asked_with"), ("tenants", "0001_initial")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="indexstate",
            name="embedded_revision",
            field=models.BigIntegerField(db_default=0, default=0, verbose_name="embedded up to revision"),
        ),
        migrations.AddField(
            model_name="indexstate",
            name="embedder",
            field=models.CharField(blank=True, db_default="", default="", max_length=64, verbose_name="embedder"),
        ),
        migrations.CreateModel(
            name="Vector",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id",
                        "namespace_id",
                        "embedder",
                        "memory_id",
                        "version",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("namespace_id", models.UUIDField(verbose_name="namespace")),
                ("embedder", models.CharField(max_length=64, verbose_name="embedder")),
                ("memory_id", models.UUIDField(verbose_name="memory")),
                ("version", models.PositiveIntegerField(verbose_name="version")),
                ("era", models.PositiveSmallIntegerField(choices=[(0, "current"), (1, "history")], verbose_name="layer")),
                ("dimension", models.PositiveSmallIntegerField(verbose_name="dimension")),
                (
                    "embedding",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.retrieval.models.semantic.RealField(), size=None, verbose_name="vector"
                    ),
                ),
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
                "verbose_name": "vector",
                "verbose_name_plural": "vectors",
                "indexes": [models.Index(fields=["tenant", "memory_id"], name="vector_by_memory")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("embedding__len", models.F("dimension"))), name="vector_has_its_dimension"
                    )
                ],
            },
        ),
        ProtectTable("retrieval_vector"),
    ]
