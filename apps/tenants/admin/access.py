"""Policies and object permissions: who may do what with which object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.tenants.admin.places import ACCESS_ROLES
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, by
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
    from django.db.models import Model


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
        Related(_("Groups"), "tenants.AccessPolicyGroupPermission", by("content_object"), ("group", "permission")),
        Related(_("Single users"), "tenants.AccessPolicyUserPermission", by("content_object"), ("user", "permission")),
    )


class UserPermissionAdmin(GovernedAdmin):
    """Rows of the object permissions that a single user holds."""

    roles = ACCESS_ROLES
    area = Area.RECORDS
    about = _("Object permissions, one row for each: who may do what with which object.")
    when_empty = _("No permission of this kind has been given.")
    list_display: tuple[str, ...] = ("id", "user", "permission", "content_object")
    headings = {"content_object": _("object"), "group": _("group"), "permission": _("permission")}
    linked_by = {"content_object": _("object")}
    ordering = ("-id",)

    def label(self, row: Model) -> str:
        return str(row.pk)


class GroupPermissionAdmin(UserPermissionAdmin):
    """Rows of the object permissions that a role's group holds."""

    list_display = ("id", "group", "permission", "content_object")


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
