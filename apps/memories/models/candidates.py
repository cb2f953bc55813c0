"""Candidate: something proposed to be remembered, and what became of it."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned
from apps.memories.models.vocabulary import Authority, Decision, EpistemicStatus, MemoryType, RetrievalPolicy, Verdict


class Candidate(TenantOwned):
    """A proposal is never a memory by itself (CA-10)."""

    class Status(models.TextChoices):
        RECEIVED = "received", _("received")
        PENDING_REVIEW = "pending_review", _("pending review")
        COMMITTED = "committed", _("committed")
        NO_OP = "no_op", _("nothing new")
        CONFLICT = "conflict", _("conflict")
        REJECTED = "rejected", _("rejected")
        WITHDRAWN = "withdrawn", _("withdrawn")

    candidate_id = models.CharField(_("candidate id"), max_length=128, db_collation="C")
    namespace = models.ForeignKey(
        "tenants.Namespace", on_delete=models.PROTECT, related_name="+", db_constraint=False, verbose_name=_("namespace")
    )
    origin = models.CharField(_("origin"), max_length=64)  # api, or extractor@version
    policy_version = models.CharField(_("policy version"), max_length=16)
    event = models.ForeignKey(
        "evidence.SourceEvent",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="candidates",
        db_constraint=False,
        verbose_name=_("extracted from"),
    )
    source_events = ArrayField(models.UUIDField(), default=list, blank=True, verbose_name=_("source events"))
    evidence = ArrayField(models.UUIDField(), default=list, blank=True, verbose_name=_("evidence"))
    actor_id = models.UUIDField(_("proposed by"))
    subject = models.ForeignKey(
        "tenants.Subject",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
        verbose_name=_("stated by"),
    )
    session_id = models.CharField(_("session"), max_length=128, db_collation="C", blank=True)
    fingerprint = models.CharField(max_length=64, editable=False)
    memory_type = models.CharField(_("type"), max_length=12, choices=MemoryType)
    fact_key = models.CharField(_("fact key"), max_length=200, db_collation="C")
    conditions = models.JSONField(_("conditions"), default=dict, blank=True)
    content = models.ForeignKey("evidence.Content", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    rationale = models.ForeignKey("evidence.Content", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    aliases = models.ForeignKey("evidence.Content", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    epistemic_status = models.CharField(_("epistemic status"), max_length=12, choices=EpistemicStatus)
    verdict = models.CharField(_("verdict"), max_length=16, choices=Verdict, null=True, blank=True)  # noqa: DJ001 - null is a value
    topics = ArrayField(models.CharField(max_length=128), default=list, blank=True, verbose_name=_("topics"))
    entities = ArrayField(models.CharField(max_length=128), default=list, blank=True, verbose_name=_("entities"))
    retrieval_policy = models.CharField(
        _("retrieval policy"), max_length=8, choices=RetrievalPolicy, default=RetrievalPolicy.RELEVANT
    )
    retention_class = models.ForeignKey(
        "retention.RetentionClass", on_delete=models.PROTECT, related_name="+", verbose_name=_("retention class")
    )
    access_policy = models.ForeignKey(
        "tenants.AccessPolicy",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("access policy"),
    )
    authority = models.CharField(_("authority"), max_length=8, choices=Authority, default=Authority.DATABASE)
    relations = models.JSONField(_("relations"), default=list, blank=True)  # [{type, memory: uuid}]
    valid_from = models.DateTimeField(_("valid from"), null=True, blank=True)
    valid_to = models.DateTimeField(_("valid to"), null=True, blank=True)
    observed_at = models.DateTimeField(_("observed"), null=True, blank=True)
    last_confirmed_at = models.DateTimeField(_("last confirmed"), null=True, blank=True)
    expected_resolution_at = models.DateTimeField(_("expected resolution"), null=True, blank=True)
    expected_version = models.PositiveIntegerField(_("expected version"), null=True, blank=True)
    status = models.CharField(_("status"), max_length=16, choices=Status, default=Status.RECEIVED)
    decision = models.CharField(_("decision"), max_length=16, choices=Decision, null=True, blank=True)  # noqa: DJ001 - null: undecided
    reasons = ArrayField(models.CharField(max_length=64), default=list, blank=True, verbose_name=_("reasons"))
    memory = models.ForeignKey(
        "memories.Memory", on_delete=models.SET_NULL, null=True, blank=True, related_name="candidates", verbose_name=_("memory")
    )
    memory_version = models.PositiveIntegerField(_("version"), null=True, blank=True)
    conflict_set = models.ForeignKey(
        "memories.ConflictSet", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("conflict")
    )
    revision = models.BigIntegerField(_("revision"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), default=clock.now)
    decided_at = models.DateTimeField(_("decided"), null=True, blank=True)
    expires_at = models.DateTimeField(_("expires"))

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CANDIDATES, audited=Audited.VERB, layer="candidates")

    class Meta:
        verbose_name = _("candidate")
        verbose_name_plural = _("candidates")
        constraints = (models.UniqueConstraint(fields=("tenant", "candidate_id"), name="candidate_once"),)
        indexes = (
            models.Index(fields=("tenant", "namespace", "status", "id"), name="candidate_by_status"),
            models.Index(fields=("tenant", "event"), name="candidate_by_event"),
            models.Index(fields=("tenant", "memory"), name="candidate_by_memory"),
            GinIndex(fields=("source_events",), name="candidate_by_sources"),  # asked by deletions of events
            # What waits for a person, oldest first; and what was decided when, for the console's chart.
            models.Index(fields=("tenant", "created_at"), condition=models.Q(status="pending_review"), name="candidate_waiting"),
            models.Index(
                fields=("tenant", "decided_at", "decision", "namespace", "access_policy"),
                condition=models.Q(decision__isnull=False),
                name="candidate_decided",
            ),
            # Why candidates were refused or wait, read from the index alone: row-level security lets nothing look into arrays.
            models.Index(
                fields=("tenant", "id"), include=("reasons",), condition=~models.Q(reasons=[]), name="candidate_by_reason"
            ),
        )

    def __str__(self) -> str:
        return self.candidate_id
