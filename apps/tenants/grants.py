"""Who may do what with which namespace and policy: the only module that speaks to django-guardian.

Permissions are rows on namespaces, policies and tenants, held by role groups or by single users; never a row per memory, never a
global permission, and a superuser has none of them by being one. Reading them for a request is one statement of our own,
because it runs on every request; a test holds it equal to guardian's answer.
"""

# ruff: noqa: ANN401 - guardian and the permission models have no narrower type here

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from django.contrib.auth.models import Group, Permission
from guardian.shortcuts import get_objects_for_user

from apps.core.errors import NotPermitted
from apps.core.isolation import tenant_context
from apps.core.prepared import fetch_prepared
from apps.tenants.access import NamespaceGrant
from apps.tenants.models import (
    AccessPolicy,
    AccessPolicyGroupPermission,
    AccessPolicyUserPermission,
    Membership,
    Namespace,
    NamespaceGroupPermission,
    NamespaceUserPermission,
    Role,
    Scope,
    Tenant,
    TenantGroupPermission,
    User,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

Holder: TypeAlias = User | Group

READ, WRITE, REVIEW, PROMOTE, ERASE = "read", "write", "review", "promote", "erase"
EVERYTHING = (READ, WRITE, REVIEW, PROMOTE, ERASE)
READ_UNDER = "read_under"
_BATCH = 2000

# What the group of a role gets on a namespace when it is made. What is not here is not granted: an owner runs the tenant but
# does not read what belongs to a single person, compliance staff erase without reading, auditors and operators see no namespace
# at all.
ROLE_GRANTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    Role.OWNER: {Scope.PROJECT: EVERYTHING, Scope.ORGANIZATION: EVERYTHING},
    Role.COMPLIANCE: {Scope.USER: (ERASE,), Scope.PROJECT: (ERASE,), Scope.ORGANIZATION: (ERASE,)},
    Role.REVIEWER: {Scope.PROJECT: (READ, REVIEW), Scope.ORGANIZATION: (READ, REVIEW)},
    Role.AUDITOR: {},
    Role.OPERATOR: {},
    Role.AGENT: {Scope.ORGANIZATION: (READ,)},
}


# -- roles


def role_group_name(tenant_key: str, role: str) -> str:
    """The group that holds a role in a tenant."""
    return f"{tenant_key}:{role}"


def ensure_role_groups(tenants: Sequence[Tenant]) -> dict[tuple[UUID, str], Group]:
    """The role groups of these tenants, made where they are missing, each with its ``act_as_…`` permission on the tenant."""
    wanted = {role_group_name(tenant.key, role): (tenant, str(role)) for tenant in tenants for role in Role}
    Group.objects.bulk_create([Group(name=name) for name in wanted], ignore_conflicts=True, batch_size=_BATCH)
    groups: dict[tuple[UUID, str], Group] = {}
    rows = []
    for group in Group.objects.filter(name__in=list(wanted)):
        tenant, role = wanted[group.name]
        groups[tenant.id, role] = group
        rows.append(
            TenantGroupPermission(group=group, permission_id=_permission(Tenant, f"act_as_{role}"), content_object=tenant)
        )
    TenantGroupPermission.objects.bulk_create(rows, ignore_conflicts=True, batch_size=_BATCH)
    return groups


def add_roles(
    tenant: Tenant, holders: Iterable[tuple[User, str]], groups: Mapping[tuple[UUID, str], Group]
) -> list[tuple[User, str]]:
    """Give users roles in a tenant: a Membership and its mirror, a place in the group. Returns those that are new."""
    wanted = list(dict.fromkeys((user, str(role)) for user, role in holders))
    have = set(Membership.objects.filter(tenant=tenant, user__in=[user for user, _ in wanted]).values_list("user_id", "role"))
    new = [(user, role) for user, role in wanted if (user.id, role) not in have]
    for user, _ in new:
        _require_active(user)
    Membership.objects.bulk_create([Membership(tenant=tenant, user=user, role=role) for user, role in new], batch_size=_BATCH)
    through = User.groups.through
    through.objects.bulk_create(
        [through(user_id=user.id, group_id=groups[tenant.id, role].id) for user, role in new], ignore_conflicts=True
    )
    return new


