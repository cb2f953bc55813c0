"""DeletionJob and its steps, one per layer. Counts are columns; the job's state is derived from its steps."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned
from apps.retention.models.revocations import TargetKind


class DeletionJob(TenantOwned):
    """An accepted deletion. Idempotent on (tenant, deletion_request_id)."""

    class State(models.TextChoices):
        ACCEPTED = "accepted", _("accepted")
        RUNNING = "running", _("running")
        RETRY_WAIT = "retry_wait", _("waiting to retry")
        BLOCKED_BY_RETENTION = "blocked_by_retention", _("blocked by retention")
        FAILED_REQUIRES_ACTION = "failed_requires_action", _("needs action")
        COMPLETED = "completed", _("completed")

    deletion_request_id = models.CharField(_("request"), max_length=128, db_collation="C")
    request_sha256 = models.CharField(max_length=64, editable=False)  # of target and options: the same request or another
    revocation = models.OneToOneField(
        "retention.Revocation", on_delete=models.PROTECT, related_name="job", verbose_name=_("revocation")
    )
    namespace = models.ForeignKey("tenants.Namespace", on_delete=models.PROTECT, related_name="+", verbose_name=_("namespace"))
    target_kind = models.CharField(_("target kind"), max_length=12, choices=TargetKind)
    target_public_id = models.CharField(_("target"), max_length=128, db_collation="C")
    target_ids = ArrayField(models.UUIDField(), verbose_name=_("target keys"), default=list)
    cover_sources = models.BooleanField(_("covers its sources"), default=False)
    suppress_future = models.BooleanField(_("suppresses the future"), default=False)
    reason = models.UUIDField(_("reason"), null=True, blank=True)  # Content row; goes with the target
    state = models.CharField(_("state"), max_length=24, choices=State, default=State.ACCEPTED)
    epoch = models.BigIntegerField(_("epoch"))
    revision = models.BigIntegerField(_("revision"))
    requested_by = models.UUIDField(_("requested by"))
    subject = models.ForeignKey(
        "tenants.Subject", on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("for subject")
    )
    job_id = models.UUIDField(_("job"), null=True, blank=True)  # the ProcessingJob that works it off
    accepted_at = models.DateTimeField(_("accepted"), default=clock.now)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    completed_at = models.DateTimeField(_("completed"), null=True, blank=True)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.AUDIT, audited=Audited.VERB)

    class Meta:
        verbose_name = _("deletion")
        verbose_name_plural = _("deletions")
        constraints = (models.UniqueConstraint(fields=("tenant", "deletion_request_id"), name="deletion_request_once"),)
        indexes = (
            models.Index(fields=("tenant", "state", "accepted_at"), name="deletion_by_state"),
            models.Index(fields=("tenant", "target_kind", "target_public_id"), name="deletion_by_target"),
        )

    def __str__(self) -> str:
        return self.deletion_request_id


class DeletionStep(TenantOwned):
    """One layer of one deletion, in order."""

    class State(models.TextChoices):
        PENDING = "pending", _("pending")
        RUNNING = "running", _("running")
        CLEARED = "cleared", _("cleared")
        RETRY_WAIT = "retry_wait", _("waiting to retry")
        BLOCKED = "blocked", _("blocked")
        FAILED = "failed", _("failed")
        NOT_APPLICABLE = "not_applicable", _("not applicable")

    job = models.ForeignKey(DeletionJob, on_delete=models.CASCADE, related_name="steps", verbose_name=_("deletion"))
    layer = models.CharField(_("layer"), max_length=32)
    position = models.PositiveSmallIntegerField(_("position"))
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.PENDING)
    found = models.BigIntegerField(_("found"), null=True, blank=True)
    cleared = models.BigIntegerField(_("cleared"), default=0)
    remaining = models.BigIntegerField(_("remaining"), null=True, blank=True)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    checkpoint = models.JSONField(_("checkpoint"), null=True, blank=True)
    verified_at = models.DateTimeField(_("verified"), null=True, blank=True)
    detail = models.CharField(_("detail"), max_length=128, blank=True)  # a code

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.AUDIT, audited=Audited.VERB)

    class Meta:
        verbose_name = _("deletion step")
        verbose_name_plural = _("deletion steps")
        constraints = (models.UniqueConstraint(fields=("tenant", "job", "layer"), name="deletion_step_once"),)

    def __str__(self) -> str:
        return self.layer
