"""Object permissions as rows with a real foreign key to their object, in the tables that django-guardian reads.

These tables carry no tenant column: their row-level security follows the object they point to.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from apps.core.governance import Audited, Governance, Keeps
from apps.tenants.models.namespaces import AccessPolicy, Namespace
from apps.tenants.models.tenants import Tenant

_DECLARED = Governance(tenant="content_object__tenant", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)


class TenantUserPermission(UserObjectPermissionBase):
    content_object = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    governance: ClassVar = Governance(tenant="content_object", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)


class TenantGroupPermission(GroupObjectPermissionBase):
    content_object = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    governance: ClassVar = Governance(tenant="content_object", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)


class NamespaceUserPermission(UserObjectPermissionBase):
    content_object = models.ForeignKey(Namespace, on_delete=models.CASCADE)
    governance: ClassVar = _DECLARED


class NamespaceGroupPermission(GroupObjectPermissionBase):
    content_object = models.ForeignKey(Namespace, on_delete=models.CASCADE)
    governance: ClassVar = _DECLARED


class AccessPolicyUserPermission(UserObjectPermissionBase):
    content_object = models.ForeignKey(AccessPolicy, on_delete=models.CASCADE)
    governance: ClassVar = _DECLARED


class AccessPolicyGroupPermission(GroupObjectPermissionBase):
    content_object = models.ForeignKey(AccessPolicy, on_delete=models.CASCADE)
    governance: ClassVar = _DECLARED
