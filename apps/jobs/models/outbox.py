"""Outbox: what has to be told to others, written in the transaction that makes it true."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class Outbox(TenantOwned):
    """A message by id. Delivered at least once, in the order of its id; consumers ignore what is older than what they have."""

    topic = models.CharField(_("topic"), max_length=64)
    object_id = models.UUIDField(_("object"))
    version = models.BigIntegerField(_("version"), default=0)
    created_at = models.DateTimeField(_("created"), default=clock.now)
    delivered_at = models.DateTimeField(_("delivered"), null=True, blank=True)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    next_try_at = models.DateTimeField(_("next try"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.WORK, audited=Audited.SYSTEM)

    class Meta:
        verbose_name = _("outbox message")
        verbose_name_plural = _("outbox messages")
        indexes = (
            models.Index(fields=("next_try_at", "id"), condition=models.Q(delivered_at=None), name="outbox_waiting"),
            # Tried and not delivered: what holds back later messages about the same object.
            models.Index(fields=("object_id", "id"), condition=models.Q(delivered_at=None, attempts__gt=0), name="outbox_held"),
            models.Index(fields=("tenant", "-created_at"), name="outbox_by_time"),
        )

    def __str__(self) -> str:
        return self.topic
