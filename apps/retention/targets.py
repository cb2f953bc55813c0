"""What can be deleted, and who decides whether this caller may delete it.

The app that owns a kind of target registers a resolver for it in AppConfig.ready(), and a hook that shuts its doors to
the target in the transaction that accepts the deletion (design/05 steps 1 and 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from apps.core.errors import NotFound, NotPermitted
from apps.core.text import fold_key
from apps.retention.layers import Target
from apps.retention.models import TargetKind
from apps.tenants.models import Scope

if TYPE_CHECKING:
    from apps.retention.models import DeletionJob
    from apps.tenants.access import Access, NamespaceGrant
    from apps.tenants.transactions import TenantTransaction


@dataclass(frozen=True, slots=True)
class Resolved:
    """A target the caller may erase.

    ``target_id`` is what the barrier compares (primary key as text, or the session's own id), ``namespaces`` are locked and get a
    new epoch (the first one is the target's own), ``keys`` are the primary keys that the deletion names itself: for a memory
    its own and those of its source events.
    """

    target_id: str
    public_id: str
    namespaces: tuple[UUID, ...]
    keys: tuple[UUID, ...] = ()
    fact_digest: int | None = None
    subject_id: UUID | None = None


class Resolver(Protocol):
    def __call__(self, access: Access, target: str, /) -> Resolved:
        """Raises NotFound (absent and unreadable alike), NotPermitted (readable, not erasable) or Revoked (deleted already).

        Asked twice: once to learn which namespaces to lock, and once more under that lock.
        """


Hook = Callable[["TenantTransaction", "Access", Target], Iterable[UUID]]

_resolvers: dict[str, Resolver] = {}
_hooks: list[Hook] = []


def register_target(kind: str, resolver: Resolver) -> None:
    """Raises ValueError for a kind outside the contract or a second resolver of one kind."""
    if kind not in TargetKind.values or kind in _resolvers:
        msg = f"target kind {kind} is unknown or registered already"
        raise ValueError(msg)
    _resolvers[kind] = resolver


def on_revoked(hook: Hook) -> None:
    """Call ``hook(tx, access, target)`` inside every transaction that accepts a deletion, after those registered earlier.

    It shuts the owner's doors to what the target takes along and returns the primary keys of those rows; the job remembers them.
    """
    _hooks.append(hook)


def resolve(access: Access, kind: str, target: str) -> Resolved:
    """The target of a deletion; raises what its resolver raises."""
    resolver = _resolvers.get(kind)
    if resolver is None:
        raise NotFound
    return resolver(access, target)


def shut_doors(tx: TenantTransaction, access: Access, target: Target) -> list[UUID]:
    """Run the hooks; returns every primary key they named, once each, in order."""
    found: dict[UUID, None] = {}
    for hook in _hooks:
        found.update(dict.fromkeys(hook(tx, access, target)))
    return list(found)


def target_of(job: DeletionJob) -> Target:
    """The target of a job as its layers see it; ``job.revocation`` and ``job.namespace`` are read."""
    revocation = job.revocation
    return Target(
        tenant_id=job.tenant_id,
        job_id=job.id,
        kind=job.target_kind,
        target_id=revocation.target_id,
        namespace_id=job.namespace_id,
        epoch=job.epoch,
        accepted_at=job.accepted_at,
        cover_sources=job.cover_sources,
        reason_content_id=job.reason,
        suppress_future=job.suppress_future,
        keys=tuple(job.target_ids),
        fact_digest=revocation.fact_digest,
        subject_id=job.namespace.subject_id,
    )


def may_erase(access: Access, grant: NamespaceGrant) -> bool:
    """Whether everything in a namespace may be erased: a subject's own, or by permission."""
    return grant.erase or (grant.subject_id is not None and grant.subject_id == access.subject_id)


def known_namespaces(access: Access) -> list[NamespaceGrant]:
    """Where a target may lie: what the caller reads, and what they may erase without reading it (compliance staff)."""
    return [grant for grant in access.every_namespace if grant.read or grant.erase]


def resolve_namespace(access: Access, target: str) -> Resolved:
    """``<scope>/<scope id>`` of a namespace within reach, such as ``user/alice`` or ``project/demo`` (project keys folded)."""
    scope, _, scope_id = target.partition("/")
    if scope not in Scope.values or not scope_id:
        raise NotFound
    wanted = fold_key(scope_id) if scope == Scope.PROJECT else scope_id
    grant = next((one for one in known_namespaces(access) if one.scope == scope and one.scope_id == wanted), None)
    if grant is None:
        raise NotFound
    if not may_erase(access, grant):
        raise NotPermitted
    return Resolved(
        target_id=str(grant.id), public_id=f"{grant.scope}/{grant.scope_id}", namespaces=(grant.id,), subject_id=grant.subject_id
    )
