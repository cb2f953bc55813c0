"""SubjectExport: somebody asked for everything that is held about a subject, and what became of it."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class SubjectExport(TenantOwned):
    """Ids and counts; what is held stands in an archive file with an end, and nowhere in this table.

    ``epochs`` is the sum of the deletion epochs of ``namespaces`` when it was decided what belongs into the archive. Another sum
    means that something has been deleted there since: the archive may hold it, so nobody gets it any more.
    """

    class State(models.TextChoices):
        ACCEPTED = "accepted", _("accepted")
        RUNNING = "running", _("running")
        READY = "ready", _("ready")
        REVOKED = "revoked", _("overtaken by a deletion")
        EXPIRED = "expired", _("expired")

    class Reason(models.TextChoices):
        SUBJECT_REQUEST = "subject_request", _("the person asked")
        LEGAL_ORDER = "legal_order", _("an authority asked")
        INTERNAL_REVIEW = "internal_review", _("own review")

    export_request_id = models.CharField(_("request"), max_length=128, db_collation="C")
    subject = models.ForeignKey("tenants.Subject", on_delete=models.PROTECT, related_name="+", verbose_name=_("subject"))
    reason_code = models.CharField(_("why"), max_length=20, choices=Reason, default=Reason.SUBJECT_REQUEST)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.ACCEPTED)
    namespaces = ArrayField(models.UUIDField(), verbose_name=_("namespaces"), default=list)
    epochs = models.BigIntegerField(null=True, blank=True, editable=False)
    keys = ArrayField(models.UUIDField(), default=list, blank=True, editable=False)  # of rows that a deletion would take
    shares = ArrayField(models.UUIDField(), default=list, blank=True, editable=False)  # of versions of memories that stay
    counts = models.JSONField(_("rows by layer"), default=dict, blank=True)
    size = models.BigIntegerField(_("size, bytes"), null=True, blank=True)
    sha256 = models.CharField(_("SHA-256"), max_length=64, blank=True)
    requested_by = models.UUIDField(_("requested by"))
    job_id = models.UUIDField(_("job"), null=True, blank=True)
    requested_at = models.DateTimeField(_("requested"), default=clock.now)
    as_of = models.DateTimeField(_("as of"), null=True, blank=True)
    completed_at = models.DateTimeField(_("completed"), null=True, blank=True)
    expires_at = models.DateTimeField(_("expires"))
    removed_at = models.DateTimeField(_("files removed"), null=True, blank=True)
    downloads = models.PositiveIntegerField(_("downloads"), default=0)
    downloaded_at = models.DateTimeField(_("last downloaded"), null=True, blank=True)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.AUDIT, audited=Audited.VERB)

    class Meta:
        verbose_name = _("subject export")
        verbose_name_plural = _("subject exports")
        constraints = (models.UniqueConstraint(fields=("tenant", "export_request_id"), name="export_request_once"),)
        indexes = (
            models.Index(fields=("tenant", "-requested_at"), name="export_by_time"),
            # Those that have files: looked at by every deletion and every sweep.
            models.Index(fields=("tenant", "state"), condition=models.Q(removed_at=None), name="export_with_files"),
        )

    def __str__(self) -> str:
        return self.export_request_id
