"""Answers kept for a day so that a retried request with the same Idempotency-Key is harmless."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class IdempotencyKey(TenantOwned):
    """One row per tenant, caller, route and key, inserted in the transaction of the effect. Answers hold ids and codes only."""

    caller_id = models.CharField(_("caller"), max_length=128, editable=False)
    route = models.CharField(_("route"), max_length=200)
    key = models.CharField(_("key"), max_length=128, db_collation="C")
    body_sha256 = models.CharField(max_length=64, editable=False)
    status = models.PositiveSmallIntegerField(_("status"))
    answer = models.JSONField(_("answer"), default=dict)
    headers = models.JSONField(_("headers"), default=dict)
    created_at = models.DateTimeField(_("created"), default=clock.now)
    expires_at = models.DateTimeField(_("expires"))

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.TOKEN, audited=Audited.SYSTEM)

    class Meta:
        verbose_name = _("idempotency key")
        verbose_name_plural = _("idempotency keys")
        constraints = (models.UniqueConstraint(fields=("tenant", "caller_id", "route", "key"), name="idempotency_key_once"),)
        indexes = (models.Index(fields=("expires_at",), name="idempotency_expiry"),)

    def __str__(self) -> str:
        return self.route
