"""LegalHold: a duty to keep something, with an end. It wins over every deletion and every sweep (design/05)."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class LegalHold(TenantOwned):
    """What is held, why (a code), by whom and until when. ``keys``: the held memory or event and its sources."""

    class Kind(models.TextChoices):
        MEMORY = "memory", _("memory")
        EVENT = "event", _("event")
        SUBJECT = "subject", _("subject")
        NAMESPACE = "namespace", _("namespace")

    namespace = models.ForeignKey("tenants.Namespace", on_delete=models.PROTECT, related_name="+", verbose_name=_("namespace"))
    target_kind = models.CharField(_("target kind"), max_length=12, choices=Kind)
    target_public_id = models.CharField(_("target"), max_length=160, db_collation="C")
    subject_id = models.UUIDField(_("subject"), null=True, blank=True)
    keys = ArrayField(models.UUIDField(), verbose_name=_("target keys"), default=list, blank=True)
    reason_code = models.CharField(_("reason"), max_length=64)
    placed_by = models.UUIDField(_("placed by"))
    placed_at = models.DateTimeField(_("placed"), default=clock.now)
    until = models.DateTimeField(_("until"))
    lifted_by = models.UUIDField(_("lifted by"), null=True, blank=True)
    lifted_at = models.DateTimeField(_("lifted"), null=True, blank=True)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.AUDIT, audited=Audited.VERB)

    class Meta:
        verbose_name = _("legal hold")
        verbose_name_plural = _("legal holds")
        indexes = (
            models.Index(fields=("tenant", "until"), condition=models.Q(lifted_at=None), name="hold_in_force"),
            models.Index(fields=("tenant", "-placed_at"), name="hold_by_time"),
        )

    def __str__(self) -> str:
        return f"{self.target_kind} {self.target_public_id}"
