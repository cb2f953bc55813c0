"""Tenants, projects, and the namespaces in which memory lives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.site import console
from apps.tenants.models import Namespace, Project, Role, Tenant, User

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest

ACCESS_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})


class InstallationAdmin(GovernedAdmin):
    """Pages of the installation itself: also open to a superuser, who may know which tenants and people there are."""

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._runs_installation(request) or super().has_view_permission(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Outside any tenant a superuser sees all rows; inside one, what everybody with a role there sees."""
        if self.access(request) is None and self._runs_installation(request):
            return self._bare_rows()
        return super().get_queryset(request)

    def _runs_installation(self, request: HttpRequest) -> bool:
        return (
            self.access(request) is None
            and isinstance(request.user, User)
            and request.user.is_active
            and request.user.is_superuser
        )


@admin.register(Tenant, site=console)
class TenantAdmin(InstallationAdmin):
    area = Area.ACCESS
    about = _("The customer whose memory this is. Its revision steps with every change of what memory says.")
    hidden_fields = ("index_key",)
    list_display = ("key", "name", "status", "revision", "created_at")
    search_fields = ("key__startswith",)
    search_help_text = _("The beginning of a key.")
    sortable = ("key", "created_at")
    ordering = ("key",)


@admin.register(Project, site=console)
class ProjectAdmin(GovernedAdmin):
    area = Area.ACCESS
    about = _("Places of shared work. A project can be renamed; its key stays.")
    when_empty = _("Projects come from the provisioning file.")
    label_for_everyone = True
    list_display = ("key", "name", "created_at")
    search_fields = ("key__startswith",)
    search_help_text = _("The beginning of a key.")
    sortable = ("key",)
    ordering = ("key",)
    related = (
        Related(_("Namespace"), "tenants.Namespace", by("project"), ("scope_id", "scope", "deletion_epoch", "created_at")),
        Related(_("Members"), "tenants.ProjectMember", by("project"), ("subject", "member_from", "member_to")),
    )


@admin.register(Namespace, site=console)
class NamespaceAdmin(GovernedAdmin):
    area = Area.ACCESS
    about = _("Where memory lives: each belongs to one person, one project or the organization, and to nobody else.")
    when_empty = _("A namespace is made with each person, project and tenant.")
    namespace_paths = ("id",)
    list_display = ("scope_id", "scope", "deletion_epoch", "created_at")
    list_filter = ("scope",)
    linked_by = {"project": _("project"), "subject": _("subject")}
    search_fields = ("scope_id__startswith",)
    search_help_text = _("The beginning of a scope id.")
    ordering = ("scope", "scope_id")
    sections = (Section(_("What it is"), ("scope", "scope_id", "subject", "project", "deletion_epoch", "created_at")),)
    related = (
        Related(_("Memories"), "memories.Memory", by("namespace"), ("fact_key", "state", "memory_type", "created_at")),
        Related(
            _("Events"), "evidence.SourceEvent", by("namespace"), ("event_id", "source_type", "occurred_at"), order=("-sequence",)
        ),
        Related(_("Candidates"), "memories.Candidate", by("namespace"), ("candidate_id", "status", "decision", "created_at")),
        Related(_("Open and settled conflicts"), "memories.ConflictSet", by("namespace"), ("fact_key", "status", "created_at")),
        Related(_("Deletions"), "retention.DeletionJob", by("namespace"), ("deletion_request_id", "state", "accepted_at")),
        Related(
            _("What groups may do here"),
            "tenants.NamespaceGroupPermission",
            by("content_object"),
            ("group", "may"),
        ),
        Related(_("What single users may do here"), "tenants.NamespaceUserPermission", by("content_object"), ("user", "may")),
        Related(
            _("Index"),
            "retrieval.IndexState",
            by("namespace_id"),
            ("generation", "documents", "history_documents", "revision", "rebuilt_at"),
        ),
    )
