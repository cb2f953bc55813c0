"""RetentionClass: how long things live, and what happens then."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class RetentionClass(TenantOwned):
    """Separate periods in days for what a record consists of; none is forever (RT-03)."""

    class AtEnd(models.TextChoices):
        REVIEW = "review", _("put up for review")
        EXPIRE = "expire", _("expire")
        ERASE = "erase", _("erase")

    key = models.CharField(_("key"), max_length=128)
    purpose = models.CharField(_("purpose"), max_length=400, blank=True)
    content_days = models.PositiveIntegerField(_("content, days"), default=365)
    index_days = models.PositiveIntegerField(_("index, days"), default=365)
    candidate_days = models.PositiveIntegerField(_("candidates, days"), default=90)
    trace_days = models.PositiveIntegerField(_("traces, days"), default=30)
    audit_days = models.PositiveIntegerField(_("audit, days"), default=2555)
    review_after_months = models.PositiveIntegerField(_("review after, months"), default=12)
    at_end = models.CharField(_("at the end"), max_length=8, choices=AtEnd, default=AtEnd.REVIEW)
    created_at = models.DateTimeField(_("created"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)

    class Meta:
        verbose_name = _("retention class")
        verbose_name_plural = _("retention classes")
        constraints = (models.UniqueConstraint(fields=("tenant", "key"), name="retention_class_once"),)

    def __str__(self) -> str:
        return self.key
