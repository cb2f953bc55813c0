"""AuditEntry: what happened, to what, by whom, with which result."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class AuditEntry(TenantOwned):
    """Append-only (a trigger refuses the rest). Ids, codes and counts; never text."""

    class Result(models.TextChoices):
        OK = "ok", _("done")
        REFUSED = "refused", _("refused")
        FAILED = "failed", _("failed")

    at = models.DateTimeField(_("at"), default=clock.now)
    actor_kind = models.CharField(_("actor kind"), max_length=8)  # agent, person, service
    actor_id = models.UUIDField(_("actor"), null=True, blank=True)
    actor = models.CharField(_("actor name"), max_length=150)
    credential_id = models.UUIDField(_("credential"), null=True, blank=True)
    verb = models.CharField(_("verb"), max_length=64)
    object_type = models.CharField(_("object type"), max_length=32)
    object_id = models.CharField(_("object"), max_length=128)
    namespace_id = models.UUIDField(_("namespace"), null=True, blank=True)
    result = models.CharField(_("result"), max_length=8, choices=Result, default=Result.OK)
    codes = ArrayField(models.CharField(max_length=64), verbose_name=_("codes"), default=list, blank=True)
    counts = models.JSONField(_("counts"), default=dict, blank=True)
    request_id = models.CharField(_("request"), max_length=64, blank=True)
    revision = models.BigIntegerField(_("revision"), null=True, blank=True)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.AUDIT, audited=Audited.LOG)

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        indexes = (
            models.Index(fields=("tenant", "-at", "-id"), name="audit_by_time"),
            models.Index(fields=("tenant", "object_type", "object_id"), name="audit_by_object"),
        )

    def __str__(self) -> str:
        return f"{self.verb} {self.object_id}"