def remove_role(tenant: Tenant, user: User, role: str) -> bool:
    """Take a role away again; False if the user did not have it."""
    removed, _ = Membership.objects.filter(tenant=tenant, user=user, role=role).delete()
    user.groups.remove(*Group.objects.filter(name=role_group_name(tenant.key, role)))
    return removed > 0


# -- namespaces and policies


def grant_to_roles(namespaces: Iterable[Namespace], groups: Mapping[tuple[UUID, str], Group]) -> None:
    """What each role gets on new namespaces (ROLE_GRANTS)."""
    rows = [
        NamespaceGroupPermission(
            group=groups[namespace.tenant_id, str(role)], permission_id=_permission(Namespace, name), content_object=namespace
        )
        for namespace in namespaces
        for role, scopes in ROLE_GRANTS.items()
        for name in scopes.get(namespace.scope, ())
    ]
    NamespaceGroupPermission.objects.bulk_create(rows, ignore_conflicts=True, batch_size=_BATCH)


def grant_on_namespaces(holder: Holder, namespace_ids: Iterable[UUID], *permissions: str) -> int:
    """Give a user or a group permissions on namespaces; what it has already stays. Returns how many are new.

    Raises NotPermitted for an inactive user and KeyError for a permission that a namespace does not have.
    """
    wanted = {(namespace_id, _permission(Namespace, name)) for namespace_id in namespace_ids for name in permissions}
    return _grant(NamespaceUserPermission, NamespaceGroupPermission, holder, wanted)


def withdraw_from_namespaces(holder: Holder, namespace_ids: Iterable[UUID], *permissions: str) -> int:
    """Take permissions on namespaces away; returns how many there were."""
    model, who = _side(NamespaceUserPermission, NamespaceGroupPermission, holder)
    removed, _ = model.objects.filter(
        content_object_id__in=list(namespace_ids), permission_id__in=[_permission(Namespace, name) for name in permissions], **who
    ).delete()
    return int(removed)


def grant_policy(holder: Holder, policy_id: UUID) -> int:
    """Let a user or a group read memories under a policy (a second condition beside the namespace, ID-18)."""
    wanted = {(policy_id, _permission(AccessPolicy, READ_UNDER))}
    return _grant(AccessPolicyUserPermission, AccessPolicyGroupPermission, holder, wanted)


def withdraw_policy(holder: Holder, policy_id: UUID) -> int:
    """Take the permission to read under a policy away; returns how many there were."""
    model, who = _side(AccessPolicyUserPermission, AccessPolicyGroupPermission, holder)
    removed, _ = model.objects.filter(content_object_id=policy_id, **who).delete()
    return int(removed)


def namespaces_with(user: User, permission: str, tenant_id: UUID) -> Any:
    """A queryset of the namespaces of a tenant on which a person has a permission, for lists and explanations in the console."""
    if not user.is_active:
        return Namespace.objects.none()
    return get_objects_for_user(
        user,
        permission,
        Namespace.objects.filter(tenant_id=tenant_id),
        use_groups=True,
        accept_global_perms=False,
        with_superuser=False,
    )


def _grant(user_model: Any, group_model: Any, holder: Holder, wanted: set[tuple[UUID, int]]) -> int:
    if isinstance(holder, User):
        _require_active(holder)
    model, who = _side(user_model, group_model, holder)
    have = set(
        model.objects.filter(content_object_id__in={object_id for object_id, _ in wanted}, **who).values_list(
            "content_object_id", "permission_id"
        )
    )
    rows = [
        model(content_object_id=object_id, permission_id=permission_id, **who)
        for object_id, permission_id in sorted(wanted - have, key=str)
    ]
    model.objects.bulk_create(rows, ignore_conflicts=True, batch_size=_BATCH)
    return len(rows)


