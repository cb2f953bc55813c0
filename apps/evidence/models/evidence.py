"""Evidence: a stable id, without private text, for something that supports or refutes a memory."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class Evidence(TenantOwned):
    class Kind(models.TextChoices):
        EVENT = "event", _("event")
        RAW_SOURCE = "raw_source", _("preserved source")
        GIT_ARTIFACT = "git_artifact", _("Git artefact")
        DOCUMENT = "document", _("document")
        REPRODUCTION = "reproduction", _("reproduction")

    class Fidelity(models.TextChoices):
        """How close to what was really said, best first (LN-19)."""

        VISIBLE_TRANSCRIPT = "visible_transcript", _("visible transcript")
        TRANSCRIPT_SNAPSHOT = "transcript_snapshot", _("transcript snapshot")
        HYBRID = "hybrid", _("hybrid record")
        SUMMARY = "summary", _("summary")
        PROJECTION = "projection", _("projection")

    class Availability(models.TextChoices):
        AVAILABLE = "available", _("available")
        UNAVAILABLE = "unavailable", _("unavailable")
        ERASED = "erased", _("erased")

    namespace = models.ForeignKey("tenants.Namespace", on_delete=models.PROTECT, related_name="+", verbose_name=_("namespace"))
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    event = models.OneToOneField(
        "evidence.SourceEvent", on_delete=models.PROTECT, null=True, blank=True, related_name="evidence", verbose_name=_("event")
    )
    fidelity = models.CharField(_("fidelity"), max_length=20, choices=Fidelity)
    availability = models.CharField(_("availability"), max_length=12, choices=Availability, default=Availability.AVAILABLE)
    created_at = models.DateTimeField(_("created"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONTENT, audited=Audited.VERB, layer="sources")

    class Meta:
        verbose_name = _("evidence")
        verbose_name_plural = _("evidence")

    def __str__(self) -> str:
        return str(self.pk)
