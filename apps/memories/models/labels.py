"""Label: the vocabulary of topics and entities; strict at ingest, lenient in questions."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class Label(TenantOwned):
    class Kind(models.TextChoices):
        TOPIC = "topic", _("topic")
        ENTITY = "entity", _("entity")

    kind = models.CharField(_("kind"), max_length=8, choices=Kind)
    key = models.CharField(_("key"), max_length=128, db_collation="C")
    aliases = ArrayField(models.CharField(max_length=128), default=list, blank=True, verbose_name=_("aliases"))
    created_at = models.DateTimeField(_("created"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)

    class Meta:
        verbose_name = _("label")
        verbose_name_plural = _("labels")
        constraints = (models.UniqueConstraint(fields=("tenant", "kind", "key"), name="label_once"),)

    def __str__(self) -> str:
        return f"{self.kind}/{self.key}"
