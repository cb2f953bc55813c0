"""Vectors of versions, for the semantic lane.

Stored as plain numbers, so that a database without pgvector migrates and serves like any other; where the extension is there,
they are cast to its type when they are compared. A vector is made of a text and tells of it: it is treated like one (row-level
security, no samples in the catalogue, a deletion layer, pages rewritten after a deletion).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core.governance import Audited, Governance, Keeps
from apps.retrieval.models.index import Layer

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


class RealField(models.FloatField):  # type: ignore[type-arg]  # not subscriptable at run time
    """A number of four bytes; what tells of words is treated like words (apps/retention/private_tables.py)."""

    tells_of_words = True

    def db_type(self, connection: BaseDatabaseWrapper) -> str:  # noqa: ARG002 - as in Django
        return "real"


class Vector(models.Model):
    """What one embedder makes of one version. The primary key leads with the namespaces that a question may reach."""

    pk = models.CompositePrimaryKey("tenant_id", "namespace_id", "embedder", "memory_id", "version")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+")
    namespace_id = models.UUIDField(_("namespace"))
    embedder = models.CharField(_("embedder"), max_length=64)
    memory_id = models.UUIDField(_("memory"))
    version = models.PositiveIntegerField(_("version"))
    era = models.PositiveSmallIntegerField(
        _("layer"), choices=[(int(layer), layer.label) for layer in (Layer.CURRENT, Layer.HISTORY)]
    )
    dimension = models.PositiveSmallIntegerField(_("dimension"))
    embedding = ArrayField(RealField(), verbose_name=_("vector"))

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONTENT, audited=Audited.PROJECTION, layer="semantic_index")

    class Meta:
        verbose_name = _("vector")
        verbose_name_plural = _("vectors")
        indexes = (models.Index(fields=("tenant", "memory_id"), name="vector_by_memory"),)
        constraints = (
            models.CheckConstraint(condition=models.Q(embedding__len=models.F("dimension")), name="vector_has_its_dimension"),
        )

    def __str__(self) -> str:
        return f"{self.memory_id} v{self.version} {self.embedder}"
