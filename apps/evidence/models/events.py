"""SourceEvent and Derivation: what was said or seen, and what was made from what."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class SourceType(models.TextChoices):
    USER_MESSAGE = "user_message", _("user message")
    ASSISTANT_MESSAGE = "assistant_message", _("assistant message")
    TOOL_RESULT = "tool_result", _("tool result")
    WEB_PAGE = "web_page", _("web page")
    DOCUMENT = "document", _("document")
    DECISION_LOG = "decision_log", _("decision log")
    IMPORT = "import", _("import")
    SYSTEM = "system", _("system")


class Trust(models.TextChoices):
    """How far a source may be believed; decided by where it came from, never by what it says."""

    SUBJECT = "subject", _("the subject's own word")
    RECORD = "record", _("a kept record")
    TOOL = "tool", _("a tool's report")
    GENERATED = "generated", _("generated text")
    UNTRUSTED = "untrusted", _("untrusted material")


class SourceEvent(TenantOwned):
    """One event, idempotent on (tenant, event_id). Text, metadata and reference are Content rows."""

    event_id = models.CharField(_("event id"), max_length=128, db_collation="C")
    namespace = models.ForeignKey(
        "tenants.Namespace", on_delete=models.PROTECT, related_name="+", db_constraint=False, verbose_name=_("namespace")
    )
    subject = models.ForeignKey(
        "tenants.Subject",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
        verbose_name=_("subject"),
    )
    session_id = models.CharField(_("session"), max_length=128, db_collation="C", blank=True)
    actor_id = models.UUIDField(_("sent by"))
    source_type = models.CharField(_("source type"), max_length=20, choices=SourceType)
    trust = models.CharField(_("trust"), max_length=12, choices=Trust)
    occurred_at = models.DateTimeField(_("occurred"))
    ingested_at = models.DateTimeField(_("ingested"), default=clock.now)
    sequence = models.BigIntegerField(_("sequence"))
    content = models.ForeignKey(
        "evidence.Content", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_constraint=False
    )
    content_sha256 = models.CharField(_("SHA-256"), max_length=64, blank=True)
    reference = models.ForeignKey(
        "evidence.Content", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_constraint=False
    )
    metadata = models.ForeignKey(
        "evidence.Content", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_constraint=False
    )
    fingerprint = models.CharField(max_length=64, editable=False)  # of the stored (redacted) request: replay or conflict
    retention_class = models.ForeignKey(
        "retention.RetentionClass", on_delete=models.PROTECT, related_name="+", db_constraint=False
    )
    redactions = models.JSONField(_("redactions"), default=list, blank=True)  # kind, start, length
    no_rebuild = ArrayField(models.BigIntegerField(), default=list, blank=True)  # digests of facts that may not come back
    topics = ArrayField(models.CharField(max_length=128), default=list, blank=True, verbose_name=_("topics"))
    entities = ArrayField(models.CharField(max_length=128), default=list, blank=True, verbose_name=_("entities"))
    deletion_epoch = models.BigIntegerField(_("deletion epoch"))
    covered = models.BooleanField(_("covered by a revocation"), default=False)
    job_id = models.UUIDField(_("job"), null=True, blank=True)
    erased_at = models.DateTimeField(_("erased"), null=True, blank=True)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONTENT, audited=Audited.VERB, layer="sources")

    class Meta:
        verbose_name = _("source event")
        verbose_name_plural = _("source events")
        constraints = (models.UniqueConstraint(fields=("tenant", "event_id"), name="event_once"),)
        indexes = (
            models.Index(fields=("tenant", "namespace", "-sequence"), name="event_by_sequence"),
            models.Index(fields=("tenant", "session_id"), name="event_by_session"),
            models.Index(fields=("tenant", "subject"), name="event_by_subject"),
            models.Index(fields=("tenant", "source_type", "id"), name="event_by_type"),  # the console's filters
        )

    def __str__(self) -> str:
        return self.event_id


class Derivation(TenantOwned):
    """``child`` was made from ``parent``: a summary, a retelling, an answer. Cycles are refused (LN-05)."""

    child = models.ForeignKey(
        SourceEvent, on_delete=models.CASCADE, related_name="parents", db_constraint=False, verbose_name=_("made")
    )
    parent = models.ForeignKey(
        SourceEvent, on_delete=models.CASCADE, related_name="children", db_constraint=False, verbose_name=_("from")
    )

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONTENT, audited=Audited.VERB, layer="sources")

    class Meta:
        verbose_name = _("derivation")
        verbose_name_plural = _("derivations")
        constraints = (
            models.UniqueConstraint(fields=("tenant", "child", "parent"), name="derivation_once"),
            models.CheckConstraint(condition=~models.Q(child=models.F("parent")), name="derivation_not_from_itself"),
        )

    def __str__(self) -> str:
        return f"{self.child_id} from {self.parent_id}"
