"""Console pages of floor 6. Texts are never shown here; states, times, grounds and decisions are."""

from __future__ import annotations

from django.contrib import admin

from apps.memories.models import Candidate, ConflictSet, EvidenceLink, Label, Memory, MemoryVersion, Relation
from apps.tenants.console.base import GovernedAdmin
from apps.tenants.console.site import console
from apps.tenants.models import Role

MEMORY_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.REVIEWER, Role.AUDITOR})
_TEXTS = ("content", "rationale", "aliases")


class MemoryVersionInline(admin.TabularInline):
    model = MemoryVersion
    fk_name = "memory"
    fields = readonly_fields = (
        "version",
        "decision",
        "epistemic_status",
        "verdict",
        "valid_from",
        "valid_to",
        "independent_evidence_count",
        "revision",
        "retired_revision",
    )
    ordering = ("-version",)
    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: object, obj: object = None) -> bool:  # noqa: ARG002 - signature of Django
        return False

    def has_view_permission(self, request: object, obj: object = None) -> bool:  # noqa: ARG002
        return True  # whoever sees the memory sees its timeline


@admin.register(Memory, site=console)
class MemoryAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    namespace_path = "namespace"
    list_display = ("fact_key", "memory_type", "state", "namespace", "version", "retrieval_policy", "review_after", "created_at")
    list_filter = ("state", "memory_type", "authority", "retrieval_policy")
    list_select_related = ("namespace",)
    search_fields = ("fact_key__exact", "id__exact")
    hidden_fields = ("conditions_hash",)
    inlines = (MemoryVersionInline,)
    ordering = ("-id",)


@admin.register(MemoryVersion, site=console)
class MemoryVersionAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    namespace_path = "memory__namespace"
    list_display = ("memory", "version", "decision", "epistemic_status", "verdict", "valid_from", "valid_to", "revision")
    list_filter = ("decision", "epistemic_status", "verdict")
    list_select_related = ("memory",)
    hidden_fields = (*_TEXTS, "reason", "content_hash", "conditions")
    ordering = ("-id",)


@admin.register(Candidate, site=console)
class CandidateAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    namespace_path = "namespace"
    list_display = ("candidate_id", "memory_type", "status", "decision", "origin", "namespace", "created_at")
    list_filter = ("status", "decision", "memory_type")
    list_select_related = ("namespace",)
    search_fields = ("candidate_id__exact",)
    hidden_fields = (*_TEXTS, "fingerprint", "conditions")
    ordering = ("-id",)


@admin.register(ConflictSet, site=console)
class ConflictSetAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    namespace_path = "namespace"
    list_display = ("fact_key", "memory_type", "reason", "status", "created_at", "resolved_at")
    list_filter = ("status", "reason")
    hidden_fields = ("conditions_hash",)
    ordering = ("-id",)


@admin.register(EvidenceLink, site=console)
class EvidenceLinkAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    namespace_path = "memory__namespace"
    list_display = ("memory", "version", "evidence", "stance", "created_at")
    list_select_related = ("memory", "version", "evidence")
    ordering = ("-id",)


@admin.register(Relation, site=console)
class RelationAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    namespace_path = "source__namespace"
    list_display = ("source", "type", "target", "created_at")
    list_filter = ("type",)
    list_select_related = ("source", "target")
    ordering = ("-id",)


@admin.register(Label, site=console)
class LabelAdmin(GovernedAdmin):
    list_display = ("kind", "key", "aliases")
    list_display_links = ("kind", "key")
    list_filter = ("kind",)
    search_fields = ("key",)
