"""Console pages of floor 2."""

from __future__ import annotations

from django.contrib import admin

from apps.audits.models import AuditEntry
from apps.tenants.console.base import GovernedAdmin
from apps.tenants.console.site import console
from apps.tenants.models import Role


@admin.register(AuditEntry, site=console)
class AuditEntryAdmin(GovernedAdmin):
    roles = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})
    list_display = ("at", "verb", "actor", "object_type", "object_id", "result")
    list_display_links = ("at", "verb")
    list_filter = ("result", "actor_kind", "object_type")
    search_fields = ("verb__exact", "object_id__exact", "request_id__exact")
    ordering = ("-at", "-id")
