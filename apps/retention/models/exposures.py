"""Exposure: who had been given what was then deleted. It cannot be recalled, so it is listed (RY-06; design/05 step 8)."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class Exposure(TenantOwned):
    """One trace that had packed the target, written down before the traces themselves are cleared."""

    job = models.ForeignKey(
        "retention.DeletionJob", on_delete=models.CASCADE, related_name="exposures", verbose_name=_("deletion")
    )
    trace_id = models.UUIDField(_("trace"))
    agent = models.CharField(_("agent"), max_length=150)
    at = models.DateTimeField(_("at"))

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.AUDIT, audited=Audited.VERB)

    class Meta:
        verbose_name = _("exposure")
        verbose_name_plural = _("exposures")
        constraints = (models.UniqueConstraint(fields=("tenant", "job", "trace_id"), name="exposure_once"),)

    def __str__(self) -> str:
        return str(self.trace_id)
