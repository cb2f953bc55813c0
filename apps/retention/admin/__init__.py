"""Console pages of floor 4."""

from __future__ import annotations

from django.contrib import admin

from apps.retention.models import DeletionJob, DeletionStep, RetentionClass, Revocation
from apps.tenants.console.base import GovernedAdmin
from apps.tenants.console.site import console
from apps.tenants.models import Role

RETENTION_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})


@admin.register(RetentionClass, site=console)
class RetentionClassAdmin(GovernedAdmin):
    list_display = ("key", "purpose", "content_days", "trace_days", "review_after_months", "at_end")


@admin.register(Revocation, site=console)
class RevocationAdmin(GovernedAdmin):
    roles = RETENTION_ROLES
    list_display = ("target_kind", "target_id", "namespace", "epoch", "accepted_at")
    list_filter = ("target_kind",)
    list_select_related = ("namespace",)
    hidden_fields = ("fact_digest",)
    ordering = ("-accepted_at", "-id")


class DeletionStepInline(admin.TabularInline):
    model = DeletionStep
    fields = readonly_fields = ("layer", "state", "found", "cleared", "remaining", "attempts", "verified_at", "detail")
    ordering = ("position",)
    extra = 0
    can_delete = False

    def has_add_permission(self, request: object, obj: object = None) -> bool:  # noqa: ARG002 - signature of Django
        return False

    def has_view_permission(self, request: object, obj: object = None) -> bool:  # noqa: ARG002
        return True  # whoever sees the deletion sees its steps


@admin.register(DeletionJob, site=console)
class DeletionJobAdmin(GovernedAdmin):
    roles = RETENTION_ROLES
    list_display = ("deletion_request_id", "target_kind", "target_public_id", "state", "epoch", "accepted_at", "completed_at")
    list_filter = ("state", "target_kind")
    search_fields = ("deletion_request_id__exact", "target_public_id__exact")
    hidden_fields = ("request_sha256", "reason", "target_ids")
    inlines = (DeletionStepInline,)
    ordering = ("-accepted_at", "-id")


@admin.register(DeletionStep, site=console)
class DeletionStepAdmin(GovernedAdmin):
    roles = RETENTION_ROLES
    list_display = ("job", "layer", "state", "found", "cleared", "remaining", "attempts", "verified_at")
    list_filter = ("state", "layer")
    list_select_related = ("job",)
    ordering = ("-job", "position")
