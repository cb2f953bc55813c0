"""Delegations: a host credential lends a short-lived token that speaks for one subject. It can only narrow (ID-01, ID-02)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from apps.core import clock
from apps.core.errors import NotFound, OperationNotGranted
from apps.core.ids import new_id, parse_public_id, public_id
from apps.tenants.models import Delegation, Operation
from apps.tenants.people import find_subject
from apps.tenants.recording import record
from apps.tenants.tokens import delegation_token, token_hash
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from apps.tenants.access import Access

PREFIX = "dlg"
LONGEST = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Delegated:
    """What is kept of it. The token itself is not: token_of() computes it for the host that asked."""

    delegation_id: str
    expires_at: datetime


def create_delegation(
    access: Access,
    *,
    host_token: str,
    subject: str,
    projects: Iterable[str],
    operations: Iterable[str],
    session_id: str,
    lifetime: timedelta,
) -> Delegated:
    """Lend a token for one subject, some of the host's projects (folded keys) and some of its operations, for at most a day.

    Subject and project need not be member and project of each other: reading a project asks for the membership on every request.
    ``host_token`` is the credential that asks, and is not kept. Raises OperationNotGranted (beyond the host, or ``delegate``
    itself), NotFound (a subject or project that the host does not have; the same for absent and foreign ones).
    """
    access.require(Operation.DELEGATE)
    wanted = [str(name) for name in dict.fromkeys(operations)]
    if not set(wanted) <= access.operations - {Operation.DELEGATE}:
        raise OperationNotGranted
    keys = {key: project_id for project_id, key in access.projects}
    lent = list(dict.fromkeys(projects))
    if access.credential_id is None or not set(lent) <= set(keys):
        raise NotFound
    with tenant_transaction(access):
        who = find_subject(access, subject)
        if access.subject_id is not None and access.subject_id != who.id:
            raise NotFound
        made = new_id()
        now = clock.now()
        row = Delegation.objects.create(
            id=made,
            tenant_id=access.tenant_id,
            credential_id=access.credential_id,
            subject=who,
            projects=[keys[key] for key in lent],
            operations=wanted,
            session_id=session_id,
            token_sha256=token_hash(delegation_token(access.tenant_id, made, host_token)),
            created_at=now,
            expires_at=now + min(lifetime, LONGEST),
        )
        record(
            access,
            "delegation.created",
            "delegation",
            public_id(PREFIX, made),
            codes=wanted,
            counts={"projects": len(lent), "seconds": int(lifetime.total_seconds())},
        )
        return Delegated(public_id(PREFIX, made), row.expires_at)


def token_of(access: Access, delegation_id: str, host_token: str) -> str:
    """The token of a delegation that ``host_token`` made; raises NotFound for what is no id of a delegation."""
    key = parse_public_id(PREFIX, delegation_id)
    if key is None:
        raise NotFound
    return delegation_token(access.tenant_id, key, host_token)


def revoke_delegation(access: Access, delegation_id: str) -> None:
    """End a delegation that this agent's credentials made, at once; one that is revoked already stays so.

    Raises OperationNotGranted, and NotFound for every other id, whoever it belongs to.
    """
    access.require(Operation.DELEGATE)
    key = parse_public_id(PREFIX, delegation_id)
    if key is None:
        raise NotFound
    with tenant_transaction(access):
        mine = Delegation.objects.filter(tenant_id=access.tenant_id, id=key, credential__user_id=access.actor_id)
        if mine.filter(revoked_at=None).update(revoked_at=clock.now()):
            record(access, "delegation.revoked", "delegation", delegation_id)
        elif not mine.exists():
            raise NotFound
