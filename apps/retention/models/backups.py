"""Backup: a copy of the database that this installation made, where it is, and when it goes."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.ids import new_id


class Backup(models.Model):
    """Registered before it is begun, so that one which a crash leaves half made is known and goes as well. None is for ever."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    made_at = models.DateTimeField(_("made"), default=clock.now)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)
    expires_at = models.DateTimeField(_("expires"))
    location = models.CharField(_("location"), max_length=1024)
    size = models.BigIntegerField(_("size, bytes"), default=0)
    sha256 = models.CharField(_("SHA-256 of its manifest"), max_length=64, blank=True)

    governance: ClassVar = Governance(tenant=None, keeps=Keeps.TOKEN, audited=Audited.SYSTEM)

    class Meta:
        verbose_name = _("backup")
        verbose_name_plural = _("backups")
        indexes = (models.Index(fields=("-made_at",), name="backup_by_time"),)

    def __str__(self) -> str:
        return self.location
