"""Credentials: made, rotated and revoked. The secret leaves this module once, in the result of the verb that made it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Q

from apps.core import clock
from apps.core.errors import FieldError, NotFound, ValidationFailed
from apps.core.text import fold_key
from apps.tenants import grants
from apps.tenants.authority import require_administrator
from apps.tenants.models import Credential, Namespace, Operation, Project
from apps.tenants.people import find_agent, find_subject
from apps.tenants.recording import record
from apps.tenants.tokens import new_credential_token, token_hash
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from apps.tenants.access import Access
    from apps.tenants.models import Subject, User

LIFETIME = timedelta(days=365)
LONGEST_OVERLAP = timedelta(days=30)
# What an agent is granted on the namespaces of the projects that a credential of it names. Whoever it speaks for must be a
# member as well.
PROJECT_PERMISSIONS = (grants.READ, grants.WRITE)


@dataclass(frozen=True, slots=True)
class CredentialMade:
    """``token`` is shown this once."""

    credential_id: UUID
    token: str
    expires_at: datetime


def create_credential(
    access: Access,
    *,
    agent: str,
    name: str,
    operations: Iterable[str],
    projects: Iterable[str] = (),
    subject: str | None = None,
    expires_at: datetime | None = None,
) -> CredentialMade:
    """A new key for an agent, good for the operations and projects named, for a year unless said otherwise.

    With ``subject`` it speaks for that person; without, it can only delegate. Raises NotPermitted, NotFound (agent, subject or
    project), ValidationFailed (unknown operation, a name in use, an end in the past).
    """
    require_administrator(access)
    wanted = checked_operations(operations)
    now = clock.now()
    ends = now + LIFETIME if expires_at is None else expires_at
    if ends <= now:
        raise ValidationFailed([FieldError("/expires_at", "invalid_time", "The end lies in the past.")])
    with tenant_transaction(access):
        who = find_agent(access.tenant_id, agent)
        if Credential.objects.filter(tenant_id=access.tenant_id, user=who, name=name, revoked_at=None).exists():
            raise ValidationFailed([FieldError("/name", "duplicate", "The agent has a credential of this name.")])
        speaks_for = None if subject is None else find_subject(access, subject)
        made, token = prepare(
            access.tenant_id,
            who,
            name=name,
            operations=wanted,
            projects=_project_ids(access, projects),
            subject=speaks_for,
            expires_at=ends,
        )
        made.save(force_insert=True)
        grant_projects(access.tenant_id, who, made.projects)
        record(access, "credential.created", "credential", str(made.id), codes=wanted, counts={"projects": len(made.projects)})
        return CredentialMade(made.id, token, ends)


def rotate_credential(access: Access, credential_id: UUID, *, overlap: timedelta = timedelta()) -> CredentialMade:
    """A new secret with the same reach and a full lifetime; the old one ends after ``overlap`` (at most 30 days), with its
    delegations.

    Raises NotPermitted, NotFound (also for one that is revoked), ValidationFailed.
    """
    require_administrator(access)
    if not timedelta() <= overlap <= LONGEST_OVERLAP:
        raise ValidationFailed([FieldError("/overlap", "out_of_range", "At most 30 days.")])
    now = clock.now()
    with tenant_transaction(access):
        old = _usable(access, credential_id)
        old.revoked_at = now + overlap
        old.save(update_fields=["revoked_at"])
        made, token = prepare(
            access.tenant_id,
            old.user,
            name=old.name,
            operations=old.operations,
            projects=old.projects,
            subject=old.subject,
            expires_at=now + LIFETIME,
            rotated_from=old,
        )
        made.save(force_insert=True)
        record(access, "credential.rotated", "credential", str(made.id), counts={"overlap_seconds": int(overlap.total_seconds())})
        return CredentialMade(made.id, token, made.expires_at)


def revoke_credential(access: Access, credential_id: UUID) -> None:
    """End a credential and everything it delegated, at once. Raises NotPermitted, NotFound."""
    require_administrator(access)
    with tenant_transaction(access):
        found = _usable(access, credential_id)
        found.revoked_at = clock.now()
        found.save(update_fields=["revoked_at"])
        record(access, "credential.revoked", "credential", str(found.id))


# -- inside a transaction; provisioning adds many at once


def prepare(
    tenant_id: UUID,
    agent: User,
    *,
    name: str,
    operations: Sequence[str],
    projects: Sequence[UUID],
    subject: Subject | None,
    expires_at: datetime,
    rotated_from: Credential | None = None,
) -> tuple[Credential, str]:
    """A credential that is not stored yet, and its secret."""
    token = new_credential_token(tenant_id)
    row = Credential(
        tenant_id=tenant_id,
        user=agent,
        name=name,
        token_sha256=token_hash(token),
        operations=list(operations),
        subject=subject,
        projects=list(projects),
        expires_at=expires_at,
        rotated_from=rotated_from,
    )
    return row, token


def grant_projects(tenant_id: UUID, agent: User, projects: Iterable[UUID]) -> int:
    """The agent's own permissions on the namespaces of projects; returns how many are new."""
    spaces = Namespace.objects.filter(tenant_id=tenant_id, project__in=list(projects)).values_list("id", flat=True)
    return grants.grant_on_namespaces(agent, list(spaces), *PROJECT_PERMISSIONS)


def checked_operations(operations: Iterable[str]) -> list[str]:
    """The operations without repetition; raises ValidationFailed for one that does not exist."""
    wanted = [str(name) for name in dict.fromkeys(operations)]
    if not set(wanted) <= set(Operation.values):
        raise ValidationFailed([FieldError("/operations", "invalid_choice", "There is no such operation.")])
    return wanted


def _usable(access: Access, credential_id: UUID) -> Credential:
    now = clock.now()
    found = (
        Credential.objects.select_for_update(of=("self",))
        .select_related("user", "subject")
        .filter(Q(revoked_at=None) | Q(revoked_at__gt=now), tenant_id=access.tenant_id, id=credential_id)
        .first()
    )
    if found is None:
        raise NotFound
    return found


def _project_ids(access: Access, keys: Iterable[str]) -> list[UUID]:
    wanted = [fold_key(key) for key in dict.fromkeys(keys)]
    found = dict(Project.objects.filter(tenant_id=access.tenant_id, key__in=wanted).values_list("key", "id"))
    if set(wanted) - set(found):
        raise NotFound
    return [found[key] for key in wanted]
