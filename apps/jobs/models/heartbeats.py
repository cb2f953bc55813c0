"""WorkerHeartbeat: which workers are alive, for readiness and the console."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps


class WorkerHeartbeat(models.Model):
    name = models.CharField(_("name"), max_length=128, primary_key=True)
    seen_at = models.DateTimeField(_("seen"), default=clock.now)

    governance: ClassVar = Governance(tenant=None, keeps=Keeps.WORK, audited=Audited.SYSTEM)

    class Meta:
        verbose_name = _("worker")
        verbose_name_plural = _("workers")

    def __str__(self) -> str:
        return self.name
