"""Provisioning: the tenants of a file, made or completed in one transaction (design/06 Provisioning).

Additive and idempotent: what the file names and is not there is made, what is there stays as it is, and nothing is ever taken
away. Parts of a tenant that belong to higher floors (labels, retention classes) are read and applied by what those floors
register.
"""

# ruff: noqa: EM102, TRY003 - these errors are their messages
# ruff: noqa: ANN401 - what a section makes of its part is its own affair

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from django.db import connection

from apps.core import clock
from apps.core.isolation import system_context
from apps.tenants import credentials, grants, namespaces, people
from apps.tenants.console_access import operator_access
from apps.tenants.models import Credential, Project, Subject, Tenant, User
from apps.tenants.provisioning_file import Place, ProvisioningError, TenantLine, read_document, read_tenants
from apps.tenants.recording import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from django.contrib.auth.models import Group

    from apps.tenants.access import Access
    from apps.tenants.provisioning_file import AgentLine, CredentialLine

ACTOR = "provision"
_LOCK = 0x70726F766973696F  # any fixed number: two provisionings at once would both find the same thing missing


class SectionReader(Protocol):
    """Turns what stands in the file (None: nothing) into what the section's ``apply`` takes; wrong → ``raise at.wrong(…)``."""

    def __call__(self, value: object, at: Place) -> Any: ...


class SectionApplier(Protocol):
    """Makes what was read and is not there yet, in the open system context; returns how many rows were made or changed."""

    def __call__(self, access: Access, parsed: Any) -> int: ...


@dataclass(frozen=True, slots=True)
class _Section:
    parse: SectionReader
    apply: SectionApplier


_sections: dict[str, _Section] = {}


def register_section(name: str, *, parse: SectionReader, apply: SectionApplier) -> None:
    """For AppConfig.ready() of a higher floor: a part of a tenant in the file. It is asked for every tenant, named there or not.

    Raises ValueError for a second section of the same name.
    """
    if name in _sections:
        msg = f"section {name} is registered twice"
        raise ValueError(msg)
    _sections[name] = _Section(parse, apply)


@dataclass(slots=True)
class TenantResult:
    """What was made in one tenant. Secrets are here and nowhere else, this once."""

    credentials: dict[str, str] = field(default_factory=dict)
    staff: dict[str, str] = field(default_factory=dict)
    created: dict[str, int] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        return any(self.created.values())


def provision(text: str) -> dict[str, TenantResult]:
    """Read a provisioning file and make what is missing; the result has one entry for each tenant of the file.

    Raises ProvisioningError, with nothing changed, when the file is not right.
    """
    return _make(read_tenants(read_document(text), {name: section.parse for name, section in _sections.items()}))


def create_tenant(*, key: str, name: str) -> TenantResult:
    """A tenant without anybody in it, with everything that every tenant has: roles, organization, defaults of the sections.

    There is no Access before there is a tenant: only the operator of the installation may call this. Raises ProvisioningError.
    """
    document = {"tenants": [{"key": key, "name": name}]}
    lines = read_tenants(document, {section: one.parse for section, one in _sections.items()})
    result = _make(lines)[lines[0].key]
    if not result.created["tenants"]:
        raise ProvisioningError(f"there is a tenant with the key {lines[0].key!r}")
    return result


def _make(lines: Sequence[TenantLine]) -> dict[str, TenantResult]:
    with system_context():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        tenants, made = _tenants(lines)
        groups = grants.ensure_role_groups(list(tenants.values()))
        return {line.key: _Room(tenants[line.key], groups, new=line.key in made).fill(line) for line in lines}


def _tenants(lines: Sequence[TenantLine]) -> tuple[dict[str, Tenant], set[str]]:
    """The tenants of the file, and the keys of those that are new."""
    found = {tenant.key: tenant for tenant in Tenant.objects.filter(key__in=[line.key for line in lines])}
    new = [Tenant(key=line.key, name=line.name) for line in lines if line.key not in found]
    Tenant.objects.bulk_create(new)
    return found | {tenant.key: tenant for tenant in new}, {tenant.key for tenant in new}


