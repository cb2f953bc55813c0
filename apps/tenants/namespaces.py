"""Projects, and the namespaces that come with every subject, project and organization.

A namespace is made together with what owns it and never by a writer of memories: that it exists grants nothing (ID-03), who may
do what there is decided by the grants that are made in the same transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.core.errors import FieldError, NotFound, ValidationFailed
from apps.core.text import fold_key, key_fault
from apps.tenants import grants
from apps.tenants.authority import require_administrator
from apps.tenants.models import Namespace, Project, Scope, Subject, Tenant
from apps.tenants.recording import record
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from django.contrib.auth.models import Group

    from apps.tenants.access import Access

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class ProjectMade:
    key: str
    namespace_id: UUID


def create_project(access: Access, *, key: str, name: str) -> ProjectMade:
    """Add a project and its namespace; the key is folded and never changes.

    Raises NotPermitted, and ValidationFailed for a key that cannot be one or exists already.
    """
    require_administrator(access)
    fault = key_fault(key)
    if fault is not None:
        raise ValidationFailed([FieldError("/key", fault, "This cannot be the key of a project.")])
    with tenant_transaction(access):
        tenant = Tenant.objects.get(id=access.tenant_id)
        made = add_projects(tenant, {fold_key(key): name}, grants.ensure_role_groups([tenant]))
        if not made:
            raise ValidationFailed([FieldError("/key", "duplicate", "There is a project with this key.")])
        namespace = Namespace.objects.get(tenant=tenant, project=made[0])
        record(access, "project.created", "project", made[0].key, namespace_id=namespace.id)
        return ProjectMade(made[0].key, namespace.id)


def rename_project(access: Access, *, key: str, name: str) -> None:
    """Give a project another name; its key, and everything stored under it, stays. Raises NotPermitted, NotFound."""
    require_administrator(access)
    with tenant_transaction(access):
        if not Project.objects.filter(tenant_id=access.tenant_id, key=fold_key(key)).update(name=name):
            raise NotFound
        record(access, "project.renamed", "project", fold_key(key))


# -- inside a transaction; provisioning adds many at once


def ensure_organization(tenant: Tenant, groups: Mapping[tuple[UUID, str], Group]) -> None:
    """The organization's namespace of a tenant."""
    if not Namespace.objects.filter(tenant=tenant, scope=Scope.ORGANIZATION).exists():
        _make([Namespace(tenant=tenant, scope=Scope.ORGANIZATION, scope_id=tenant.key)], groups)


def add_projects(tenant: Tenant, names: Mapping[str, str], groups: Mapping[tuple[UUID, str], Group]) -> list[Project]:
    """The projects among ``names`` (folded key → name) that were not there, each with its namespace and grants."""
    have = set(Project.objects.filter(tenant=tenant, key__in=list(names)).values_list("key", flat=True))
    made = [Project(tenant=tenant, key=key, name=name) for key, name in names.items() if key not in have]
    Project.objects.bulk_create(made, batch_size=_BATCH)
    _make([Namespace(tenant=tenant, scope=Scope.PROJECT, scope_id=one.key, project=one) for one in made], groups)
    return made


def add_subjects(tenant: Tenant, keys: Iterable[str], groups: Mapping[tuple[UUID, str], Group]) -> list[Subject]:
    """The subjects among ``keys`` (exact) that were not there, each with its namespace and grants."""
    wanted = list(dict.fromkeys(keys))
    have = set(Subject.objects.filter(tenant=tenant, key__in=wanted).values_list("key", flat=True))
    made = [Subject(tenant=tenant, key=key) for key in wanted if key not in have]
    Subject.objects.bulk_create(made, batch_size=_BATCH)
    _make([Namespace(tenant=tenant, scope=Scope.USER, scope_id=one.key, subject=one) for one in made], groups)
    return made


def _make(namespaces: Sequence[Namespace], groups: Mapping[tuple[UUID, str], Group]) -> None:
    Namespace.objects.bulk_create(namespaces, batch_size=_BATCH)
    grants.grant_to_roles(namespaces, groups)
