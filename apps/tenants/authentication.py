"""From a bearer token to an Access: two statements in one short transaction, on every request."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import connection

from apps.core import clock
from apps.core.errors import CredentialExpired, CredentialRevoked, NotAuthenticated
from apps.core.isolation import tenant_context
from apps.core.prepared import fetch_prepared
from apps.tenants import grants
from apps.tenants.access import Access, ActorKind
from apps.tenants.models import Role, Tenant
from apps.tenants.tokens import DELEGATION, parse_token, token_hash

if TYPE_CHECKING:
    from uuid import UUID

# "Last used" is for people who wonder whether a key is still needed; a write on every request would be paid by everybody.
LAST_USED_EVERY = timedelta(minutes=5)

_COLUMNS = """
    c.id, c.user_id, u.key, u.is_active, c.operations, c.projects, c.expires_at, c.revoked_at, c.last_used_at,
    t.key, t.status, t.settings, s.id, s.key,
    EXISTS (SELECT 1 FROM tenants_membership m WHERE m.tenant_id = c.tenant_id AND m.user_id = c.user_id AND m.role = 'agent')
"""
_CREDENTIAL = f"""
SELECT {_COLUMNS}, NULL, NULL, NULL, NULL, NULL
FROM tenants_credential c
JOIN tenants_tenant t ON t.id = c.tenant_id
JOIN tenants_user u ON u.id = c.user_id
LEFT JOIN tenants_subject s ON s.id = c.subject_id
WHERE c.tenant_id = %s AND c.token_sha256 = %s
"""  # noqa: S608 - constants of this module
_DELEGATION = f"""
SELECT {_COLUMNS}, d.operations, d.projects, d.session_id, d.expires_at, d.revoked_at
FROM tenants_delegation d
JOIN tenants_credential c ON c.id = d.credential_id
JOIN tenants_tenant t ON t.id = d.tenant_id
JOIN tenants_user u ON u.id = c.user_id
JOIN tenants_subject s ON s.id = d.subject_id
WHERE d.tenant_id = %s AND d.token_sha256 = %s
"""  # noqa: S608 - constants of this module
_TOUCH = """
UPDATE tenants_credential SET last_used_at = %s
WHERE tenant_id = %s AND id = %s AND (last_used_at IS NULL OR last_used_at < %s)
"""

_ROLES = frozenset({str(Role.AGENT)})


@dataclass(frozen=True, slots=True)
class _Found:
    """One token as the database knows it; the delegation's fields are None for a credential."""

    credential_id: UUID
    user_id: UUID
    agent: str
    agent_active: bool
    operations: list[str]
    projects: list[UUID]
    expires_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None
    tenant_key: str
    tenant_status: str
    tenant_settings: str  # Django has the driver hand JSON over as text
    subject_id: UUID | None
    subject: str | None
    is_member: bool
    delegated_operations: list[str] | None
    delegated_projects: list[UUID] | None
    session_id: str | None
    delegation_expires_at: datetime | None
    delegation_revoked_at: datetime | None


def authenticate(token: str, *, request_id: str = "") -> Access:
    """The Access that a credential or a delegation token stands for (ID-01).

    Raises NotAuthenticated for anything that is no token of an active agent in an active tenant, CredentialRevoked and
    CredentialExpired; a delegation ends with its credential.
    """
    parts = parse_token(token)
    if parts is None:
        raise NotAuthenticated
    now = clock.now()
    with tenant_context(parts.tenant_id):
        statement = _DELEGATION if parts.kind == DELEGATION else _CREDENTIAL
        rows = fetch_prepared(statement, [parts.tenant_id, token_hash(token)])
        if not rows:
            raise NotAuthenticated
        found = _Found(*rows[0])
        _require_valid(found, now)
        if found.last_used_at is None or found.last_used_at < now - LAST_USED_EVERY:
            _touch(parts.tenant_id, found.credential_id, now)
        return _access(parts.tenant_id, found, now, request_id)


def _require_valid(found: _Found, now: datetime) -> None:
    if any(at is not None and at <= now for at in (found.revoked_at, found.delegation_revoked_at)):
        raise CredentialRevoked
    if any(at is not None and at <= now for at in (found.expires_at, found.delegation_expires_at)):
        raise CredentialExpired
    if not (found.agent_active and found.is_member and found.tenant_status == Tenant.Status.ACTIVE):
        raise NotAuthenticated


def _touch(tenant_id: UUID, credential_id: UUID, now: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_TOUCH, [now, tenant_id, credential_id, now - LAST_USED_EVERY])


def _access(tenant_id: UUID, found: _Found, now: datetime, request_id: str) -> Access:
    """Everything is an intersection: a delegation narrows its credential, and neither reaches beyond the grants of the agent."""
    operations, projects = found.operations, found.projects
    if found.delegated_operations is not None and found.delegated_projects is not None:
        operations = [name for name in found.delegated_operations if name in found.operations]
        own = set(found.projects)
        projects = [project for project in found.delegated_projects if project in own]
    reach = grants.reach_of_agent(tenant_id, found.user_id, subject_id=found.subject_id, projects=projects, at=now)
    return Access(
        tenant_id=tenant_id,
        tenant_key=found.tenant_key,
        actor_kind=ActorKind.AGENT,
        actor_id=found.user_id,
        actor=found.agent,
        caller_id=f"{found.credential_id.hex}:{found.subject_id.hex if found.subject_id else ''}",
        operations=frozenset(operations),
        namespaces=reach.namespaces,
        policies=reach.policies,
        roles=_ROLES,
        credential_id=found.credential_id,
        subject_id=found.subject_id,
        subject=found.subject,
        session_id=found.session_id,
        projects=reach.projects,
        request_id=request_id,
        settings=json.loads(found.tenant_settings),
    )