def _side(user_model: Any, group_model: Any, holder: Holder) -> tuple[Any, dict[str, Any]]:
    return (user_model, {"user_id": holder.id}) if isinstance(holder, User) else (group_model, {"group_id": holder.id})


def _require_active(user: User) -> None:
    if not user.is_active:
        raise NotPermitted


def _permission(model: type, codename: str) -> int:
    """The primary key of a permission of a model."""
    return _permissions(model)[codename]


@cache
def _permissions(model: type[Any]) -> dict[str, int]:
    """Permissions come with migrations and do not change while a process runs."""
    meta = model._meta  # noqa: SLF001 - Django's own name for it
    return dict(
        Permission.objects.filter(content_type__app_label=meta.app_label, content_type__model=meta.model_name).values_list(
            "codename", "id"
        )
    )


# -- what a request reaches


@dataclass(frozen=True, slots=True)
class Reach:
    """Namespaces in the order user, projects, organization; the policies; and the named projects, in their order.

    ``erases``: whether there is any namespace, among these or not, in which a person may erase.
    """

    namespaces: tuple[NamespaceGrant, ...] = ()
    policies: frozenset[UUID] = frozenset()
    projects: tuple[tuple[UUID, str], ...] = ()
    erases: bool = False


# One row per namespace in question: what the user holds on it, alone or through a group.
_HELD = """
    ARRAY(
        SELECT p.codename FROM tenants_namespaceuserpermission g JOIN auth_permission p ON p.id = g.permission_id
        WHERE g.content_object_id = n.id AND g.user_id = %(user)s
        UNION
        SELECT p.codename FROM tenants_namespacegrouppermission g JOIN auth_permission p ON p.id = g.permission_id
        JOIN tenants_user_groups m ON m.group_id = g.group_id
        WHERE g.content_object_id = n.id AND m.user_id = %(user)s
    )
"""
_POLICIES = """
    ARRAY(
        SELECT g.content_object_id FROM tenants_accesspolicyuserpermission g WHERE g.user_id = %(user)s
        UNION
        SELECT g.content_object_id FROM tenants_accesspolicygrouppermission g
        JOIN tenants_user_groups m ON m.group_id = g.group_id WHERE m.user_id = %(user)s
    )
"""
_OF_AGENT = f"""
SELECT n.id, n.scope, n.scope_id, n.subject_id, n.project_id, {_HELD},
    EXISTS (
        SELECT 1 FROM tenants_projectmember m
        WHERE m.tenant_id = n.tenant_id AND m.project_id = n.project_id AND m.subject_id = %(subject)s
          AND m.member_from <= %(at)s AND (m.member_to IS NULL OR m.member_to > %(at)s)
    ),
    CASE WHEN n.scope = 'organization' THEN {_POLICIES} END
FROM tenants_namespace n
WHERE n.tenant_id = %(tenant)s
  AND (n.subject_id = %(subject)s OR n.project_id = ANY(%(projects)s) OR n.scope = 'organization')
"""  # noqa: S608 - constants of this module
# The namespaces on which a person holds one of some permissions, alone or through a group; some of them twice.
_HELD_BY_PERSON = """
    SELECT g.content_object_id FROM tenants_namespaceuserpermission g
    WHERE g.user_id = %(user)s AND g.permission_id = ANY(%(permissions)s)
    UNION ALL
    SELECT g.content_object_id FROM tenants_namespacegrouppermission g
    JOIN tenants_user_groups m ON m.group_id = g.group_id
    WHERE m.user_id = %(user)s AND g.permission_id = ANY(%(permissions)s)
"""
_OF_PERSON = f"""
SELECT n.id, n.scope, n.scope_id, n.subject_id, n.project_id, {_HELD}
FROM tenants_namespace n
WHERE n.tenant_id = %(tenant)s AND n.id IN ({_HELD_BY_PERSON})
"""  # noqa: S608 - constants of this module
_POLICIES_AND_ANY = f"""
SELECT {_POLICIES}, EXISTS (
    SELECT 1 FROM ({_HELD_BY_PERSON}) h JOIN tenants_namespace n ON n.id = h.content_object_id WHERE n.tenant_id = %(tenant)s
)
"""  # noqa: S608 - constants of this module
_NAMED = "SELECT id, key FROM tenants_project WHERE tenant_id = %(tenant)s AND id = ANY(%(projects)s)"
_ORDER = {Scope.USER: 0, Scope.PROJECT: 1, Scope.ORGANIZATION: 2}


