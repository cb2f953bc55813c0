"""Console pages of floor 3."""

from __future__ import annotations

from django.contrib import admin

from apps.jobs.models import Outbox, ProcessingJob, WorkerHeartbeat
from apps.tenants.console.base import GovernedAdmin
from apps.tenants.console.site import console
from apps.tenants.models import Role

WORK_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.OPERATOR})


@admin.register(ProcessingJob, site=console)
class ProcessingJobAdmin(GovernedAdmin):
    roles = WORK_ROLES
    list_display = ("kind", "state", "attempts", "last_error", "created_at", "next_try_at", "finished_at")
    list_filter = ("state", "kind")
    search_fields = ("key__exact", "id__exact")
    ordering = ("-created_at", "-id")


@admin.register(Outbox, site=console)
class OutboxAdmin(GovernedAdmin):
    roles = WORK_ROLES
    list_display = ("topic", "object_id", "version", "created_at", "delivered_at", "attempts")
    list_filter = ("topic",)
    ordering = ("-created_at", "-id")


@admin.register(WorkerHeartbeat, site=console)
class WorkerHeartbeatAdmin(GovernedAdmin):
    """Workers serve every tenant; that they live is no secret of one."""

    roles = WORK_ROLES
    list_display = ("name", "seen_at")
