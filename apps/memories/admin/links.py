"""What memories rest on, how they stand to each other, and the vocabulary of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.memories.admin.memories import MEMORY_ROLES
from apps.memories.models import EvidenceLink, Label, Memory, Relation
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.site import console

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest


@admin.register(EvidenceLink, site=console)
class EvidenceLinkAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    area = Area.RECORDS
    about = _("Which evidence supports or refutes which version of a memory.")
    when_empty = _("A link is made with each version: no memory is taken up without a source.")
    namespace_paths = ("memory__namespace",)
    policy_paths = ("memory__access_policy",)
    list_display = ("stance", "memory", "version", "evidence", "held_at", "created_at")
    list_filter = ("stance",)
    linked_by = {"memory": _("memory"), "version": _("version"), "evidence": _("evidence")}
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).exclude(memory__state=Memory.State.REVOKED)


@admin.register(Relation, site=console)
class RelationAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    area = Area.RECORDS
    about = _("How memories stand to each other: one supersedes, contradicts or repeats another, or was made from it.")
    when_empty = _("Relations come with candidates that name them, and with records that replace an earlier one.")
    namespace_paths = ("source__namespace", "target__namespace")
    policy_paths = ("source__access_policy", "target__access_policy")
    list_display = ("type", "source", "target", "created_at")
    list_filter = ("type",)
    linked_by = {"source": _("from"), "target": _("to")}
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows.exclude(source__state=Memory.State.REVOKED).exclude(target__state=Memory.State.REVOKED)


@admin.register(Label, site=console)
class LabelAdmin(GovernedAdmin):
    area = Area.MEMORY
    about = _("The topics and entities that memories may be filed under, with the other names people use for them.")
    when_empty = _("Labels come from the provisioning file and from the owner of the tenant.")
    list_display = ("key", "kind", "aliases", "created_at")
    list_filter = ("kind",)
    search_fields = ("key__startswith",)
    search_help_text = _("The beginning of a key.")
    sortable = ("key", "created_at")
    ordering = ("kind", "key")
