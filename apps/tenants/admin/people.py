"""People, agents, and whom memory is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.tenants.admin.places import ACCESS_ROLES, InstallationAdmin
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.site import console
from apps.tenants.models import Membership, ProjectMember, Subject, User

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest


@admin.register(User, site=console)
class UserPages(InstallationAdmin):
    """People and agents of the open tenant; a superuser outside any tenant sees everybody. Passwords are not shown."""

    roles = ACCESS_ROLES
    area = Area.ACCESS
    page_title = _("people and agents")
    about = _("Who acts: people with a password, and agents, which only ever come with a credential.")
    label_for_everyone = True
    hidden_fields = ("password", "is_staff")
    list_display = ("username", "kind", "key", "is_active", "last_login", "date_joined")
    list_filter = ("kind", "is_active")
    search_fields = ("username__istartswith",)
    search_help_text = _("The beginning of a name.")
    sortable = ("username",)
    ordering = ("username",)
    sections = (
        Section(_("Who it is"), ("username", "kind", "key", "first_name", "last_name", "email")),
        Section(_("How it stands"), ("is_active", "is_superuser", "last_login", "date_joined")),
    )
    related = (
        Related(_("Roles"), "tenants.Membership", by("user"), ("role", "created_at")),
        Related(
            _("Credentials"), "tenants.Credential", by("user"), ("name", "subject", "operations", "expires_at", "revoked_at")
        ),
        Related(
            _("What was done lately"),
            "audits.AuditEntry",
            by("actor_id"),
            ("at", "verb", "object_type", "object_id", "result"),
            order=("-at", "-id"),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return self._of_tenant(request, super().get_queryset(request))

    def labelled_rows(self, request: HttpRequest) -> QuerySet[Any]:
        return self._of_tenant(request, super().labelled_rows(request))

    def _of_tenant(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The table is shared by all tenants and has no row-level security: whoever has a role in the open one belongs to it."""
        access = self.access(request)
        if access is None:
            return rows
        return rows.filter(id__in=Membership.objects.filter(tenant_id=access.tenant_id).values("user_id"))


@admin.register(Membership, site=console)
class MembershipAdmin(GovernedAdmin):
    roles = ACCESS_ROLES
    area = Area.ACCESS
    page_title = _("roles")
    about = _("Who has which role in this tenant. What a role opens is decided by the platform, not here.")
    list_display = ("user", "role", "created_at")
    list_filter = ("role",)
    linked_by = {"user": _("user")}
    ordering = ("role", "created_at", "id")

    def label(self, row: Membership) -> str:
        return str(row.get_role_display())


@admin.register(Subject, site=console)
class SubjectAdmin(GovernedAdmin):
    roles = ACCESS_ROLES
    area = Area.ACCESS
    about = _("The people memory is about. A key is compared exactly and never shown to another subject's agents.")
    when_empty = _("Subjects come from the provisioning file.")
    label_for_everyone = True
    list_display = ("key", "created_at")
    search_fields = ("key__startswith",)
    search_help_text = _("The beginning of a key.")
    sortable = ("key",)
    ordering = ("key",)
    related = (
        Related(_("Namespace"), "tenants.Namespace", by("subject"), ("scope_id", "scope", "deletion_epoch", "created_at")),
        Related(_("Projects"), "tenants.ProjectMember", by("subject"), ("project", "member_from", "member_to")),
        Related(
            _("Events"), "evidence.SourceEvent", by("subject"), ("event_id", "source_type", "occurred_at"), order=("-sequence",)
        ),
        Related(
            _("Queries on their behalf"),
            "retrieval.RetrievalTrace",
            by("subject"),
            ("at", "actor", "outcome"),
            order=("-at", "-id"),
        ),
        Related(
            _("Exports"),
            "retention.SubjectExport",
            by("subject"),
            ("export_request_id", "state", "reason_code", "requested_at", "expires_at"),
        ),
    )


@admin.register(ProjectMember, site=console)
class ProjectMemberAdmin(GovernedAdmin):
    roles = ACCESS_ROLES
    area = Area.RECORDS
    about = _("Which subject belongs to which project, and for how long. An ended membership takes effect with the next request.")
    list_display = ("id", "project", "subject", "member_from", "member_to")
    linked_by = {"project": _("project"), "subject": _("subject")}
    ordering = ("-id",)

    def label(self, row: ProjectMember) -> str:
        return self.spelled(row.pk)
