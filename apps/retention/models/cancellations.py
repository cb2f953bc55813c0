"""Cancellation: a host was asked to stop what it does with what it was given (RY-07). It recalls nothing."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class Cancellation(TenantOwned):
    """Of one trace, or of a session with the traces it had. ``traces``: whatever had handed something out by then."""

    session_id = models.CharField(_("session"), max_length=128, db_collation="C", blank=True)
    traces = ArrayField(models.UUIDField(), verbose_name=_("traces"), default=list, blank=True)
    subject = models.ForeignKey(
        "tenants.Subject", on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("for subject")
    )
    requested_by = models.UUIDField(_("requested by"))
    requested_at = models.DateTimeField(_("requested"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.AUDIT, audited=Audited.VERB)

    class Meta:
        verbose_name = _("cancellation")
        verbose_name_plural = _("cancellations")
        indexes = (models.Index(fields=("tenant", "-requested_at"), name="cancellation_by_time"),)

    def __str__(self) -> str:
        return self.session_id or str(self.pk)
