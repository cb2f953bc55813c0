"""What an agent reaches now, without its token: to look again at something it did, inside what it reached then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from apps.core import clock
from apps.tenants import grants
from apps.tenants.access import Access, ActorKind
from apps.tenants.console_access import COMMAND_ID, SERVICE_ID, service_access
from apps.tenants.models import Membership, Namespace, Role, Tenant, User

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID


def access_within(
    tenant_id: UUID, actor_id: UUID, *, actor: str, subject_id: UUID | None, namespace_ids: Collection[UUID], request_id: str = ""
) -> Access:
    """Read access of an agent for a subject to those of these namespaces that it still reaches; never to another one.

    An agent that is switched off or gone reaches none. A job or a command of the installation has no grants that could be taken
    away; it reaches what there still is. To be called inside the tenant's context.
    """
    if actor_id in {SERVICE_ID, COMMAND_ID}:
        found = service_access(tenant_id, namespace_ids, actor=actor, operations=(), request_id=request_id)
        return replace(found, namespaces=tuple(replace(grant, write=False, erase=False) for grant in found.namespaces))
    tenant = Tenant.objects.get(id=tenant_id)
    places = list(Namespace.objects.filter(tenant_id=tenant_id, id__in=list(namespace_ids)))
    projects = [place.project_id for place in places if place.project_id is not None]
    reach = grants.Reach()
    if _is_active(tenant_id, actor_id):
        reach = grants.reach_of_agent(tenant_id, actor_id, subject_id=subject_id, projects=projects, at=clock.now())
    within = [grant for grant in reach.namespaces if grant.read and grant.id in set(namespace_ids)]
    return Access(
        tenant_id=tenant_id,
        tenant_key=tenant.key,
        actor_kind=ActorKind.AGENT,
        actor_id=actor_id,
        actor=actor,
        caller_id=actor_id.hex,
        namespaces=tuple(replace(grant, write=False, review=False, promote=False, erase=False) for grant in within),
        policies=reach.policies,
        subject_id=subject_id,
        subject=next((place.scope_id for place in places if place.subject_id is not None), None),
        projects=reach.projects,
        request_id=request_id,
        settings=tenant.settings,
    )


def _is_active(tenant_id: UUID, actor_id: UUID) -> bool:
    users = User.objects.filter(id=actor_id, kind=User.Kind.AGENT, is_active=True)
    return users.exists() and Membership.objects.filter(tenant_id=tenant_id, user_id=actor_id, role=Role.AGENT).exists()
