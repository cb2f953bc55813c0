"""Revocation: the barrier. From its commit on, nothing may read, write, queue or merge what it covers."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class TargetKind(models.TextChoices):
    MEMORY = "memory", _("memory")
    EVENT = "event", _("event")
    SESSION = "session", _("session")
    SUBJECT = "subject", _("subject")
    NAMESPACE = "namespace", _("namespace")


class Revocation(TenantOwned):
    """What was revoked, when, and under which epoch.

    ``target_id`` is the target's own id (primary key as text, or the caller's id of a session). ``fact_digest`` is a keyed
    hash of the fact a memory stated; it lets a kept source or a later statement be recognised without keeping the words.
    """

    namespace = models.ForeignKey("tenants.Namespace", on_delete=models.PROTECT, related_name="+", verbose_name=_("namespace"))
    target_kind = models.CharField(_("target kind"), max_length=12, choices=TargetKind)
    target_id = models.CharField(_("target"), max_length=128, db_collation="C")
    epoch = models.BigIntegerField(_("epoch"))
    accepted_at = models.DateTimeField(_("accepted"), default=clock.now)
    cover_sources = models.BooleanField(_("covers its sources"), default=False)
    suppress_future = models.BooleanField(_("suppresses the future"), default=False)
    fact_digest = models.BigIntegerField(_("fact digest"), null=True, blank=True)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.AUDIT, audited=Audited.VERB)

    class Meta:
        verbose_name = _("revocation")
        verbose_name_plural = _("revocations")
        indexes = (
            models.Index(fields=("tenant", "target_kind", "target_id"), name="revocation_by_target"),
            models.Index(fields=("tenant", "namespace", "fact_digest"), name="revocation_by_fact"),
        )

    def __str__(self) -> str:
        return f"{self.target_kind} {self.target_id}"
