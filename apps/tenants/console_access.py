"""Access for those who come without a bearer token: people in the console, jobs, and commands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from apps.core.errors import NotFound
from apps.core.isolation import system_context, tenant_context
from apps.tenants import grants
from apps.tenants.access import Access, ActorKind, NamespaceGrant
from apps.tenants.models import Membership, Namespace, Operation, Role, Scope, Tenant, User

if TYPE_CHECKING:
    from collections.abc import Iterable

# Jobs act for the platform itself. The id is fixed so that audit entries of all times can be found by it.
SERVICE_ID = UUID("00000000-0000-7000-8000-000000000001")
COMMAND_ID = UUID("00000000-0000-7000-8000-000000000002")

# What a job may do within the namespaces stored on it. Never `delegate`: a job cannot lend what it was given.
SERVICE_OPERATIONS = frozenset(
    {Operation.EVENTS_WRITE, Operation.CANDIDATES_WRITE, Operation.MEMORY_READ, Operation.MEMORY_WRITE}
)


@dataclass(frozen=True, slots=True)
class TenantCard:
    """A tenant that a person may enter, and as what."""

    tenant_id: UUID
    key: str
    name: str
    roles: frozenset[str]


def tenants_of(user: User) -> list[TenantCard]:
    """The active tenants in which a person has a role, by key; nothing for an inactive person."""
    if not user.is_active:
        return []
    with system_context():
        roles: dict[UUID, set[str]] = {}
        for tenant_id, role in Membership.objects.filter(user=user).exclude(role=Role.AGENT).values_list("tenant_id", "role"):
            roles.setdefault(tenant_id, set()).add(role)
        tenants = Tenant.objects.filter(id__in=list(roles), status=Tenant.Status.ACTIVE).order_by("key")
        return [TenantCard(one.id, one.key, one.name, frozenset(roles[one.id])) for one in tenants]


def person_access(user: User, tenant_id: UUID, *, request_id: str = "") -> Access:
    """What a person may do and see in one tenant: roles from their memberships, namespaces and policies from their grants.

    Being a superuser adds nothing (design/07). Raises NotFound for inactive people, agents, suspended tenants and people
    without a role there.
    """
    if not user.is_active or user.kind != User.Kind.PERSON:
        raise NotFound
    with tenant_context(tenant_id):
        tenant = Tenant.objects.filter(id=tenant_id, status=Tenant.Status.ACTIVE).first()
        roles = frozenset(Membership.objects.filter(tenant_id=tenant_id, user=user).values_list("role", flat=True)) - {Role.AGENT}
        if tenant is None or not roles:
            raise NotFound
        reach = grants.reach_of_person(tenant_id, user.id)
    return Access(
        tenant_id=tenant_id,
        tenant_key=tenant.key,
        actor_kind=ActorKind.PERSON,
        actor_id=user.id,
        actor=user.username,
        caller_id=user.id.hex,
        operations=_operations_of(roles, reach),
        namespaces=reach.namespaces,
        policies=reach.policies,
        roles=roles,
        request_id=request_id,
        settings=tenant.settings,
        erase_only=partial(grants.erase_only_of_person, tenant_id, user.id),
    )


def service_access(
    tenant_id: UUID,
    namespace_ids: Iterable[UUID],
    *,
    actor: str = "worker",
    operations: Iterable[str] = SERVICE_OPERATIONS,
    request_id: str = "",
) -> Access:
    """The identity of a background job: exactly the namespaces that were stored on it when it was made (ID-10).

    What the job reads later, whatever it says, cannot add one (ID-11). Raises NotFound for a suspended or absent tenant;
    namespaces that are not the tenant's are left out.
    """
    granted = frozenset(str(name) for name in operations) - {Operation.DELEGATE}
    with tenant_context(tenant_id):
        tenant = Tenant.objects.filter(id=tenant_id, status=Tenant.Status.ACTIVE).first()
        if tenant is None:
            raise NotFound
        rows = Namespace.objects.filter(tenant_id=tenant_id, id__in=list(namespace_ids)).order_by("id")
        found = tuple(_service_grant(row, erase=Operation.MEMORY_DELETE in granted) for row in rows)
    subjects = [grant for grant in found if grant.scope == Scope.USER]
    return Access(
        tenant_id=tenant_id,
        tenant_key=tenant.key,
        actor_kind=ActorKind.SERVICE,
        actor_id=SERVICE_ID,
        actor=actor,
        caller_id=SERVICE_ID.hex,
        operations=granted,
        namespaces=found,
        subject_id=subjects[0].subject_id if len(subjects) == 1 else None,
        subject=subjects[0].scope_id if len(subjects) == 1 else None,
        projects=tuple((grant.project_id, grant.scope_id) for grant in found if grant.project_id is not None),
        request_id=request_id,
        settings=tenant.settings,
    )


def command_access(tenant_id: UUID, *, actor: str = "command", request_id: str = "") -> Access:
    """The operator of the installation, through a command: the whole tenant, and the right to administer it. Raises NotFound."""
    with tenant_context(tenant_id):
        tenant = Tenant.objects.filter(id=tenant_id).first()
        if tenant is None:
            raise NotFound
        found = tuple(_service_grant(row, erase=True) for row in Namespace.objects.filter(tenant_id=tenant_id).order_by("id"))
    return operator_access(tenant, found, actor=actor, request_id=request_id)


def operator_access(tenant: Tenant, namespaces: tuple[NamespaceGrant, ...] = (), *, actor: str, request_id: str = "") -> Access:
    """The same for code that holds the tenant row already and needs no namespace, such as provisioning."""
    return Access(
        tenant_id=tenant.id,
        tenant_key=tenant.key,
        actor_kind=ActorKind.SERVICE,
        actor_id=COMMAND_ID,
        actor=actor,
        caller_id=COMMAND_ID.hex,
        operations=frozenset(Operation.values) - {Operation.DELEGATE},
        namespaces=namespaces,
        roles=frozenset({str(Role.OWNER)}),
        request_id=request_id,
        settings=tenant.settings,
    )


def _operations_of(roles: frozenset[str], reach: grants.Reach) -> frozenset[str]:
    """People have no credential that could narrow them: what they hold on some namespace is what verbs may ask for."""
    found: set[str] = {Operation.DELETIONS_RESUME} if Role.COMPLIANCE in roles else set()
    found |= {Operation.MEMORY_DELETE} if reach.erases else set()
    for grant in reach.namespaces:
        found |= {Operation.MEMORY_READ, Operation.TRACES_READ} if grant.read else set()
        found |= {Operation.MEMORY_WRITE, Operation.PROMOTIONS_REQUEST} if grant.write else set()
        found |= {Operation.CONFLICTS_RESOLVE} if grant.review else set()
    return frozenset(str(name) for name in found)


def _service_grant(row: Namespace, *, erase: bool) -> NamespaceGrant:
    return NamespaceGrant(
        id=row.id,
        scope=row.scope,
        scope_id=row.scope_id,
        subject_id=row.subject_id,
        project_id=row.project_id,
        read=True,
        write=True,
        erase=erase,
    )
