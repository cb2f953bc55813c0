"""Console pages of floor 5. Texts are never shown here; a row says how much there is and where it belongs."""

from __future__ import annotations

from django.contrib import admin

from apps.evidence.models import Content, Derivation, Evidence, SourceEvent
from apps.tenants.console.base import GovernedAdmin
from apps.tenants.console.site import console
from apps.tenants.models import Role

EVIDENCE_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.REVIEWER, Role.AUDITOR})


@admin.register(Content, site=console)
class ContentAdmin(GovernedAdmin):
    roles = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})
    namespace_path = "namespace"
    list_display = ("id", "namespace", "size", "created_at")
    list_select_related = ("namespace",)
    hidden_fields = ("text", "sha256")
    ordering = ("-id",)



@admin.register(SourceEvent, site=console)
class SourceEventAdmin(GovernedAdmin):
    roles = EVIDENCE_ROLES
    namespace_path = "namespace"
    list_display = ("event_id", "source_type", "trust", "namespace", "occurred_at", "ingested_at", "sequence")
    list_filter = ("source_type", "trust")
    list_select_related = ("namespace",)
    search_fields = ("event_id__exact", "session_id__exact")
    hidden_fields = ("content", "reference", "metadata", "content_sha256", "fingerprint", "no_rebuild")
    ordering = ("-sequence",)


@admin.register(Derivation, site=console)
class DerivationAdmin(GovernedAdmin):
    roles = EVIDENCE_ROLES
    namespace_path = "child__namespace"
    list_display = ("child", "parent")
    list_select_related = ("child", "parent")


@admin.register(Evidence, site=console)
class EvidenceAdmin(GovernedAdmin):
    roles = EVIDENCE_ROLES
    namespace_path = "namespace"
    list_display = ("id", "kind", "event", "fidelity", "availability", "created_at")
    list_filter = ("kind", "fidelity", "availability")
    list_select_related = ("event",)
    ordering = ("-id",)
