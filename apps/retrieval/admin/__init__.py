"""Console pages of floor 7.

Postings and term statistics have no pages: they are keyed hashes without meaning for people and have no single-column key.
"""

from __future__ import annotations

from django.contrib import admin

from apps.retrieval.models import IndexState, RetrievalTrace, TraceCandidate
from apps.tenants.console.base import GovernedAdmin
from apps.tenants.console.site import console
from apps.tenants.models import Role

TRACE_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})


class TraceCandidateInline(admin.TabularInline):
    model = TraceCandidate
    fields = readonly_fields = ("position", "memory_id", "version", "chosen", "reason", "components")
    ordering = ("position",)
    extra = 0
    can_delete = False

    def has_add_permission(self, request: object, obj: object = None) -> bool:  # noqa: ARG002 - signature of Django
        return False

    def has_view_permission(self, request: object, obj: object = None) -> bool:  # noqa: ARG002
        return True  # whoever sees the trace sees what it looked at


@admin.register(RetrievalTrace, site=console)
class RetrievalTraceAdmin(GovernedAdmin):
    roles = TRACE_ROLES
    list_display = ("at", "actor", "subject", "trigger", "mode", "outcome", "snapshot_revision")
    list_filter = ("outcome", "trigger", "mode")
    list_select_related = ("subject",)
    search_fields = ("session_id__exact", "id__exact")
    hidden_fields = ("request",)
    inlines = (TraceCandidateInline,)
    ordering = ("-at", "-id")


@admin.register(TraceCandidate, site=console)
class TraceCandidateAdmin(GovernedAdmin):
    roles = TRACE_ROLES
    list_display = ("trace", "position", "memory_id", "version", "chosen", "reason")
    list_filter = ("chosen", "reason")
    search_fields = ("memory_id__exact",)
    list_select_related = ("trace",)
    ordering = ("-id",)


@admin.register(IndexState, site=console)
class IndexStateAdmin(GovernedAdmin):
    roles = frozenset({Role.OWNER, Role.OPERATOR, Role.AUDITOR})
    list_display = ("namespace_id", "generation", "documents", "history_documents", "revision", "analysis_version", "rebuilt_at")
