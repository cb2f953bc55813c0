"""Console pages of floor 7.

Postings and term statistics have no pages: they are keyed hashes without meaning for people and have no single-column key.
"""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.retrieval.models import IndexState, RetrievalTrace, TraceAdoption, TraceCandidate
from apps.retrieval.vocabulary import Mode, Reason, Trigger
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.filters import vocabulary
from apps.tenants.console.site import console
from apps.tenants.models import Role

TRACE_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})


@admin.register(RetrievalTrace, site=console)
class RetrievalTraceAdmin(GovernedAdmin):
    roles = TRACE_ROLES
    area = Area.RETRIEVAL
    about = _(
        "Every query of an agent: what it was allowed to see, what was found, and what it was given. The words are not shown."
    )
    when_empty = _("A trace is written for each query; it lives as long as its retention class says.")
    id_prefix = "trc"
    hidden_fields = ("request",)
    references = {"actor_id": "tenants.User", "project_id": "tenants.Project", "namespaces": "tenants.Namespace"}
    list_display = ("at", "actor", "subject", "trigger", "mode", "outcome", "id")
    list_filter = (
        "at",
        vocabulary("trigger", _("trigger"), lambda: [(word.value, word.value) for word in Trigger]),
        vocabulary("mode", _("mode"), lambda: [(word.value, word.value) for word in Mode]),
    )
    linked_by = {"subject": _("subject"), "session_id": _("session")}
    search_fields = ("session_id",)
    search_help_text = _("A whole id (trc_…) or session id.")
    ordering = ("-at", "-id")
    sections = (
        Section(_("Who asked"), ("actor", "actor_id", "subject", "project_id", "session_id")),
        Section(_("What was asked"), ("at", "as_of", "mode", "trigger", "namespaces", "window_roles")),
        Section(_("What came of it"), ("decision", "triage", "outcome", "funnel", "lanes", "warnings", "budget")),
        Section(_("How"), ("rule_version", "snapshot_revision", "timings_ms", "expires_at")),
    )
    related = (
        Related(
            _("Memories it looked at"),
            "retrieval.TraceCandidate",
            by("trace"),
            ("position", "memory_id", "version", "chosen", "reason"),
            order=("position",),
        ),
        Related(
            _("What the agent says it used"),
            "retrieval.TraceAdoption",
            by("trace"),
            ("memory_id", "version", "used", "actor", "at"),
            order=("memory_id", "version"),
        ),
    )


@admin.register(IndexState, site=console)
class IndexStateAdmin(GovernedAdmin):
    roles = frozenset({Role.OWNER, Role.AUDITOR, Role.OPERATOR})
    area = Area.WORK
    about = _("How many documents the index of each namespace holds, and up to which revision. It can be dropped and rebuilt.")
    when_empty = _("An index is made with the first memory of a namespace.")
    references = {"namespace_id": "tenants.Namespace"}
    list_display = ("namespace_id", "generation", "documents", "history_documents", "revision", "analysis_version", "rebuilt_at")
    linked_by = {"namespace_id": _("namespace")}
    ordering = ("-rebuilt_at", "-id")


@admin.register(TraceCandidate, site=console)
class TraceCandidateAdmin(GovernedAdmin):
    roles = TRACE_ROLES
    area = Area.RECORDS
    about = _("Each memory that a query looked at: chosen, or not and why not.")
    when_empty = _("No query has been traced.")
    references = {"memory_id": "memories.Memory"}
    list_display = ("position", "trace", "memory_id", "version", "chosen", "reason")
    list_filter = ("chosen", vocabulary("reason", _("reason"), lambda: [(word.value, word.value) for word in Reason]))
    linked_by = {"trace": _("trace"), "memory_id": _("memory")}
    search_fields = ("memory_id",)
    search_help_text = _("The whole id of a memory (mem_…).")
    ordering = ("-id",)


@admin.register(TraceAdoption, site=console)
class TraceAdoptionAdmin(GovernedAdmin):
    roles = TRACE_ROLES
    area = Area.RECORDS
    about = _("What agents say they used of what they were given, and what they left. Their reasons are private text.")
    when_empty = _("No agent has reported what it used.")
    hidden_fields = ("reason",)
    references = {"memory_id": "memories.Memory"}
    list_display = ("at", "trace", "memory_id", "version", "used", "actor")
    list_filter = ("used", "at")
    linked_by = {"trace": _("trace"), "memory_id": _("memory")}
    search_fields = ("memory_id",)
    search_help_text = _("The whole id of a memory (mem_…).")
    ordering = ("-at", "-id")
