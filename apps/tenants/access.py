"""Access: who is acting, decided by the server, and what that reaches.

Built once per request or job (apps/tenants/grants.py) and passed down; nothing below may widen it. It holds keys, never secrets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from apps.core.errors import NotFound, OperationNotGranted
from apps.tenants.models import Operation, Scope

if TYPE_CHECKING:
    from uuid import UUID


class ActorKind(StrEnum):
    AGENT = "agent"
    PERSON = "person"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class NamespaceGrant:
    """One namespace within reach and what may be done there."""

    id: UUID
    scope: str
    scope_id: str
    subject_id: UUID | None
    project_id: UUID | None
    read: bool = False
    write: bool = False
    review: bool = False
    promote: bool = False
    erase: bool = False


@dataclass(frozen=True)
class Access:
    """Tenant, actor, subject, session, operations, namespaces and policies of one request or job.

    ``namespaces`` lists what the actor reaches, in the order user, projects (as delegated), organization. Where they may erase
    and do nothing else (compliance staff, on the namespace of every subject) is read only when somebody asks for
    ``every_namespace`` or ``by_id``: those are as many as the tenant has subjects.
    """

    tenant_id: UUID
    tenant_key: str
    actor_kind: ActorKind
    actor_id: UUID
    actor: str
    caller_id: str  # what idempotency keys, cursors and rate limits are bound to: credential, delegation, user or service
    operations: frozenset[str] = frozenset()
    namespaces: tuple[NamespaceGrant, ...] = ()
    policies: frozenset[UUID] = frozenset()
    roles: frozenset[str] = frozenset()
    credential_id: UUID | None = None
    subject_id: UUID | None = None
    subject: str | None = None
    session_id: str | None = None
    projects: tuple[tuple[UUID, str], ...] = ()  # keys of the projects the credential or delegation names, in its order
    request_id: str = ""
    settings: dict[str, object] = field(default_factory=dict, hash=False, compare=False)  # the tenant's own settings
    erase_only: Callable[[], tuple[NamespaceGrant, ...]] = field(default=tuple, repr=False, hash=False, compare=False)

    @cached_property
    def readable(self) -> tuple[UUID, ...]:
        """Ids of the namespaces whose memories may be read."""
        return tuple(grant.id for grant in self.namespaces if grant.read)

    @cached_property
    def writable(self) -> frozenset[UUID]:
        return frozenset(grant.id for grant in self.namespaces if grant.write)

    @cached_property
    def every_namespace(self) -> tuple[NamespaceGrant, ...]:
        """``namespaces`` and those in which only erasing is allowed."""
        return self.namespaces + self.erase_only()

    @cached_property
    def by_id(self) -> dict[UUID, NamespaceGrant]:
        return {grant.id: grant for grant in self.every_namespace}

    def has(self, operation: str) -> bool:
        """May the caller do this at all? A host credential that speaks for nobody can only delegate, whatever it may pass on."""
        if self.actor_kind == ActorKind.AGENT and self.subject_id is None and operation != Operation.DELEGATE:
            return False
        return operation in self.operations

    def require(self, operation: str) -> None:
        """Raise OperationNotGranted unless the caller has the operation. Checked before anything is read."""
        if not self.has(operation):
            raise OperationNotGranted

    def namespace_for(self, scope: str, scope_id: str | None) -> NamespaceGrant:
        """The readable namespace that a body's ``scope`` and ``scope_id`` ask for.

        ``user`` means the delegated subject, ``organization`` the tenant, ``project`` one of the caller's projects (folded key).
        Everything else, another subject's id included, raises NotFound: a scope in a body is a request, never a grant (ID-02).
        """
        wanted = scope_id
        if scope == Scope.USER and wanted is None:
            wanted = self.subject
        elif scope == Scope.ORGANIZATION and wanted is None:
            wanted = self.tenant_key
        for grant in self.namespaces:
            if grant.scope == scope and grant.scope_id == wanted and grant.read:
                return grant
        raise NotFound

    def project_namespace(self, key: str) -> NamespaceGrant:
        """The readable namespace of a project by its (already folded) key. Raises NotFound."""
        return self.namespace_for(Scope.PROJECT, key)
