"""Policies and object permissions: who may do what with which object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.tenants.admin.places import ACCESS_ROLES
from apps.tenants.console import values
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.site import console
from apps.tenants.models import (
    AccessPolicy,
    AccessPolicyGroupPermission,
    AccessPolicyUserPermission,
    NamespaceGroupPermission,
    NamespaceUserPermission,
    TenantGroupPermission,
    TenantUserPermission,
)

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

# Permissions as people read them; their names in the database are not translated.
PERMISSIONS = {
    "read": _("read memories"),
    "write": _("write memories"),
    "review": _("review proposals"),
    "promote": _("promote memories"),
    "erase": _("erase memories"),
    "read_under": _("read memories under this policy"),
    "act_as_owner": _("act as owner"),
    "act_as_compliance": _("act as compliance staff"),
    "act_as_reviewer": _("act as reviewer"),
    "act_as_auditor": _("act as auditor"),
    "act_as_operator": _("act as operator"),
    "act_as_agent": _("act as agent"),
}


@admin.register(AccessPolicy, site=console)
class AccessPolicyAdmin(GovernedAdmin):
    roles = ACCESS_ROLES
    area = Area.ACCESS
    about = _("Reader lists for single memories: whoever reads one needs its namespace and its policy.")
    when_empty = _("No memory has a reader list of its own.")
    label_for_everyone = True
    list_display = ("key", "description", "created_at")
    search_fields = ("key__startswith",)
    ordering = ("key",)
    related = (
        Related(_("Memories"), "memories.Memory", by("access_policy"), ("fact_key", "state", "namespace", "created_at")),
        Related(_("Groups"), "tenants.AccessPolicyGroupPermission", by("content_object"), ("group", "may")),
        Related(_("Single users"), "tenants.AccessPolicyUserPermission", by("content_object"), ("user", "may")),
    )


class UserPermissionAdmin(GovernedAdmin):
    """Rows of the object permissions that a single user holds."""

    roles = ACCESS_ROLES
    area = Area.RECORDS
    about = _("Object permissions, one row for each: who may do what with which object.")
    when_empty = _("No permission of this kind has been given.")
    headings = {"content_object": _("object"), "group": _("group")}
    told_by_others = ("permission",)
    list_display = ("id", "user", "may", "content_object")
    linked_by = {"content_object": _("object")}
    ordering = ("-id",)
    sections: ClassVar[tuple[Section, ...]] = (Section("", ("user", "may", "content_object")),)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("permission")

    @admin.display(description=_("permission"))
    def may(self, row: Any) -> SafeString:  # noqa: ANN401 - a row of any of the permission tables
        return values.shown(PERMISSIONS.get(row.permission.codename, row.permission.codename))

    def label(self, row: Model) -> str:
        return str(row.pk)


class GroupPermissionAdmin(UserPermissionAdmin):
    """Rows of the object permissions that a role's group holds."""

    list_display = ("id", "group", "may", "content_object")
    sections = (Section("", ("group", "may", "content_object")),)


@admin.register(TenantUserPermission, site=console)
class TenantUserPermissionAdmin(UserPermissionAdmin):
    page_title = _("tenant permissions of users")


@admin.register(TenantGroupPermission, site=console)
class TenantGroupPermissionAdmin(GroupPermissionAdmin):
    page_title = _("tenant permissions of groups")


@admin.register(NamespaceUserPermission, site=console)
class NamespaceUserPermissionAdmin(UserPermissionAdmin):
    page_title = _("namespace permissions of users")


@admin.register(NamespaceGroupPermission, site=console)
class NamespaceGroupPermissionAdmin(GroupPermissionAdmin):
    page_title = _("namespace permissions of groups")


@admin.register(AccessPolicyUserPermission, site=console)
class AccessPolicyUserPermissionAdmin(UserPermissionAdmin):
    page_title = _("policy permissions of users")


@admin.register(AccessPolicyGroupPermission, site=console)
class AccessPolicyGroupPermissionAdmin(GroupPermissionAdmin):
    page_title = _("policy permissions of groups")
