"""Reviews: what waits for people to decide about it, by which rule, and what each of them said."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class ReviewKind(models.TextChoices):
    """What is decided about."""

    CANDIDATE = "candidate", _("proposal")
    REVALIDATION = "revalidation", _("another look")
    PROMOTION_PROJECT = "promotion_project", _("promotion to a project")
    PROMOTION_ORGANIZATION = "promotion_organization", _("promotion to the organization")


class ReviewPolicy(TenantOwned):
    """How many approvals a kind of review needs. A change is a new version; reviews keep the one they were opened under."""

    kind = models.CharField(_("kind"), max_length=24, choices=ReviewKind)
    version = models.PositiveIntegerField(_("version"))
    approvals = models.PositiveSmallIntegerField(_("approvals needed"))
    distinct_groups = models.PositiveSmallIntegerField(_("from so many roles"), default=1)
    author_barred = models.BooleanField(_("author may not decide"), default=True)
    due_days = models.PositiveSmallIntegerField(_("days until due"), default=7)
    created_at = models.DateTimeField(_("created"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)

    class Meta:
        verbose_name = _("review policy")
        verbose_name_plural = _("review policies")
        constraints = (
            models.UniqueConstraint(fields=("tenant", "kind", "version"), name="review_policy_version_once"),
            models.CheckConstraint(
                condition=models.Q(approvals__gte=1, distinct_groups__gte=1, distinct_groups__lte=models.F("approvals")),
                name="review_policy_can_be_met",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} v{self.version}"


class ReviewRequest(TenantOwned):
    """One thing to decide: a proposal, a memory that has to be looked at again, or one that is to hold for more people.

    ``namespace`` is where the decision takes effect. What it is about is a candidate or a memory; a trigger of the database ends
    the request when that ends, whoever ended it. Votes are bound to ``subject_hash``, which changes with every edit.
    """

    class Status(models.TextChoices):
        PENDING_REVIEW = "pending_review", _("pending review")
        CHANGES_REQUESTED = "changes_requested", _("changes requested")
        APPROVED = "approved", _("approved")
        REJECTED = "rejected", _("rejected")
        ENDED = "ended", _("ended without a decision")

    kind = models.CharField(_("kind"), max_length=24, choices=ReviewKind)
    status = models.CharField(_("status"), max_length=20, choices=Status, default=Status.PENDING_REVIEW)
    namespace = models.ForeignKey("tenants.Namespace", on_delete=models.PROTECT, related_name="+", verbose_name=_("namespace"))
    candidate = models.ForeignKey(
        "memories.Candidate", on_delete=models.PROTECT, null=True, blank=True, related_name="reviews", verbose_name=_("candidate")
    )
    memory = models.ForeignKey(
        "memories.Memory", on_delete=models.PROTECT, null=True, blank=True, related_name="reviews", verbose_name=_("memory")
    )
    subject_hash = models.CharField(max_length=64, blank=True, editable=False)
    policy = models.ForeignKey(
        ReviewPolicy, on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("review policy")
    )
    rationale = models.ForeignKey("evidence.Content", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    requested_by = models.UUIDField(_("requested by"), null=True, blank=True)
    requested_for = models.ForeignKey(
        "tenants.Subject", on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("stated by")
    )
    risk = models.PositiveSmallIntegerField(_("risk"))
    due_at = models.DateTimeField(_("due"))
    claimed_by = models.UUIDField(_("claimed by"), null=True, blank=True)
    claimed_until = models.DateTimeField(_("claimed until"), null=True, blank=True)
    result_memory = models.ForeignKey(
        "memories.Memory", on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("became")
    )
    result_version = models.PositiveIntegerField(_("version"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), default=clock.now)
    decided_at = models.DateTimeField(_("decided"), null=True, blank=True)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.AUDIT, audited=Audited.VERB, layer="relations")

    class Meta:
        verbose_name = _("review")
        verbose_name_plural = _("reviews")
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "candidate"),
                condition=models.Q(status__in=("pending_review", "changes_requested")),
                name="review_one_of_candidate",
            ),
            models.UniqueConstraint(
                fields=("tenant", "memory", "kind", "namespace"),
                condition=models.Q(status__in=("pending_review", "changes_requested"), candidate=None),
                name="review_one_of_memory",
            ),
        )
        indexes = (
            models.Index(fields=("tenant", "status", "-risk", "due_at", "id"), name="review_queue"),
            models.Index(fields=("tenant", "memory"), name="review_by_memory"),
        )

    def __str__(self) -> str:
        return str(self.pk)


OPEN = (ReviewRequest.Status.PENDING_REVIEW, ReviewRequest.Status.CHANGES_REQUESTED)


class ReviewVote(TenantOwned):
    """What one reviewer said about one state of the subject. It counts while that lasts, and is never deleted."""

    class Verdict(models.TextChoices):
        APPROVE = "approve", _("approve")
        REQUEST_CHANGES = "request_changes", _("request changes")
        REJECT = "reject", _("reject")

    class Reason(models.TextChoices):
        NOT_TRUE = "not_true", _("it does not hold")
        WEAK_EVIDENCE = "weak_evidence", _("the evidence does not carry it")
        TOO_BROAD = "too_broad", _("it claims more than was seen")
        UNCLEAR = "unclear", _("it can be misunderstood")
        PRIVATE = "private", _("it belongs to one person")
        OUTDATED = "outdated", _("it holds no longer")
        DUPLICATE = "duplicate", _("it is recorded already")
        RISKY = "risky", _("it would do harm if followed")

    request = models.ForeignKey(ReviewRequest, on_delete=models.PROTECT, related_name="votes", verbose_name=_("review"))
    reviewer = models.ForeignKey("tenants.User", on_delete=models.PROTECT, related_name="+", verbose_name=_("reviewer"))
    verdict = models.CharField(_("verdict"), max_length=16, choices=Verdict)
    reason_code = models.CharField(_("reason"), max_length=16, choices=Reason, blank=True)
    comment = models.ForeignKey("evidence.Content", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    roles = ArrayField(models.CharField(max_length=16), default=list, verbose_name=_("roles"))
    subject_hash = models.CharField(max_length=64, editable=False)
    cast_at = models.DateTimeField(_("cast"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.AUDIT, audited=Audited.VERB, layer="relations")

    class Meta:
        verbose_name = _("review vote")
        verbose_name_plural = _("review votes")
        constraints = (
            models.UniqueConstraint(fields=("tenant", "request", "reviewer", "subject_hash"), name="review_vote_once"),
        )

    def __str__(self) -> str:
        return self.verdict
