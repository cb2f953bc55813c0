"""Nouns of floor 1: who there is, what they may do, and where memory lives."""

from apps.tenants.models.credentials import Credential, Delegation, Operation
from apps.tenants.models.idempotency import IdempotencyKey
from apps.tenants.models.namespaces import AccessPolicy, Namespace, Scope
from apps.tenants.models.people import Membership, ProjectMember, Role, Subject, User
from apps.tenants.models.permissions import (
    AccessPolicyGroupPermission,
    AccessPolicyUserPermission,
    NamespaceGroupPermission,
    NamespaceUserPermission,
    TenantGroupPermission,
    TenantUserPermission,
)
from apps.tenants.models.tenants import Project, Tenant

__all__ = [
    "AccessPolicy",
    "AccessPolicyGroupPermission",
    "AccessPolicyUserPermission",
    "Credential",
    "Delegation",
    "IdempotencyKey",
    "Membership",
    "Namespace",
    "NamespaceGroupPermission",
    "NamespaceUserPermission",
    "Operation",
    "Project",
    "ProjectMember",
    "Role",
    "Scope",
    "Subject",
    "Tenant",
    "TenantGroupPermission",
    "TenantUserPermission",
    "User",
]