class _Room:
    """One tenant being filled."""

    def __init__(self, tenant: Tenant, groups: Mapping[tuple[UUID, str], Group], *, new: bool) -> None:
        self.tenant = tenant
        self.groups = groups
        self.access = operator_access(tenant, actor=ACTOR)
        self.result = TenantResult(created={"tenants": int(new)})
        self.projects: dict[str, Project] = {}
        self.subjects: dict[str, Subject] = {}

    def fill(self, line: TenantLine) -> TenantResult:
        namespaces.ensure_organization(self.tenant, self.groups)
        self._places_and_people(line)
        self._agents(line.agents)
        self._staff(line)
        for name, section in _sections.items():
            self.result.created[name] = section.apply(self.access, line.sections[name])
        if self.result.changed:
            record(self.access, "tenant.provisioned", "tenant", self.tenant.key, counts=self.result.created)
        return self.result

    def _places_and_people(self, line: TenantLine) -> None:
        made = namespaces.add_projects(self.tenant, {one.key: one.name for one in line.projects}, self.groups)
        self.result.created["projects"] = len(made)
        new = namespaces.add_subjects(self.tenant, [one.key for one in line.subjects], self.groups)
        self.result.created["subjects"] = len(new)
        self.projects = {one.key: one for one in Project.objects.filter(tenant=self.tenant)}
        named = {one.key for one in line.subjects} | {c.subject for agent in line.agents for c in agent.credentials if c.subject}
        self.subjects = {one.key: one for one in Subject.objects.filter(tenant=self.tenant, key__in=named)}
        pairs = [
            (self._project(key, f"subject {one.key}"), self.subjects[one.key]) for one in line.subjects for key in one.projects
        ]
        self.result.created["members"] = people.add_members(self.tenant, pairs)

    def _agents(self, lines: Sequence[AgentLine]) -> None:
        made = people.add_agents(self.tenant, [line.key for line in lines], self.groups)
        self.result.created["agents"] = len(made)
        names = {people.agent_username(self.tenant.key, line.key): line for line in lines}
        agents = {user.username: user for user in User.objects.filter(username__in=list(names))}
        have = {
            (row.user_id, row.name): row
            for row in Credential.objects.filter(tenant=self.tenant, user__in=list(agents.values()), revoked_at=None)
        }
        rows: list[Credential] = []
        self.result.created["credentials"] = self.result.created["widened"] = 0
        for username, line in names.items():
            agent = agents[username]
            reached: list[UUID] = []
            for one in line.credentials:
                old = have.get((agent.id, one.name))
                row = self._new_credential(agent, line, one) if old is None else self._widened(old, line, one)
                reached += row.projects
                if old is None:
                    rows.append(row)
            if reached:
                credentials.grant_projects(self.tenant.id, agent, set(reached))
        Credential.objects.bulk_create(rows)
        for row in rows:
            record(
                self.access,
                "credential.created",
                "credential",
                str(row.id),
                codes=row.operations,
                counts={"projects": len(row.projects)},
            )

    def _new_credential(self, agent: User, line: AgentLine, one: CredentialLine) -> Credential:
        where = f"credential {line.key}/{one.name}"
        lifetime = credentials.LIFETIME if one.expires_days is None else timedelta(days=one.expires_days)
        row, token = credentials.prepare(
            self.tenant.id,
            agent,
            name=one.name,
            operations=one.operations,
            projects=[self._project(key, where).id for key in one.projects],
            subject=None if one.subject is None else self._subject(one.subject, where),
            expires_at=clock.now() + lifetime,
        )
        self.result.credentials[f"{line.key}/{one.name}"] = token
        self.result.created["credentials"] += 1
        return row

    def _widened(self, row: Credential, line: AgentLine, one: CredentialLine) -> Credential:
        """An existing credential with the operations and projects that the file adds to it. Whom it speaks for never changes."""
        where = f"credential {line.key}/{one.name}"
        subject_id = None if one.subject is None else self._subject(one.subject, where).id
        if row.subject_id != subject_id:
            raise self._wrong(f"{where} exists with another fixed subject; revoke it or choose another name")
        projects = [self._project(key, where).id for key in one.projects]
        new_projects = [key for key in projects if key not in row.projects]
        new_operations = [name for name in one.operations if name not in row.operations]
        if new_projects or new_operations:
            row.projects = [*row.projects, *new_projects]
            row.operations = [*row.operations, *new_operations]
            row.save(update_fields=["projects", "operations"])
            self.result.created["widened"] += 1
            record(
                self.access,
                "credential.widened",
                "credential",
                str(row.id),
                codes=new_operations,
                counts={"projects": len(new_projects)},
            )
        return row

    def _staff(self, line: TenantLine) -> None:
        accounts = people.ensure_staff([one.username for one in line.staff])
        self.result.staff = {name: password for name, (_, password) in accounts.items() if password is not None}
        self.result.created["staff"] = len(self.result.staff)
        inactive = [name for name, (user, _) in accounts.items() if not user.is_active]
        if inactive:
            raise self._wrong(f"{inactive[0]} is switched off and can be given no role")
        wanted = [(accounts[one.username][0], role) for one in line.staff for role in one.roles]
        added = grants.add_roles(self.tenant, wanted, self.groups)
        self.result.created["roles"] = len(added)
        for user in dict.fromkeys(user for user, _ in added):
            roles = [role for holder, role in added if holder == user]
            record(self.access, "role.granted", "user", str(user.id), codes=roles, counts={"new": len(roles)})

    def _project(self, key: str, where: str) -> Project:
        if key not in self.projects:
            raise self._wrong(f"{where} names project {key!r}, which the tenant does not have")
        return self.projects[key]

    def _subject(self, key: str, where: str) -> Subject:
        if key not in self.subjects:
            raise self._wrong(f"{where} names subject {key!r}, which the tenant does not have")
        return self.subjects[key]

    def _wrong(self, why: str) -> ProvisioningError:
        return Place(f"tenant {self.tenant.key}").wrong(why)
