"""What a write consists of, its first lock, and beginning again after a lost race (design/03 Concurrency, VH-11..14)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from django.db import IntegrityError, OperationalError, connection

from apps.core.errors import NotFound
from apps.core.prepared import fetch_prepared
from apps.memories.proposals import proposition_hash
from apps.retention.periods import add_months

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from apps.retention.models import RetentionClass

ATTEMPTS = 5  # of a writer that lost a race; each one reads and merges again (VH-11)

Done = TypeVar("Done")


_LOCK = """
    SELECT n.id, n.deletion_epoch, t.index_key FROM tenants_namespace n JOIN tenants_tenant t ON t.id = n.tenant_id
    WHERE n.tenant_id = %s AND n.id = %s FOR NO KEY UPDATE OF n
"""


@dataclass(frozen=True, slots=True)
class LockedNamespace:
    """A namespace under lock, and the secret that its tenant's digests are keyed with."""

    id: UUID
    deletion_epoch: int
    index_key: bytes


@dataclass(frozen=True, slots=True)
class Author:
    """Whose word a version is, and how it came in."""

    actor_id: UUID
    subject_id: UUID | None
    origin: str
    session_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """What one version says, apart from when it holds."""

    content: str
    rationale: str | None = None
    aliases: tuple[str, ...] = ()
    reason: str | None = None
    conditions: Mapping[str, object] = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    epistemic_status: str
    verdict: str | None = None
    retrieval_policy: str
    occurred_at: datetime | None = None
    observed_at: datetime | None = None
    last_confirmed_at: datetime | None = None
    expected_resolution_at: datetime | None = None
    hidden_characters: bool = False

    @property
    def proposition(self) -> str:
        return proposition_hash(self.content, self.verdict)


@dataclass(frozen=True, slots=True)
class Span:
    """When a version holds, half-open. ``stated``: somebody said so; otherwise the start is only when it was recorded."""

    start: datetime
    end: datetime | None
    stated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What a new memory is, apart from what it says."""

    memory_type: str
    fact_key: str
    authority: str
    retention_class: RetentionClass
    access_policy_id: UUID | None


def lock_namespace(tenant_id: UUID, namespace_id: UUID, others: Collection[UUID] = ()) -> LockedNamespace:
    """The first lock of every write. Deletions wait for it and it for them (VH-13, VH-14). Raises NotFound.

    ``others``: where the sources lie, held against deletions only. All in the order of their keys, which is that of a deletion.
    """
    _hold_namespaces(tenant_id, [key for key in others if key < namespace_id])
    rows = fetch_prepared(_LOCK, [tenant_id, namespace_id])
    _hold_namespaces(tenant_id, [key for key in others if key > namespace_id])
    if not rows:
        raise NotFound
    ((key, epoch, index_key),) = rows
    return LockedNamespace(key, epoch, bytes(index_key))


def _hold_namespaces(tenant_id: UUID, keys: list[UUID]) -> None:
    if keys:
        fetch_prepared(
            "SELECT id FROM tenants_namespace WHERE tenant_id = %s AND id = ANY(%s) ORDER BY id FOR KEY SHARE", [tenant_id, keys]
        )


def review_date(at: datetime, retention: RetentionClass) -> datetime:
    """When a record of this class is looked at again (RT-02)."""
    return add_months(at, retention.review_after_months)


def remerged(work: Callable[[], Done]) -> Done:
    """Run a writer; one that lost a race reads and merges again, a bounded number of times (VH-11)."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return work()
        except (IntegrityError, OperationalError) as lost:
            # Inside a transaction of somebody else only the savepoint is undone, and a deadlock has taken the whole of it.
            if attempt == ATTEMPTS or not _is_race(lost) or (connection.in_atomic_block and isinstance(lost, OperationalError)):
                raise
    raise AssertionError  # pragma: no cover - the loop returns or raises


def _is_race(error: Exception) -> bool:
    state = getattr(error.__cause__, "sqlstate", None)
    return state in ("23505", "40P01", "40001")  # unique violation, deadlock, serialization failure
