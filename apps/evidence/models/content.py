"""Content: the one table of private text."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class Content(TenantOwned):
    """A private text. Everything else points here, so "is it gone?" is a question about one table.

    Written and read by apps/evidence/content.py only. Erasing text means deleting the row.
    """

    namespace = models.ForeignKey(
        "tenants.Namespace", on_delete=models.PROTECT, related_name="+", db_constraint=False, verbose_name=_("namespace")
    )
    text = models.TextField(_("text"))
    sha256 = models.CharField(_("SHA-256"), max_length=64)
    size = models.PositiveIntegerField(_("bytes"))
    created_at = models.DateTimeField(_("created"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONTENT, audited=Audited.VERB, layer="sources")

    class Meta:
        verbose_name = _("content")
        verbose_name_plural = _("contents")

    def __str__(self) -> str:
        return str(self.pk)
