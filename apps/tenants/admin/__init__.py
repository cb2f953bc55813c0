"""Console pages of floor 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin

from apps.tenants.console.base import GovernedAdmin
from apps.tenants.console.site import console
from apps.tenants.models import (
    AccessPolicy,
    AccessPolicyGroupPermission,
    AccessPolicyUserPermission,
    Credential,
    Delegation,
    IdempotencyKey,
    Membership,
    Namespace,
    NamespaceGroupPermission,
    NamespaceUserPermission,
    Project,
    ProjectMember,
    Role,
    Subject,
    Tenant,
    TenantGroupPermission,
    TenantUserPermission,
    User,
)

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest

ACCESS_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})


class InstallationAdmin(GovernedAdmin):
    """Pages of the installation itself: also open to a superuser, who may know which tenants and people there are."""

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._is_superuser(request) or super().has_view_permission(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = admin.ModelAdmin.get_queryset(self, request)
        return rows if self.has_view_permission(request) else rows.none()

    def _is_superuser(self, request: HttpRequest) -> bool:
        return isinstance(request.user, User) and request.user.is_active and request.user.is_superuser


@admin.register(Tenant, site=console)
class TenantAdmin(InstallationAdmin):
    list_display = ("key", "name", "status", "revision", "created_at")
    hidden_fields = ("index_key",)
    search_fields = ("key",)


@admin.register(User, site=console)
class UserPages(InstallationAdmin):
    """People and agents who belong to the open tenant; a superuser sees everybody. Nothing of a password is shown."""

    roles = ACCESS_ROLES
    list_display = ("username", "kind", "key", "is_active", "last_login")
    list_filter = ("kind", "is_active")
    search_fields = ("username",)
    hidden_fields = ("password",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        access = self.access(request)
        if access is None:
            return rows
        return rows.filter(id__in=Membership.objects.filter(tenant_id=access.tenant_id).values("user_id"))


@admin.register(Project, site=console)
class ProjectAdmin(GovernedAdmin):
    list_display = ("key", "name", "created_at")
    search_fields = ("key",)


@admin.register(Subject, site=console)
class SubjectAdmin(GovernedAdmin):
    roles = ACCESS_ROLES
    list_display = ("key", "created_at")
    search_fields = ("key",)


@admin.register(ProjectMember, site=console)
class ProjectMemberAdmin(GovernedAdmin):
    roles = ACCESS_ROLES
    list_display = ("project", "subject", "member_from", "member_to")
    list_select_related = ("project", "subject")


@admin.register(Membership, site=console)
class MembershipAdmin(GovernedAdmin):
    roles = ACCESS_ROLES
    list_display = ("user", "role", "created_at")
    list_filter = ("role",)
    list_select_related = ("user",)


@admin.register(Namespace, site=console)
class NamespaceAdmin(GovernedAdmin):
    namespace_path = "id"
    list_display = ("scope", "scope_id", "deletion_epoch", "created_at")
    list_display_links = ("scope", "scope_id")
    list_filter = ("scope",)
    search_fields = ("scope_id",)


@admin.register(AccessPolicy, site=console)
class AccessPolicyAdmin(GovernedAdmin):
    roles = ACCESS_ROLES
    list_display = ("key", "description", "created_at")


@admin.register(Credential, site=console)
class CredentialAdmin(GovernedAdmin):
    """What a key is good for; the key itself was shown once and is not kept."""

    roles = ACCESS_ROLES
    list_display = ("name", "user", "subject", "created_at", "expires_at", "revoked_at", "last_used_at")
    list_select_related = ("user", "subject")
    hidden_fields = ("token_sha256",)
    search_fields = ("name",)


@admin.register(Delegation, site=console)
class DelegationAdmin(GovernedAdmin):
    roles = ACCESS_ROLES
    list_display = ("subject", "session_id", "credential", "created_at", "expires_at", "revoked_at")
    list_select_related = ("subject", "credential")
    hidden_fields = ("token_sha256",)
    search_fields = ("session_id",)


@admin.register(IdempotencyKey, site=console)
class IdempotencyKeyAdmin(GovernedAdmin):
    roles = frozenset({Role.OWNER, Role.OPERATOR})
    list_display = ("route", "status", "created_at", "expires_at")
    hidden_fields = ("body_sha256", "caller_id", "key", "answer", "headers")


class PermissionRowAdmin(GovernedAdmin):
    """Rows of the object permissions: who may do what with which object."""

    roles = ACCESS_ROLES
    list_select_related = ("permission", "content_object")

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:  # noqa: ARG002 - signature of Django
        holder = "group" if hasattr(self.model, "group") else "user"
        return (holder, "permission", "content_object")


for model in (
    TenantUserPermission,
    TenantGroupPermission,
    NamespaceUserPermission,
    NamespaceGroupPermission,
    AccessPolicyUserPermission,
    AccessPolicyGroupPermission,
):
    console.register(model, PermissionRowAdmin)
