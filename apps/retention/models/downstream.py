"""DownstreamSystem and DownstreamNotice: who else has copies, and whether they acknowledged that something was deleted."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class DownstreamSystem(TenantOwned):
    """A system that is told of every deletion. Its secret is kept sealed, because it has to sign; it was shown once."""

    name = models.CharField(_("name"), max_length=64)
    url = models.CharField(_("address"), max_length=2048)
    sealed_secret = models.TextField(editable=False)
    registered_by = models.UUIDField(_("registered by"))
    registered_at = models.DateTimeField(_("registered"), default=clock.now)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    last_tried_at = models.DateTimeField(_("last tried"), null=True, blank=True)
    last_answer = models.CharField(_("last answer"), max_length=64, blank=True)  # a code

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)

    class Meta:
        verbose_name = _("downstream system")
        verbose_name_plural = _("downstream systems")
        constraints = (
            models.UniqueConstraint(fields=("tenant", "name"), condition=models.Q(ended_at=None), name="downstream_name_once"),
        )

    def __str__(self) -> str:
        return self.name


class DownstreamNotice(TenantOwned):
    """One deletion told to one system: sent again, under the same id, until it is acknowledged or somebody gives it up."""

    class State(models.TextChoices):
        WAITING = "waiting", _("not acknowledged yet")
        ACKNOWLEDGED = "acknowledged", _("acknowledged")
        GIVEN_UP = "given_up", _("given up")

    job = models.ForeignKey("retention.DeletionJob", on_delete=models.CASCADE, related_name="notices", verbose_name=_("deletion"))
    system = models.ForeignKey(
        DownstreamSystem, on_delete=models.PROTECT, related_name="notices", verbose_name=_("downstream system")
    )
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.WAITING)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    last_answer = models.CharField(_("last answer"), max_length=64, blank=True)  # a code
    last_tried_at = models.DateTimeField(_("last tried"), null=True, blank=True)
    next_try_at = models.DateTimeField(_("next try"), default=clock.now)
    settled_at = models.DateTimeField(_("settled"), null=True, blank=True)  # acknowledged or given up

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.AUDIT, audited=Audited.VERB)

    class Meta:
        verbose_name = _("downstream notice")
        verbose_name_plural = _("downstream notices")
        constraints = (
            models.UniqueConstraint(fields=("tenant", "job", "system"), name="downstream_notice_once"),
            models.CheckConstraint(
                condition=models.Q(state="waiting", settled_at=None)
                | (~models.Q(state="waiting") & models.Q(settled_at__isnull=False)),
                name="downstream_notice_settled",
            ),
        )

    def __str__(self) -> str:
        return str(self.pk)
