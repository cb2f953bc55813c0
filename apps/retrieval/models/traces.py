"""RetrievalTrace with its candidates and adoptions: why an agent saw this and not that, and what it used.

Ids and codes; the words are Content rows.
"""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class RetrievalTrace(TenantOwned):
    at = models.DateTimeField(_("at"), default=clock.now)
    as_of = models.DateTimeField(_("as of"))
    actor_id = models.UUIDField(_("actor"))
    actor = models.CharField(_("actor name"), max_length=150)
    subject = models.ForeignKey(
        "tenants.Subject", on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("subject")
    )
    session_id = models.CharField(_("session"), max_length=128, db_collation="C", blank=True)
    project_id = models.UUIDField(_("project"), null=True, blank=True)
    request = models.ForeignKey(
        "evidence.Content", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("request text")
    )
    mode = models.CharField(_("mode"), max_length=16)
    trigger = models.CharField(_("trigger"), max_length=16)
    decision = models.CharField(_("decision"), max_length=16)
    triage = models.JSONField(_("triage"), default=dict, db_default=models.Value({}, models.JSONField()), blank=True)
    asked = models.JSONField(_("asked with"), default=dict, db_default=models.Value({}, models.JSONField()), blank=True)
    outcome = models.CharField(_("outcome"), max_length=24)
    namespaces = ArrayField(models.UUIDField(), default=list, verbose_name=_("namespaces"))
    window_roles = ArrayField(models.CharField(max_length=32), default=list, blank=True, verbose_name=_("window"))
    lanes = models.JSONField(_("lanes"), default=dict)  # lane → memory keys in rank order
    funnel = models.JSONField(_("funnel"), default=dict)  # stage → how many were left
    warnings = ArrayField(models.CharField(max_length=32), default=list, blank=True, verbose_name=_("warnings"))
    budget = models.JSONField(_("budget"), default=dict)
    rule_version = models.CharField(_("rule version"), max_length=16)
    snapshot_revision = models.BigIntegerField(_("revision"))
    timings_ms = models.JSONField(_("timings, ms"), default=dict)
    expires_at = models.DateTimeField(_("expires"))

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.TRACES, audited=Audited.LOG, layer="traces")

    class Meta:
        verbose_name = _("retrieval trace")
        verbose_name_plural = _("retrieval traces")
        indexes = (
            models.Index(fields=("tenant", "-at", "-id"), name="trace_by_time"),
            models.Index(fields=("tenant", "session_id"), name="trace_by_session"),
            models.Index(fields=("expires_at",), name="trace_expiry"),
        )

    def __str__(self) -> str:
        return str(self.pk)


class TraceCandidate(TenantOwned):
    """One memory that the query looked at: chosen, or not and why not."""

    trace = models.ForeignKey(RetrievalTrace, on_delete=models.CASCADE, related_name="candidates", db_constraint=False)
    memory_id = models.UUIDField(_("memory"))
    version = models.PositiveIntegerField(_("version"))
    position = models.PositiveSmallIntegerField(_("rank"))
    chosen = models.BooleanField(_("chosen"))
    reason = models.CharField(_("reason"), max_length=32, blank=True)
    authority_revision = models.CharField(_("authority revision"), max_length=64, blank=True, default="", db_default="")
    components = models.JSONField(_("components"), default=dict)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.TRACES, audited=Audited.LOG, layer="traces")

    class Meta:
        verbose_name = _("trace candidate")
        verbose_name_plural = _("trace candidates")
        indexes = (models.Index(fields=("tenant", "memory_id"), name="trace_candidate_by_memory"),)

    def __str__(self) -> str:
        return f"{self.memory_id} {self.reason}"


class TraceAdoption(TenantOwned):
    """What an agent says it did with one packed version: used it or not, and why. Its last word for that version counts."""

    trace = models.ForeignKey(RetrievalTrace, on_delete=models.CASCADE, related_name="adoptions", db_constraint=False)
    memory_id = models.UUIDField(_("memory"))
    version = models.PositiveIntegerField(_("version"))
    used = models.BooleanField(_("used"))
    reason = models.ForeignKey(
        "evidence.Content", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("reason text")
    )
    actor = models.CharField(_("reported by"), max_length=150)
    at = models.DateTimeField(_("at"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.TRACES, audited=Audited.LOG, layer="traces")

    class Meta:
        verbose_name = _("adoption")
        verbose_name_plural = _("adoptions")
        constraints = (models.UniqueConstraint(fields=("tenant", "trace", "memory_id", "version"), name="adoption_once"),)
        indexes = (models.Index(fields=("tenant", "memory_id"), name="adoption_by_memory"),)

    def __str__(self) -> str:
        return f"{self.memory_id} {self.used}"
