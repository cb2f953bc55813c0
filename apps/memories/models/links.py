"""EvidenceLink and Relation: what a version rests on, and how memories stand to each other."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class EvidenceLink(TenantOwned):
    """Many-to-many between versions and evidence, with a stance (LN-01)."""

    class Stance(models.TextChoices):
        SUPPORTS = "supports", _("supports")
        REFUTES = "refutes", _("refutes")

    memory = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="evidence_links")
    version = models.ForeignKey("memories.MemoryVersion", on_delete=models.CASCADE, related_name="evidence_links")
    evidence = models.ForeignKey("evidence.Evidence", on_delete=models.PROTECT, related_name="links")
    stance = models.CharField(_("stance"), max_length=8, choices=Stance, default=Stance.SUPPORTS)
    held_at = models.DateTimeField(_("speaks for"), null=True, blank=True)  # the instant for which this evidence says so
    created_at = models.DateTimeField(_("created"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONTENT, audited=Audited.VERB, layer="relations")

    class Meta:
        verbose_name = _("evidence link")
        verbose_name_plural = _("evidence links")
        constraints = (models.UniqueConstraint(fields=("tenant", "version", "evidence"), name="evidence_link_once"),)
        indexes = (models.Index(fields=("tenant", "evidence"), name="evidence_link_by_evidence"),)

    def __str__(self) -> str:
        return self.stance


class Relation(TenantOwned):
    """``source`` stands in this relation to ``target``, for example: source supersedes target."""

    class Type(models.TextChoices):
        SUPERSEDES = "supersedes", _("supersedes")
        CONTRADICTS = "contradicts", _("contradicts")
        DUPLICATE_OF = "duplicate_of", _("duplicate of")
        DERIVED_FROM = "derived_from", _("derived from")

    source = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="relations_out", verbose_name=_("from"))
    target = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="relations_in", verbose_name=_("to"))
    type = models.CharField(_("type"), max_length=12, choices=Type)
    created_at = models.DateTimeField(_("created"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONTENT, audited=Audited.VERB, layer="relations")

    class Meta:
        verbose_name = _("relation")
        verbose_name_plural = _("relations")
        constraints = (
            models.UniqueConstraint(fields=("tenant", "source", "target", "type"), name="relation_once"),
            models.CheckConstraint(condition=~models.Q(source=models.F("target")), name="relation_not_to_itself"),
        )

    def __str__(self) -> str:
        return self.type
