"""ProcessingJob: the truth about background work. The doorbell only says that there may be some."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class ProcessingJob(TenantOwned):
    """One piece of work, done once. ``fence`` steps with every claim, so that a worker that lost its lease cannot report."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        RETRY_WAIT = "retry_wait", _("waiting to retry")
        DONE = "done", _("done")
        DEAD = "dead", _("dead letter")
        DISCARDED = "discarded", _("discarded")

    kind = models.CharField(_("kind"), max_length=32)
    key = models.CharField(_("key"), max_length=200, db_collation="C")
    payload = models.JSONField(_("payload"), default=dict)  # ids and numbers only
    namespaces = ArrayField(models.UUIDField(), verbose_name=_("namespaces"), default=list)  # scope of the service identity
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.QUEUED)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    max_attempts = models.PositiveIntegerField(_("most attempts"), default=8)
    fence = models.BigIntegerField(_("fence"), default=0)
    lease_until = models.DateTimeField(_("lease until"), null=True, blank=True)
    next_try_at = models.DateTimeField(_("next try"), default=clock.now)
    checkpoint = models.JSONField(_("checkpoint"), default=dict)
    last_error = models.CharField(_("last error"), max_length=128, blank=True)  # a code or class name, never a message
    created_at = models.DateTimeField(_("created"), default=clock.now)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.WORK, audited=Audited.VERB, layer="pending_work")

    class Meta:
        verbose_name = _("job")
        verbose_name_plural = _("jobs")
        constraints = (models.UniqueConstraint(fields=("tenant", "kind", "key"), name="job_once"),)
        indexes = (
            models.Index(
                fields=("kind", "next_try_at", "id"), condition=models.Q(state__in=("queued", "retry_wait")), name="job_due"
            ),
            models.Index(fields=("lease_until",), condition=models.Q(state="running"), name="job_leases"),
            models.Index(fields=("tenant", "state", "-created_at"), name="job_by_state"),
            models.Index(fields=("tenant", "-finished_at"), condition=models.Q(state="dead"), name="job_dead"),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
