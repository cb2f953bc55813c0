"""Memory (the head) and MemoryVersion (what it said, when, on what grounds)."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned
from apps.memories.models.vocabulary import Authority, EpistemicStatus, MemoryType, RetrievalPolicy, Verdict


class Memory(TenantOwned):
    """The head of one remembered thing. ``version`` is its current version, ``last_version`` the highest number used."""

    class State(models.TextChoices):
        ACTIVE = "active", _("active")
        PENDING_REVIEW = "pending_review", _("pending review")
        NEEDS_REVIEW = "needs_review", _("needs review")
        SUPERSEDED = "superseded", _("superseded")
        WITHDRAWN = "withdrawn", _("withdrawn")
        ARCHIVED = "archived", _("archived")
        REVOKED = "revoked", _("revoked")

    namespace = models.ForeignKey("tenants.Namespace", on_delete=models.PROTECT, related_name="+", verbose_name=_("namespace"))
    memory_type = models.CharField(_("type"), max_length=12, choices=MemoryType)
    fact_key = models.CharField(_("fact key"), max_length=200, db_collation="C")
    conditions_hash = models.CharField(max_length=64, editable=False)
    authority = models.CharField(_("authority"), max_length=8, choices=Authority, default=Authority.DATABASE)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.ACTIVE)
    version = models.PositiveIntegerField(_("version"), default=1)
    last_version = models.PositiveIntegerField(default=1, editable=False)
    head = models.ForeignKey(
        "memories.MemoryVersion", on_delete=models.PROTECT, null=True, related_name="+", verbose_name=_("current version")
    )
    conflict_set = models.ForeignKey(
        "memories.ConflictSet",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="members",
        verbose_name=_("conflict"),
    )
    retrieval_policy = models.CharField(
        _("retrieval policy"), max_length=8, choices=RetrievalPolicy, default=RetrievalPolicy.RELEVANT
    )
    access_policy = models.ForeignKey(
        "tenants.AccessPolicy",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("access policy"),
    )
    retention_class = models.ForeignKey(
        "retention.RetentionClass", on_delete=models.PROTECT, related_name="+", verbose_name=_("retention class")
    )
    review_after = models.DateTimeField(_("review after"))
    created_by = models.UUIDField(_("created by"))
    created_for = models.ForeignKey(
        "tenants.Subject", on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("stated by")
    )
    created_at = models.DateTimeField(_("created"), default=clock.now)
    updated_revision = models.BigIntegerField(_("updated in revision"))

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONTENT, audited=Audited.VERB, layer="versions")

    class Meta:
        verbose_name = _("memory")
        verbose_name_plural = _("memories")
        constraints = (
            # Nobody can hold two exclusive current values of one fact (VH-07, VH-09, C29).
            models.UniqueConstraint(
                fields=("tenant", "namespace", "memory_type", "fact_key", "conditions_hash"),
                condition=models.Q(state="active", conflict_set=None),
                name="memory_one_exclusive_head",
            ),
        )
        indexes = (
            models.Index(fields=("tenant", "namespace", "fact_key"), name="memory_by_fact_key"),
            models.Index(fields=("tenant", "namespace", "id"), name="memory_by_namespace"),
            models.Index(fields=("tenant", "updated_revision"), name="memory_by_revision"),
            models.Index(
                fields=("tenant", "namespace"),
                condition=models.Q(retrieval_policy="always", state="active"),
                name="memory_always",
            ),
            models.Index(fields=("tenant", "conflict_set"), condition=~models.Q(conflict_set=None), name="memory_in_conflict"),
            models.Index(fields=("tenant", "review_after"), condition=models.Q(state="active"), name="memory_review_due"),
            # Counts of the console, for those who see the tenant and for those who see some of it: answered from the index alone.
            models.Index(fields=("tenant", "state", "memory_type", "namespace", "access_policy"), name="memory_by_state"),
            # The few that are not like all others, for the console's filters.
            models.Index(
                fields=("tenant", "id"),
                condition=~models.Q(retrieval_policy="relevant") | ~models.Q(authority="database"),
                name="memory_unusual",
            ),
        )

    def __str__(self) -> str:
        return self.fact_key


class MemoryVersion(TenantOwned):
    """One version. Append-only but for its end, its evidence count, and the erasure of its text.

    Valid time (``valid_from``, ``valid_to``: half-open) and recorded time (``revision``, ``retired_revision``) are both kept.
    """

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="versions", verbose_name=_("memory"))
    version = models.PositiveIntegerField(_("version"))
    content = models.ForeignKey("evidence.Content", on_delete=models.PROTECT, null=True, related_name="+")
    rationale = models.ForeignKey("evidence.Content", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    aliases = models.ForeignKey("evidence.Content", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    reason = models.ForeignKey("evidence.Content", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    content_hash = models.CharField(_("content hash"), max_length=64, blank=True)  # of the normalised proposition
    conditions = models.JSONField(_("conditions"), default=dict, blank=True)
    topics = ArrayField(models.CharField(max_length=128), default=list, blank=True, verbose_name=_("topics"))
    entities = ArrayField(models.CharField(max_length=128), default=list, blank=True, verbose_name=_("entities"))
    epistemic_status = models.CharField(_("epistemic status"), max_length=12, choices=EpistemicStatus)
    verdict = models.CharField(_("verdict"), max_length=16, choices=Verdict, null=True, blank=True)  # noqa: DJ001 - null is a value
    retrieval_policy = models.CharField(_("retrieval policy"), max_length=8, choices=RetrievalPolicy)
    occurred_at = models.DateTimeField(_("occurred"), null=True, blank=True)
    observed_at = models.DateTimeField(_("observed"), null=True, blank=True)
    last_confirmed_at = models.DateTimeField(_("last confirmed"), null=True, blank=True)
    expected_resolution_at = models.DateTimeField(_("expected resolution"), null=True, blank=True)
    valid_from = models.DateTimeField(_("valid from"))
    effective = models.BooleanField(
        _("effective time was stated"), default=True
    )  # False: valid_from is only the moment of recording
    valid_to = models.DateTimeField(_("valid to"), null=True, blank=True)
    ingested_at = models.DateTimeField(_("recorded"), default=clock.now)
    revision = models.BigIntegerField(_("revision"))
    retired_revision = models.BigIntegerField(_("retired in revision"), null=True, blank=True)
    independent_evidence_count = models.PositiveIntegerField(_("independent evidence"), default=0)
    authority_revision = models.CharField(_("authority revision"), max_length=64, blank=True)
    decision = models.CharField(_("decision"), max_length=16)  # the merge decision, or REVISE, CONFIRM
    author_id = models.UUIDField(_("author"))
    author_subject = models.ForeignKey(
        "tenants.Subject", on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("stated by")
    )
    origin = models.CharField(_("origin"), max_length=64)
    session_id = models.CharField(_("session"), max_length=128, db_collation="C", blank=True)  # in which it was stated
    hidden_characters = models.BooleanField(_("holds hidden characters"), default=False)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONTENT, audited=Audited.VERB, layer="versions")

    class Meta:
        verbose_name = _("memory version")
        verbose_name_plural = _("memory versions")
        constraints = (
            models.UniqueConstraint(fields=("tenant", "memory", "version"), name="memory_version_once"),
            models.CheckConstraint(
                condition=models.Q(valid_to=None) | models.Q(valid_to__gte=models.F("valid_from")), name="memory_version_order"
            ),
        )

    def __str__(self) -> str:
        return f"v{self.version}"
