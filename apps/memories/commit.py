"""Writing versions: the one place where a head moves (design/03 Concurrency, VH-09..15).

Everything here runs in one transaction that holds the namespace row and the heads concerned. The revision of the tenant is taken
when all reading and locking is done, and everything written carries it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from django.db import IntegrityError, OperationalError, connection

from apps.audits import log
from apps.core import clock
from apps.core.canonical import canonical_json
from apps.core.errors import NotFound
from apps.core.ids import new_id, public_id
from apps.core.prepared import fetch_prepared
from apps.evidence import content
from apps.jobs.queue import publish
from apps.memories.lines import Rival
from apps.memories.models import EvidenceLink, Memory, MemoryVersion
from apps.memories.projections import IndexedText, project
from apps.memories.proposals import conditions_hash, proposition_hash
from apps.memories.rows import insert_rows
from apps.memories.sources import Linked, roots_of
from apps.memories.texts import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from uuid import UUID

    from apps.memories.models import ConflictSet
    from apps.retention.models import RetentionClass
    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

ATTEMPTS = 5  # of a writer that lost a race; each one reads and merges again (VH-11)
_MONTH_DAYS = 30.4375

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


@dataclass(slots=True)
class Writer:
    """The write of one transaction: who, where, under which locks, at which instant."""

    tx: TenantTransaction
    access: Access
    namespace: LockedNamespace
    author: Author
    at: datetime = field(default_factory=clock.now)
    touched: dict[UUID, Rival] = field(default_factory=dict)
    inserted: set[UUID] = field(default_factory=set)
    spoken: dict[UUID, IndexedText] = field(default_factory=dict)

    @property
    def tenant_id(self) -> UUID:
        return self.access.tenant_id

    # -- versions

    def add(
        self,
        holding: Holding,
        saying: Saying,
        span: Span,
        links: list[Linked],
        decision: str,
        conflict: ConflictSet | None = None,
    ) -> Rival:
        """A new memory with its first version."""
        memory = Memory(
            id=new_id(),
            tenant_id=self.tenant_id,
            namespace_id=self.namespace.id,
            memory_type=holding.memory_type,
            fact_key=holding.fact_key,
            conditions_hash=conditions_hash(saying.conditions),
            authority=holding.authority,
            conflict_set=conflict,
            retrieval_policy=saying.retrieval_policy,
            access_policy_id=holding.access_policy_id,
            retention_class=holding.retention_class,
            review_after=review_date(self.at, holding.retention_class),
            created_by=self.author.actor_id,
            created_for_id=self.author.subject_id,
            created_at=self.at,
            updated_revision=self.tx.next_revision(),
        )
        rival = Rival(memory)
        version = self._version(memory, 1, saying, span, links, decision)
        memory.head_id = version.id  # the foreign key is checked at the end of the transaction
        insert_rows([memory])
        insert_rows([version])
        self._link(rival, version, links)
        rival.versions[1] = version
        self.touched[memory.id] = rival
        self.inserted.add(memory.id)
        return rival

    def append(
        self, rival: Rival, saying: Saying, span: Span, links: list[Linked], decision: str, *, behind: bool = False
    ) -> MemoryVersion:
        """A further version; it becomes the head unless it goes ``behind`` it (INSERT_HISTORY)."""
        memory = rival.memory
        memory.last_version += 1
        version = self._version(memory, memory.last_version, saying, span, links, decision)
        if behind:
            version.retired_revision = version.revision  # it never was the current one
        insert_rows([version])
        self._link(rival, version, links)
        rival.versions[version.version] = version
        if not behind:
            memory.version = version.version
            memory.head_id = version.id
            memory.retrieval_policy = saying.retrieval_policy
        self.touched[memory.id] = rival
        return version

    def end(self, rival: Rival, number: int, at: datetime) -> None:
        """Close a version at an instant; the end that it had already stays if it comes sooner."""
        version = rival.versions[number]
        if version.valid_to is None or version.valid_to > at:
            version.valid_to = max(at, version.valid_from)
        if version.retired_revision is None:
            version.retired_revision = self.tx.next_revision()
        version.save(update_fields=["valid_to", "retired_revision"])
        self.touched[rival.memory.id] = rival

    def correct(self, rival: Rival, number: int) -> None:
        """Close a version at its own start: another one takes its place, it never held."""
        self.end(rival, number, rival.versions[number].valid_from)

    def attach(self, rival: Rival, number: int, links: list[Linked]) -> None:
        """Further evidence for a version; text and head stay (MG-04)."""
        version = rival.versions[number]
        known = {link.evidence_id for link in rival.links[number]}
        self._link(rival, version, [link for link in links if link.evidence_id not in known])
        version.independent_evidence_count = len(roots_of(rival.links[number]))
        version.save(update_fields=["independent_evidence_count"])
        self.touched[rival.memory.id] = rival

    def _version(
        self, memory: Memory, number: int, saying: Saying, span: Span, links: list[Linked], decision: str
    ) -> MemoryVersion:
        texts = [
            saying.content,
            saying.rationale,
            canonical_json(list(saying.aliases)) if saying.aliases else None,
            saying.reason,
        ]
        ids = iter(content.store_texts(self.tenant_id, [(self.namespace.id, text) for text in texts if text is not None]))
        content_id, rationale_id, aliases_id, reason_id = (None if text is None else next(ids) for text in texts)
        version_id = new_id()
        self.spoken[version_id] = IndexedText(saying.content, saying.rationale, saying.aliases)
        return MemoryVersion(
            id=version_id,
            tenant_id=self.tenant_id,
            memory=memory,
            version=number,
            content_id=content_id,
            rationale_id=rationale_id,
            aliases_id=aliases_id,
            reason_id=reason_id,
            content_hash=saying.proposition,
            conditions=dict(saying.conditions),
            topics=list(saying.topics),
            entities=list(saying.entities),
            epistemic_status=saying.epistemic_status,
            verdict=saying.verdict,
            retrieval_policy=saying.retrieval_policy,
            occurred_at=saying.occurred_at,
            observed_at=saying.observed_at,
            last_confirmed_at=saying.last_confirmed_at,
            expected_resolution_at=saying.expected_resolution_at,
            valid_from=span.start,
            effective=span.stated,
            valid_to=span.end,
            ingested_at=self.at,
            revision=self.tx.next_revision(),
            independent_evidence_count=len(roots_of(links)),
            decision=decision,
            author_id=self.author.actor_id,
            author_subject_id=self.author.subject_id,
            origin=self.author.origin,
            session_id=self.author.session_id,
            hidden_characters=saying.hidden_characters,
        )

    def _link(self, rival: Rival, version: MemoryVersion, links: list[Linked]) -> None:
        if links:
            made = [
                EvidenceLink(
                    tenant_id=self.tenant_id,
                    memory=rival.memory,
                    version=version,
                    evidence_id=link.evidence_id,
                    held_at=link.held_at,
                    created_at=self.at,
                )
                for link in links
            ]
            insert_rows(made)
            rival.links[version.version].extend(links)

    # -- afterwards

    def finish(self, verb: str, *, codes: Iterable[str] = ()) -> int:
        """Save the heads that were touched, tell projections and outbox, write the audit entries; returns the revision."""
        revision = self.tx.next_revision()
        live = [version for rival in self.touched.values() for version in rival.live]
        texts = self.spoken | texts_of(self.tenant_id, [version for version in live if version.id not in self.spoken])
        for rival in self.touched.values():
            memory = rival.memory
            memory.updated_revision = revision
            if memory.id not in self.inserted:
                memory.save(update_fields=MUTABLE)
            project(self.tenant_id, memory, [(one, texts[one.id]) for one in rival.live if one.id in texts], revision=revision)
            log.record(
                self.access,
                verb,
                "memory",
                public_id("mem", memory.id),
                namespace_id=self.namespace.id,
                codes=codes,
                counts={"version": memory.version},
                revision=revision,
            )
        publish(self.access, "memory.changed", [(memory_id, revision) for memory_id in self.touched])
        return revision


MUTABLE = (
    "state",
    "version",
    "last_version",
    "head",
    "conflict_set",
    "conditions_hash",
    "retrieval_policy",
    "retention_class",
    "review_after",
    "updated_revision",
)


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
    return at + timedelta(days=round(retention.review_after_months * _MONTH_DAYS))


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
