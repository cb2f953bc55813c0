"""Tenants, subjects and their projects, agents, and the people who work in the console."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.auth.hashers import PBKDF2PasswordHasher, get_hasher, make_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db.models import Q

from apps.core import clock
from apps.core.errors import FieldError, NotFound, ValidationFailed
from apps.core.text import fold_key, has_control
from apps.tenants import grants, namespaces
from apps.tenants.authority import require_administrator
from apps.tenants.models import Membership, Project, ProjectMember, Role, Subject, Tenant, User
from apps.tenants.recording import record
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from django.contrib.auth.models import Group

    from apps.tenants.access import Access

_BATCH = 1000
_ID_CHARS = 128
_USERNAME_CHARS = 150
_PASSWORD_BYTES = 16
_PASSWORD_ITERATIONS = 1000


@dataclass(frozen=True, slots=True)
class SubjectMade:
    key: str


@dataclass(frozen=True, slots=True)
class AgentMade:
    key: str
    user_id: UUID


@dataclass(frozen=True, slots=True)
class StaffMade:
    """``password`` is shown this once; None when the person had an account before."""

    username: str
    user_id: UUID
    password: str | None


# -- verbs


def create_subject(access: Access, *, key: str, projects: Iterable[str] = ()) -> SubjectMade:
    """Add a person whom memories may be about, with their namespace; the key is compared exactly.

    Raises NotPermitted, NotFound for an unknown project, ValidationFailed for a key that cannot be one or exists already.
    """
    require_administrator(access)
    _require_id(key)
    with tenant_transaction(access):
        tenant = Tenant.objects.get(id=access.tenant_id)
        made = namespaces.add_subjects(tenant, [key], grants.ensure_role_groups([tenant]))
        if not made:
            raise ValidationFailed([FieldError("/key", "duplicate", "There is a subject with this key.")])
        members = [(_project(access, name), made[0]) for name in projects]
        add_members(tenant, members)
        record(access, "subject.created", "subject", key, counts={"projects": len(members)})
        return SubjectMade(key)


def add_project_member(access: Access, *, project: str, subject: str) -> None:
    """Let a subject into a project from now on, again if they have left it. Raises NotPermitted, NotFound."""
    require_administrator(access)
    with tenant_transaction(access):
        who, where = find_subject(access, subject), _project(access, project)
        now = clock.now()
        ended = ProjectMember.objects.filter(tenant_id=access.tenant_id, project=where, subject=who, member_to__lte=now)
        if not ended.update(member_from=now, member_to=None):
            add_members(Tenant.objects.get(id=access.tenant_id), [(where, who)])
        record(access, "member.added", "subject", who.key, codes=[str(where.id)])


def end_project_member(access: Access, *, project: str, subject: str) -> None:
    """End a membership now: every token that speaks for the subject loses the project with its next request.

    Raises NotPermitted, and NotFound when the subject is no member.
    """
    require_administrator(access)
    with tenant_transaction(access):
        who, where = find_subject(access, subject), _project(access, project)
        now = clock.now()
        current = ProjectMember.objects.filter(Q(member_to=None) | Q(member_to__gt=now), project=where, subject=who)
        if not current.filter(tenant_id=access.tenant_id).update(member_to=now):
            raise NotFound
        record(access, "member.ended", "subject", who.key, codes=[str(where.id)])


def create_agent(access: Access, *, key: str) -> AgentMade:
    """Add an agent without any credential. Raises NotPermitted, ValidationFailed."""
    require_administrator(access)
    _require_id(key)
    with tenant_transaction(access):
        tenant = Tenant.objects.get(id=access.tenant_id)
        made = add_agents(tenant, [key], grants.ensure_role_groups([tenant]))
        if not made:
            raise ValidationFailed([FieldError("/key", "duplicate", "There is an agent with this key.")])
        record(access, "agent.created", "agent", key)
        return AgentMade(key, made[0].id)


def set_agent_active(access: Access, *, key: str, active: bool) -> None:
    """Switch an agent off, or on again: while it is off none of its credentials and delegations opens anything.

    Raises NotPermitted, NotFound.
    """
    require_administrator(access)
    with tenant_transaction(access):
        agent = find_agent(access.tenant_id, key)
        User.objects.filter(id=agent.id).update(is_active=active)
        record(access, "agent.activated" if active else "agent.deactivated", "agent", key)


def add_staff(access: Access, *, username: str, roles: Iterable[str]) -> StaffMade:
    """Give a person roles in the tenant; somebody without an account gets one with a one-time password.

    Raises NotPermitted, and ValidationFailed for a username or role that cannot be one.
    """
    require_administrator(access)
    wanted = _staff_roles(roles)
    if not is_username(username):
        raise ValidationFailed([FieldError("/username", "invalid_format", "This cannot be a username.")])
    with tenant_transaction(access):
        tenant = Tenant.objects.get(id=access.tenant_id)
        user, password = ensure_staff([username])[username]
        added = grants.add_roles(tenant, [(user, role) for role in wanted], grants.ensure_role_groups([tenant]))
        record(access, "role.granted", "user", str(user.id), codes=wanted, counts={"new": len(added)})
        return StaffMade(username, user.id, password)


def withdraw_role(access: Access, *, username: str, role: str) -> None:
    """Take a role in this tenant away from a person. Raises NotPermitted, NotFound."""
    require_administrator(access)
    with tenant_transaction(access):
        tenant = Tenant.objects.get(id=access.tenant_id)
        member = Membership.objects.filter(tenant=tenant, user__username=username, role=role).select_related("user").first()
        if member is None:
            raise NotFound
        grants.remove_role(tenant, member.user, role)
        record(access, "role.withdrawn", "user", str(member.user_id), codes=[role])


def set_tenant_active(access: Access, *, active: bool) -> None:
    """Suspend a tenant, or open it again. Suspended, no credential of it opens anything and nobody sees it in the console."""
    require_administrator(access)
    with tenant_transaction(access):
        status = Tenant.Status.ACTIVE if active else Tenant.Status.SUSPENDED
        Tenant.objects.filter(id=access.tenant_id).update(status=status)
        record(access, "tenant.resumed" if active else "tenant.suspended", "tenant", access.tenant_key)


# -- reads


def find_subject(access: Access, key: str) -> Subject:
    """The subject with exactly this key in the caller's tenant; raises NotFound for every other one (ID-09)."""
    found = Subject.objects.filter(tenant_id=access.tenant_id, key=key).first()
    if found is None:
        raise NotFound
    return found


