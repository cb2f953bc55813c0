"""Writing versions: the one place where a head moves (design/03 Concurrency, VH-09..15).

Everything here runs in one transaction that holds the namespace row and the heads concerned. What is written is collected, and
goes to the database in a few statements for any number of records. The revision of the tenant is taken then, when all reading and
locking is done, and everything written carries it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from apps.audits import log
from apps.core import clock
from apps.core.canonical import canonical_json
from apps.core.ids import new_id, public_id
from apps.evidence import content
from apps.jobs.queue import publish
from apps.memories.commit import review_date
from apps.memories.lines import LockedKeys, Rival
from apps.memories.models import EvidenceLink, Memory, MemoryVersion, Relation
from apps.memories.projections import IndexedText, project_all
from apps.memories.proposals import conditions_hash
from apps.memories.rows import insert_rows, update_rows
from apps.memories.sources import Linked, roots_of
from apps.memories.texts import texts_of
from apps.tenants.transactions import current_revision

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID

    from django.db.models import Model

    from apps.memories.commit import Author, Holding, LockedNamespace, Saying, Span
    from apps.memories.models import Candidate
    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

_UNKNOWN = 0  # stands in the place of the revision until it is taken
_CHANGING = ("valid_to", "retired_revision", "independent_evidence_count")  # of a version; all the rest never does
_MUTABLE = (
    "state",
    "version",
    "last_version",
    "head_id",
    "conflict_set_id",
    "conditions_hash",
    "retrieval_policy",
    "retention_class_id",
    "review_after",
    "updated_revision",
)


@dataclass(slots=True)
class Writer:
    """The write of one transaction: who, where, under which locks, at which instant. ``author``: whose word is written now."""

    tx: TenantTransaction
    access: Access
    namespace: LockedNamespace
    author: Author
    at: datetime = field(default_factory=clock.now)
    keys: LockedKeys = field(init=False)
    _new: dict[type[Model], list[Model]] = field(default_factory=lambda: defaultdict(list))
    _texts: list[tuple[UUID, str]] = field(default_factory=list)
    _said: dict[UUID, IndexedText] = field(default_factory=dict)
    _changed: dict[UUID, MemoryVersion] = field(default_factory=dict)
    _retired: dict[UUID, MemoryVersion] = field(default_factory=dict)
    _touched: dict[UUID, Rival] = field(default_factory=dict)
    _concerned: dict[UUID, Rival] = field(default_factory=dict)  # of the statement at hand
    _entries: list[log.Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.keys = LockedKeys(self.tenant_id, self.namespace.id)

    @property
    def tenant_id(self) -> UUID:
        return self.access.tenant_id

    # -- versions

    def add(
        self, holding: Holding, saying: Saying, span: Span, links: list[Linked], decision: str, *, past: bool = False
    ) -> Rival:
        """A new memory with its first version; one that is ``past`` never was the current value."""
        memory = Memory(
            id=new_id(),
            tenant_id=self.tenant_id,
            namespace_id=self.namespace.id,
            memory_type=holding.memory_type,
            fact_key=holding.fact_key,
            conditions_hash=conditions_hash(saying.conditions),
            authority=holding.authority,
            state=Memory.State.SUPERSEDED if past else Memory.State.ACTIVE,
            retrieval_policy=saying.retrieval_policy,
            access_policy_id=holding.access_policy_id,
            retention_class=holding.retention_class,
            review_after=review_date(self.at, holding.retention_class),
            created_by=self.author.actor_id,
            created_for_id=self.author.subject_id,
            created_at=self.at,
            updated_revision=_UNKNOWN,
        )
        rival = Rival(memory)
        version = self._version(rival, 1, saying, span, links, decision)
        memory.head_id = version.id  # the foreign key is checked at the end of the transaction
        if past:
            self._retired[version.id] = version
        self._new[Memory].append(memory)
        self.keys.add(rival)
        self.touch(rival)
        return rival

    def append(
        self, rival: Rival, saying: Saying, span: Span, links: list[Linked], decision: str, *, behind: bool = False
    ) -> MemoryVersion:
        """A further version; it becomes the head unless it goes ``behind`` it (INSERT_HISTORY)."""
        memory = rival.memory
        memory.last_version += 1
        version = self._version(rival, memory.last_version, saying, span, links, decision)
        if behind:
            self._retired[version.id] = version  # it never was the current one
        else:
            self._retire(rival.head)
            memory.version = version.version
            memory.head_id = version.id
            memory.retrieval_policy = saying.retrieval_policy
        self.touch(rival)
        return version

    def end(self, rival: Rival, number: int, at: datetime) -> None:
        """Close a version at an instant; the end that it had already stays if it comes sooner."""
        version = rival.versions[number]
        if version.valid_to is None or version.valid_to > at:
            version.valid_to = max(at, version.valid_from)
        self._retire(version)
        self._changed[version.id] = version
        self.touch(rival)

    def correct(self, rival: Rival, number: int) -> None:
        """Close a version at its own start: another one takes its place, it never held."""
        self.end(rival, number, rival.versions[number].valid_from)

    def attach(self, rival: Rival, number: int, links: list[Linked]) -> None:
        """Further evidence for a version; text and head stay (MG-04)."""
        known = {link.evidence_id for link in rival.links[number]}
        self._link(rival, rival.versions[number], [link for link in links if link.evidence_id not in known])
        self._count(rival, number)

    def move_evidence(self, rival: Rival, number: int, target: MemoryVersion, links: list[Linked]) -> None:
        """Let evidence stand under the version that holds at the instant for which it speaks."""
        moved = {link.evidence_id for link in links}
        source = rival.versions[number]
        for row in self._new[EvidenceLink]:
            if isinstance(row, EvidenceLink) and row.version_id == source.id and row.evidence_id in moved:
                row.version_id = target.id
        stored = EvidenceLink.objects.filter(tenant_id=self.tenant_id, version_id=source.id, evidence_id__in=moved)
        stored.update(version_id=target.id)
        rival.links[target.version].extend(links)
        rival.links[number] = [link for link in rival.links[number] if link.evidence_id not in moved]
        self._count(rival, number)
        self._count(rival, target.version)

    def text_of(self, version: MemoryVersion) -> IndexedText:
        """What a version says, written or not yet."""
        return self._said.get(version.id) or texts_of(self.tenant_id, [version])[version.id]

    def _retire(self, version: MemoryVersion) -> None:
        if version.retired_revision is None:
            self._retired[version.id] = self._changed[version.id] = version

    def _count(self, rival: Rival, number: int) -> None:
        version = rival.versions[number]
        version.independent_evidence_count = len(roots_of(rival.links[number]))
        self._changed[version.id] = version
        self.touch(rival)

    def _version(
        self, rival: Rival, number: int, saying: Saying, span: Span, links: list[Linked], decision: str
    ) -> MemoryVersion:
        aliases = canonical_json(list(saying.aliases)) if saying.aliases else None
        version = MemoryVersion(
            id=new_id(),
            tenant_id=self.tenant_id,
            memory=rival.memory,
            version=number,
            content_id=self.keep_text(saying.content),
            rationale_id=self.keep_text(saying.rationale),
            aliases_id=self.keep_text(aliases),
            reason_id=self.keep_text(saying.reason),
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
            revision=_UNKNOWN,
            independent_evidence_count=len(roots_of(links)),
            decision=decision,
            author_id=self.author.actor_id,
            author_subject_id=self.author.subject_id,
            origin=self.author.origin,
            session_id=self.author.session_id,
            hidden_characters=saying.hidden_characters,
        )
        self._said[version.id] = IndexedText(saying.content, saying.rationale, saying.aliases)
        self._new[MemoryVersion].append(version)
        rival.versions[number] = version
        self._link(rival, version, links)
        return version

    def _link(self, rival: Rival, version: MemoryVersion, links: list[Linked]) -> None:
        self._new[EvidenceLink] += [
            EvidenceLink(
                tenant_id=self.tenant_id,
                memory_id=rival.memory.id,
                version_id=version.id,
                evidence_id=link.evidence_id,
                held_at=link.held_at,
                created_at=self.at,
            )
            for link in links
        ]
        rival.links[version.version].extend(links)

    # -- what stands around them

    def touch(self, rival: Rival) -> None:
        """The row of this memory, or what is found of it, has changed."""
        self._touched[rival.memory.id] = self._concerned[rival.memory.id] = rival

    def keep_text(self, text: str | None) -> UUID | None:
        """Store a text of this namespace; None stays None."""
        if text is None:
            return None
        key = new_id()
        self._texts.append((key, text))
        return key

    def insert(self, row: Model) -> None:
        """Write a row of another model along."""
        self._new[type(row)].append(row)

    def relate(self, source: Memory, targets: Iterable[UUID], kind: str) -> None:
        """Relations from a memory to others; those that are there already stay."""
        rows = [
            Relation(tenant_id=self.tenant_id, source_id=source.id, target_id=target, type=kind, created_at=self.at)
            for target in targets
        ]
        Relation.objects.bulk_create(rows, ignore_conflicts=True)

    def retire(self, rival: Rival, replaced_by: Rival, at: datetime) -> None:
        """Another line of the same key takes the place of this one's head, which is history from now on (design/02 Relation)."""
        self.end(rival, rival.memory.version, at)
        rival.memory.state = Memory.State.SUPERSEDED
        rival.memory.conflict_set_id = None
        self.relate(replaced_by.memory, [rival.memory.id], Relation.Type.SUPERSEDES)

    def note(self, entry: log.Entry) -> None:
        """Write an audit entry along; it gets the revision of the transaction."""
        self._entries.append(entry)

    # -- afterwards

    def finish(self, verb: str, *, codes: Iterable[str] = ()) -> None:
        """Note the audit entries of the statement at hand: one for each memory that it has changed."""
        words = tuple(codes)
        for rival in self._concerned.values():
            memory = rival.memory
            self.note(log.Entry(verb, "memory", public_id("mem", memory.id), words, {"version": memory.version}))
        self._concerned = {}

    def flush(self, *, dated: Iterable[Candidate] = ()) -> int:
        """Write everything, tell projections and outbox; returns the revision, the present one when no memory changed.

        It is written on the candidates in ``dated`` too.
        """
        revision = self.tx.next_revision() if self._touched else self.tx.revision or current_revision(self.tenant_id)
        for candidate in dated:
            candidate.revision = revision
        content.store_texts(
            self.tenant_id, [(self.namespace.id, text) for _, text in self._texts], ids=[key for key, _ in self._texts]
        )
        self._date(revision)
        made = {row.pk for rows in self._new.values() for row in rows}
        for rows in self._new.values():
            insert_rows(rows)
        update_rows([version for key, version in self._changed.items() if key not in made], _CHANGING)
        update_rows([rival.memory for key, rival in self._touched.items() if key not in made], _MUTABLE)
        self._project(revision)
        log.record_all(self.access, self._entries, namespace_id=self.namespace.id, revision=revision)
        publish(self.access, "memory.changed", [(memory_id, revision) for memory_id in self._touched])
        self._forget()
        return revision

    def _date(self, revision: int) -> None:
        for row in self._new[MemoryVersion]:
            if isinstance(row, MemoryVersion):
                row.revision = revision
        for version in self._retired.values():
            version.retired_revision = revision
        for rival in self._touched.values():
            rival.memory.updated_revision = revision

    def _project(self, revision: int) -> None:
        live = [version for rival in self._touched.values() for version in rival.live]
        texts = self._said | texts_of(self.tenant_id, [version for version in live if version.id not in self._said])
        changed = [
            (rival.memory, [(one, texts[one.id]) for one in rival.live if one.id in texts]) for rival in self._touched.values()
        ]
        project_all(self.tenant_id, changed, revision=revision)

    def _forget(self) -> None:
        for kept in (self._new, self._texts, self._said, self._changed, self._retired, self._touched, self._entries):
            kept.clear()
