"""DeletionCertificate: what was said, once and signed, about a completed deletion."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class DeletionCertificate(TenantOwned):
    """Counts, codes, ids and instants. It is kept, not made anew, so that everybody who fetches it gets the same bytes signed."""

    job = models.OneToOneField(
        "retention.DeletionJob", on_delete=models.CASCADE, related_name="certificate", verbose_name=_("deletion")
    )
    document = models.JSONField(_("document"))
    signature = models.CharField(_("signature"), max_length=88)
    key_id = models.CharField(_("signed with key"), max_length=64)
    issued_at = models.DateTimeField(_("issued"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.AUDIT, audited=Audited.VERB)

    class Meta:
        verbose_name = _("deletion certificate")
        verbose_name_plural = _("deletion certificates")

    def __str__(self) -> str:
        return self.key_id[:16]