def find_agent(tenant_id: UUID, key: str) -> User:
    """The agent with exactly this key; raises NotFound. An agent belongs to one tenant, through its membership."""
    found = User.objects.filter(
        kind=User.Kind.AGENT, key=key, memberships__tenant_id=tenant_id, memberships__role=Role.AGENT
    ).first()
    if found is None:
        raise NotFound
    return found


def _project(access: Access, key: str) -> Project:
    found = Project.objects.filter(tenant_id=access.tenant_id, key=fold_key(key)).first()
    if found is None:
        raise NotFound
    return found


# -- inside a transaction; provisioning adds many at once


def add_members(tenant: Tenant, pairs: Sequence[tuple[Project, Subject]]) -> int:
    """Memberships that were never there; one that has ended stays ended. Returns how many are new."""
    have = set(
        ProjectMember.objects.filter(tenant=tenant, subject__in={subject.id for _, subject in pairs}).values_list(
            "project_id", "subject_id"
        )
    )
    rows = {
        (project.id, subject.id): ProjectMember(tenant=tenant, project=project, subject=subject)
        for project, subject in pairs
        if (project.id, subject.id) not in have
    }
    ProjectMember.objects.bulk_create(rows.values(), batch_size=_BATCH)
    return len(rows)


def add_agents(tenant: Tenant, keys: Iterable[str], groups: Mapping[tuple[UUID, str], Group]) -> list[User]:
    """The agents among ``keys`` (exact) that were not there; they can act only through credentials."""
    names = {agent_username(tenant.key, key): key for key in keys}
    have = set(User.objects.filter(username__in=list(names)).values_list("username", flat=True))
    made = [
        User(username=name, key=key, kind=User.Kind.AGENT, password=make_password(None))
        for name, key in names.items()
        if name not in have
    ]
    User.objects.bulk_create(made, batch_size=_BATCH)
    grants.add_roles(tenant, [(user, Role.AGENT) for user in made], groups)
    return made


def ensure_staff(usernames: Iterable[str]) -> dict[str, tuple[User, str | None]]:
    """The accounts of these people; the password is None for those who had one before."""
    wanted = list(dict.fromkeys(usernames))
    found: dict[str, tuple[User, str | None]] = {
        user.username: (user, None) for user in User.objects.filter(username__in=wanted, kind=User.Kind.PERSON)
    }
    for username in wanted:
        if username not in found:
            password = secrets.token_urlsafe(_PASSWORD_BYTES)
            user = User(username=username, kind=User.Kind.PERSON, is_staff=True, password=_encoded(password))
            found[username] = (user, password)
    User.objects.bulk_create([user for user, password in found.values() if password is not None], batch_size=_BATCH)
    return found


def agent_username(tenant_key: str, key: str) -> str:
    """The account name of an agent. The slash keeps it apart from every name that a person can have."""
    name = f"{tenant_key}/{key}"
    return (
        name
        if len(name) <= _USERNAME_CHARS
        else f"{name[: _USERNAME_CHARS - 33]}~{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    )


def is_username(text: str) -> bool:
    """Can this be the account name of a person?"""
    try:
        UnicodeUsernameValidator()(text)
    except ValidationError:
        return False
    return len(text) <= _USERNAME_CHARS


def _encoded(password: str) -> str:
    """The stored form of a one-time password.

    128 random bits cannot be guessed at any speed, so stretching them buys nothing and would cost a third of a second for each
    person. Django stretches to its full measure when the person logs in, and at once for every password that a person chose.
    """
    hasher = get_hasher()
    if isinstance(hasher, PBKDF2PasswordHasher):
        return hasher.encode(password, hasher.salt(), _PASSWORD_ITERATIONS)
    return make_password(password)


def _require_id(key: str) -> None:
    if not key.strip() or len(key) > _ID_CHARS or has_control(key):
        raise ValidationFailed([FieldError("/key", "invalid_key", "This cannot be a key.")])


def _staff_roles(roles: Iterable[str]) -> list[str]:
    wanted = [str(role) for role in dict.fromkeys(roles)]
    allowed = set(Role.values) - {Role.AGENT}
    if not wanted or not set(wanted) <= allowed:
        raise ValidationFailed([FieldError("/roles", "invalid_choice", "Name one or more roles of people.")])
    return wanted