def reach_of_agent(tenant_id: UUID, user_id: UUID, *, subject_id: UUID | None, projects: Collection[UUID], at: datetime) -> Reach:
    """What an agent reaches for a subject: the subject's own namespace, the named projects in which both the agent has a
    permission and the subject is a member at ``at``, and the organization as far as the agent may. Without a subject: nothing.
    """
    if subject_id is None:
        return Reach(
            projects=_in_order(projects, dict(fetch_prepared(_NAMED, {"tenant": tenant_id, "projects": list(projects)})))
        )
    rows = fetch_prepared(
        _OF_AGENT, {"tenant": tenant_id, "user": user_id, "subject": subject_id, "projects": list(projects), "at": at}
    )
    named = _in_order(projects, {row[4]: row[2] for row in rows if row[1] == Scope.PROJECT})
    place = {project: number for number, project in enumerate(projects)}
    found: list[tuple[int, int, NamespaceGrant]] = []
    policies: frozenset[UUID] = frozenset()
    for row in rows:
        scope, held, is_member, under = row[1], set(row[5]), row[6], row[7]
        if scope == Scope.USER:
            held |= {READ, WRITE}
        elif scope == Scope.PROJECT and not is_member:
            continue
        elif scope == Scope.ORGANIZATION:
            policies = frozenset(under)
        if held:
            found.append((_ORDER[scope], place.get(row[4], 0), _grant_of(row, held)))
    found.sort(key=lambda entry: entry[:2])
    return Reach(tuple(grant for _, _, grant in found), policies, named)


def _in_order(projects: Collection[UUID], keys: Mapping[UUID, str]) -> tuple[tuple[UUID, str], ...]:
    """Project ids with their keys, in the order in which the token names them."""
    return tuple((project, keys[project]) for project in projects if project in keys)


def reach_of_person(tenant_id: UUID, user_id: UUID) -> Reach:
    """The namespaces of a tenant on which a person holds anything beyond erasing, and the policies they may read under."""
    found = _of_person(tenant_id, user_id, READ, WRITE, REVIEW, PROMOTE)
    asked = {"tenant": tenant_id, "user": user_id, "permissions": [_permission(Namespace, ERASE)]}
    [(policies, erases)] = fetch_prepared(_POLICIES_AND_ANY, asked)
    return Reach(found, frozenset(policies), erases=erases)


def erase_only_of_person(tenant_id: UUID, user_id: UUID) -> tuple[NamespaceGrant, ...]:
    """The namespaces of a tenant in which a person may erase and do nothing else; for compliance staff one for each subject."""
    with tenant_context(tenant_id):
        found = _of_person(tenant_id, user_id, ERASE)
    return tuple(grant for grant in found if not (grant.read or grant.write or grant.review or grant.promote))


def _of_person(tenant_id: UUID, user_id: UUID, *permissions: str) -> tuple[NamespaceGrant, ...]:
    wanted = [_permission(Namespace, name) for name in permissions]
    rows = fetch_prepared(_OF_PERSON, {"tenant": tenant_id, "user": user_id, "permissions": wanted})
    grants = [_grant_of(row, set(row[5])) for row in rows]
    return tuple(sorted(grants, key=lambda grant: (_ORDER[Scope(grant.scope)], grant.scope_id)))


def _grant_of(row: tuple[Any, ...], held: set[str]) -> NamespaceGrant:
    return NamespaceGrant(
        id=row[0],
        scope=row[1],
        scope_id=row[2],
        subject_id=row[3],
        project_id=row[4],
        read=READ in held,
        write=WRITE in held,
        review=REVIEW in held,
        promote=PROMOTE in held,
        erase=ERASE in held,
    )
