"""Candidates, and the conflicts they may end in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.memories.admin.memories import DECISIONS, MEMORY_ROLES, TEXTS
from apps.memories.models import Candidate, ConflictSet, Memory, MemoryType
from apps.memories.reasons import Reason
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.filters import scope_filter, vocabulary
from apps.tenants.console.scope import WHOLE_TENANT
from apps.tenants.console.site import console

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

_UNDECIDED = (Reason.EQUAL_TIME, Reason.NO_EFFECTIVE_TIME, Reason.OTHER_SUBJECT, Reason.WEAKER_FIDELITY, Reason.OPEN_CONFLICT)


@admin.register(Candidate, site=console)
class CandidateAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    area = Area.REVIEW
    about = _("What was proposed to be remembered, and what became of it. A proposal is never a memory by itself.")
    when_empty = _(
        "Candidates come from agents that propose memories, and from events in which the rules find something to keep."
    )
    namespace_paths = ("namespace",)
    policy_paths = ("access_policy",)
    hidden_fields = (*TEXTS, "fingerprint", "conditions")
    vocabularies = {"decision": dict(DECISIONS)}
    references = {"actor_id": "tenants.User", "source_events": "evidence.SourceEvent", "evidence": "evidence.Evidence"}
    list_display = ("candidate_id", "status", "decision", "fact_key", "namespace", "created_at")
    list_filter = (
        "status",
        vocabulary("decision__exact", _("decision"), lambda: DECISIONS),
        "memory_type",
        scope_filter("namespace"),
        "decided_at",
    )
    linked_by = {
        "decided_at__gte": _("decided from"),
        "decided_at__lt": _("decided before"),
        "decision__isnull": _("undecided"),
        "memory": _("memory"),
        "event": _("extracted from"),
        "namespace": _("namespace"),
        "conflict_set": _("conflict"),
        "source_events__contains": _("source event"),
    }
    search_fields = ("candidate_id",)
    search_help_text = _("A whole candidate id.")
    ordering = ("-id",)
    sections = (
        Section(_("What is proposed"), ("candidate_id", "fact_key", "memory_type", "namespace", "topics", "entities")),
        Section(
            _("What became of it"), ("status", "decision", "reasons", "memory", "memory_version", "conflict_set", "decided_at")
        ),
        Section(_("On what ground"), ("event", "source_events", "evidence", "epistemic_status", "verdict")),
        Section(_("From whom"), ("actor_id", "subject", "session_id", "origin", "policy_version")),
        Section(
            _("When it would hold"),
            ("valid_from", "valid_to", "observed_at", "last_confirmed_at", "expected_resolution_at"),
        ),
        Section(_("How it would be kept"), ("retrieval_policy", "access_policy", "authority", "relations", "expected_version")),
        Section(_("How long"), ("retention_class", "created_at", "expires_at", "revision")),
    )
    related = (
        Related(
            _("What was done with it"),
            "audits.AuditEntry",
            lambda row: {"object_type": "candidate", "object_id": row.candidate_id},
            ("at", "verb", "actor", "result"),
        ),
    )


@admin.register(ConflictSet, site=console)
class ConflictSetAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    area = Area.REVIEW
    about = _("Facts with several values of which none may call itself the current one.")
    when_empty = _("A conflict opens when two records contradict each other and neither time nor ground tells which one holds.")
    namespace_paths = ("namespace",)
    id_prefix = "cfl"
    vocabularies = {"memory_type": dict(MemoryType.choices)}
    hidden_fields = ("conditions_hash",)
    list_display = ("fact_key", "status", "reason", "memory_type", "namespace", "created_at", "id")
    list_filter = ("status", vocabulary("reason", _("why undecided"), lambda: [(code.value, code.value) for code in _UNDECIDED]))
    linked_by = {"namespace": _("namespace")}
    search_help_text = _("A whole id (cfl_…) or a whole fact key.")
    search_fields = ("fact_key",)
    ordering = ("-id",)
    sections = (
        Section(_("What is in dispute"), ("fact_key", "memory_type", "namespace")),
        Section(_("How it stands"), ("status", "reason", "created_at", "resolved_at")),
    )
    related = (
        Related(
            _("Members"),
            "memories.Memory",
            by("conflict_set"),
            ("fact_key", "standing", "version", "created_for", "created_at", "id"),
        ),
        Related(_("Candidates"), "memories.Candidate", by("conflict_set"), ("candidate_id", "status", "decision", "created_at")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """A conflict about something under a policy is not shown to those who may not read under it."""
        rows = super().get_queryset(request)
        access = self.access(request)
        if access is None or self.roles & access.roles & WHOLE_TENANT:
            return rows
        restricted = Memory.objects.filter(~Q(access_policy=None), ~Q(access_policy_id__in=access.policies))
        return rows.exclude(id__in=restricted.exclude(conflict_set=None).values("conflict_set_id"))
