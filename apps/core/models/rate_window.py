"""How many requests a credential has sent in its current minute."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core.governance import Audited, Governance, Keeps


class RateWindow(models.Model):
    """One row per credential, overwritten when its minute is over; the table is unlogged, because a crash may forget it."""

    credential_id = models.UUIDField(_("credential"), primary_key=True, editable=False)
    window_started_at = models.DateTimeField(_("window started"))
    requests = models.PositiveIntegerField(_("requests"))

    governance: ClassVar = Governance(tenant=None, keeps=Keeps.TOKEN, audited=Audited.SYSTEM)

    class Meta:
        db_table = "core_rate_window"
        verbose_name = _("rate window")
        verbose_name_plural = _("rate windows")

    def __str__(self) -> str:
        return str(self.credential_id)
