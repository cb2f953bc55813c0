"""Console pages of floor 7.

Postings, term statistics and vectors have no pages: they are numbers without meaning for people and have no single-column key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.retrieval.admin import trace_page, words
from apps.retrieval.admin.trace_pages import QuestionPage, ReplayPage, WhyNotPage
from apps.retrieval.models import IndexState, RetrievalTrace, TraceAdoption, TraceCandidate
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.filters import vocabulary
from apps.tenants.console.site import console
from apps.tenants.models import Role, User

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

TRACE_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})
_MOST_AGENTS = 100


class AgentFilter(admin.SimpleListFilter):
    """By the agent that asked; the agents of a tenant are few."""

    title = _("agent")
    parameter_name = "actor_id"

    def lookups(self, request: HttpRequest, _page: Any) -> list[tuple[str, str]]:  # noqa: ANN401
        access = getattr(request, "access", None)
        if access is None:
            return []
        rows = User.objects.filter(kind=User.Kind.AGENT, memberships__tenant_id=access.tenant_id).distinct().order_by("username")
        return [(str(key), name.partition("/")[2] or name) for key, name in rows.values_list("id", "username")[:_MOST_AGENTS]]

    def queryset(self, _request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        asked = self.value()
        if asked is None:
            return rows
        try:
            return rows.filter(actor_id=UUID(asked))
        except ValueError:
            return rows.none()


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
    told_by_others = (
        "decision",
        "outcome",
        "triage",
        "asked",
        "funnel",
        "lanes",
        "warnings",
        "budget",
        "timings_ms",
        "window_roles",
    )
    references = {"actor_id": "tenants.User", "project_id": "tenants.Project", "namespaces": "tenants.Namespace"}
    vocabularies = {
        "decision": words.DECISIONS,
        "outcome": words.OUTCOMES,
        "trigger": words.TRIGGERS,
        "mode": words.MODES,
    }
    list_display = ("at", "actor", "subject", "trigger", "mode", "decision", "outcome", "id")
    list_filter = (
        "at",
        AgentFilter,
        vocabulary("decision", _("decision"), lambda: list(words.DECISIONS.items())),
        vocabulary("outcome", _("outcome"), lambda: list(words.OUTCOMES.items())),
        vocabulary("trigger", _("trigger"), lambda: list(words.TRIGGERS.items())),
        vocabulary("mode", _("mode"), lambda: list(words.MODES.items())),
    )
    linked_by = {"subject": _("subject"), "session_id": _("session"), "at__gte": _("from"), "at__lt": _("before")}
    search_fields = ("session_id",)
    search_help_text = _("A whole id (trc_…) or session id.")
    ordering = ("-at", "-id")
    row_pages = (ReplayPage, WhyNotPage, QuestionPage)
    detail_template = "console/trace.html"
    sections = (
        Section(_("Who asked"), ("actor", "actor_id", "subject", "project_id", "session_id")),
        Section(
            _("What was asked"),
            ("at", "as_of", "mode", "trigger", "namespaces", "rule_version", "snapshot_revision", "expires_at"),
        ),
    )
    related = (
        Related(
            _("What the agent says it used"),
            "retrieval.TraceAdoption",
            by("trace"),
            ("memory_id", "version", "used", "actor", "at"),
            order=("memory_id", "version"),
        ),
    )

    def told(self, request: HttpRequest, row: RetrievalTrace) -> dict[str, Any]:
        """The way of the query in words and as a drawing, and every candidate with its reason."""
        candidates = reverse("admin:retrieval_tracecandidate_changelist")
        return {
            **trace_page.told(self.admin_site, request, row),
            "candidates_url": f"{candidates}?{urlencode({'trace': row.pk})}",
        }


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
    vocabularies = {"reason": words.REASONS}
    list_filter = ("chosen", vocabulary("reason", _("reason"), lambda: list(words.REASONS.items())))
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
