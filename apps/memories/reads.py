"""Scoped reads of memories: details, versions and lists. All of them start at the door (door.py)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from apps.core.cursors import Page, PageRequest, page
from apps.core.errors import NotFound
from apps.core.ids import public_id
from apps.core.text import fold_key
from apps.memories import timeline
from apps.memories.door import readable_memories, require_readable, within_reach
from apps.memories.models import Memory, MemoryVersion
from apps.memories.texts import texts_of
from apps.tenants.models import Scope
from apps.tenants.transactions import revision_token, tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.tenants.access import Access

__all__ = ["list_memories", "list_versions", "read_memory", "readable_memories", "require_readable", "within_reach"]

SCHEMA_VERSION = 1  # of the record that answers show (VH-01)


@dataclass(frozen=True, slots=True)
class RelationView:
    """``direction`` is out when this memory stands in the relation, in when the other one does."""

    type: str
    memory_id: str
    direction: str


@dataclass(frozen=True, slots=True)
class MemorySummary:
    """A memory as lists show it: its newest version."""

    memory_id: str
    version: int
    scope: str
    scope_id: str
    memory_type: str
    fact_key: str
    content: str | None
    rationale: str | None
    conditions: dict[str, object]
    topics: list[str]
    entities: list[str]
    epistemic_status: str
    verdict: str | None
    state: str
    retrieval_policy: str
    authority: str
    valid_from: datetime
    valid_to: datetime | None
    conflict_id: str | None
    revision: str


@dataclass(frozen=True, slots=True)
class VersionView:
    """One version: what it says, when it held and on what ground, and when it was current (valid and recorded time)."""

    memory_id: str
    version: int
    content: str | None
    rationale: str | None
    aliases: list[str]
    conditions: dict[str, object]
    topics: list[str]
    entities: list[str]
    epistemic_status: str
    verdict: str | None
    retrieval_policy: str
    occurred_at: datetime | None
    observed_at: datetime | None
    last_confirmed_at: datetime | None
    expected_resolution_at: datetime | None
    valid_from: datetime
    valid_from_stated: bool
    valid_to: datetime | None
    ingested_at: datetime
    revision: str
    retired_revision: str | None
    independent_evidence_count: int
    source_refs: list[str]
    fidelity: str | None
    decision: str
    content_hash: str
    authority_revision: str | None
    origin: str
    stated_by: str | None


@dataclass(frozen=True, slots=True)
class MemoryDetail(VersionView):
    """A memory with one of its versions, the newest unless another one was asked for."""

    schema_version: int
    current_version: int
    scope: str
    scope_id: str
    memory_type: str
    fact_key: str
    state: str
    authority: str
    retention_class: str
    access_policy_id: str | None
    review_after: datetime
    deletion_epoch: int
    conflict_id: str | None
    relations: list[RelationView]
    superseded_by: str | None
    updated_revision: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """What narrows a list. Keys and labels are folded by whoever fills it in."""

    scope: str | None = None
    scope_id: str | None = None
    memory_type: str | None = None
    state: str | None = None
    fact_key: str | None = None
    topic: str | None = None
    updated_since_revision: int | None = None


# -- one memory


def read_memory(access: Access, memory_id: str, *, version: int | None = None, as_of: datetime | None = None) -> MemoryDetail:
    """A memory with its newest version, the one of a number, or the one that holds at an instant.

    Raises NotFound (also when no version answers to that) and Revoked.
    """
    with tenant_transaction(access):
        memory = require_readable(access, memory_id)
        shown = _chosen(access, memory, version, as_of)
        if shown is None:
            raise NotFound
        (view,) = _views(access, memory, [shown])
        relations = timeline.relations_between(access, [memory.id])
        replaced_by = next((row.source_pk for row in relations if row.type == "supersedes" and row.target_pk == memory.id), None)
        return MemoryDetail(
            **asdict(view),
            schema_version=SCHEMA_VERSION,
            current_version=memory.version,
            scope=memory.namespace.scope,
            scope_id=memory.namespace.scope_id,
            memory_type=memory.memory_type,
            fact_key=memory.fact_key,
            state=memory.state,
            authority=memory.authority,
            retention_class=memory.retention_class.key,
            access_policy_id=None if memory.access_policy is None else memory.access_policy.key,
            review_after=memory.review_after,
            deletion_epoch=memory.namespace.deletion_epoch,
            conflict_id=_conflict_id(memory),
            relations=[_relation(memory.id, row) for row in relations],
            superseded_by=None if replaced_by is None else public_id("mem", replaced_by),
            updated_revision=revision_token(memory.updated_revision),
            created_at=memory.created_at,
        )


def list_versions(access: Access, memory_id: str, query: PageRequest) -> Page[VersionView]:
    """Every version of a memory, newest number first: what holds, what held, and what was corrected. Raises NotFound, Revoked."""
    with tenant_transaction(access):
        memory = require_readable(access, memory_id)
        rows = MemoryVersion.objects.filter(tenant_id=access.tenant_id, memory=memory).exclude(content=None)
        rows = rows.select_related("author_subject")
        found = page(rows, order=("-version",), query=query, caller=access.caller_id, route=f"memories/{memory.id}/versions")
        return Page(_views(access, memory, found.items), found.next_cursor)


def _chosen(access: Access, memory: Memory, version: int | None, as_of: datetime | None) -> MemoryVersion | None:
    if as_of is not None:
        found = timeline.in_force(access.tenant_id, [memory.id], as_of).get(memory.id)
        return found if version is None or (found is not None and found.version == version) else None
    number = memory.version if version is None else version
    rows = MemoryVersion.objects.filter(tenant_id=access.tenant_id, memory=memory, version=number).exclude(content=None)
    return rows.select_related("author_subject").first()


def _views(access: Access, memory: Memory, versions: Sequence[MemoryVersion]) -> list[VersionView]:
    texts = texts_of(access.tenant_id, versions)
    sources = timeline.sources_of(access, [version.id for version in versions])
    views = []
    for version in versions:
        text, ground = texts.get(version.id), sources.get(version.id)
        views.append(
            VersionView(
                memory_id=public_id("mem", memory.id),
                version=version.version,
                content=None if text is None else text.content,
                rationale=None if text is None else text.rationale,
                aliases=[] if text is None else list(text.aliases),
                conditions=version.conditions,
                topics=version.topics,
                entities=version.entities,
                epistemic_status=version.epistemic_status,
                verdict=version.verdict,
                retrieval_policy=version.retrieval_policy,
                occurred_at=version.occurred_at,
                observed_at=version.observed_at,
                last_confirmed_at=version.last_confirmed_at,
                expected_resolution_at=version.expected_resolution_at,
                valid_from=version.valid_from,
                valid_from_stated=version.effective,
                valid_to=version.valid_to,
                ingested_at=version.ingested_at,
                revision=revision_token(version.revision),
                retired_revision=None if version.retired_revision is None else revision_token(version.retired_revision),
                independent_evidence_count=version.independent_evidence_count,
                source_refs=[] if ground is None else list(ground.refs),
                fidelity=None if ground is None else ground.fidelity,
                decision=version.decision,
                content_hash=version.content_hash,
                authority_revision=version.authority_revision or None,
                origin=version.origin,
                stated_by=None if version.author_subject is None else version.author_subject.key,
            )
        )
    return views


def _relation(memory_pk: UUID, row: timeline.RelationRow) -> RelationView:
    outgoing = row.source_pk == memory_pk
    return RelationView(row.type, public_id("mem", row.target_pk if outgoing else row.source_pk), "out" if outgoing else "in")


def _conflict_id(memory: Memory) -> str | None:
    return None if memory.conflict_set_id is None else public_id("cfl", memory.conflict_set_id)


# -- many memories


def list_memories(access: Access, wanted: MemoryFilter, query: PageRequest) -> Page[MemorySummary]:
    """Readable memories, newest first. Raises NotFound for a scope out of reach."""
    with tenant_transaction(access):
        rows = _narrowed(access, wanted).select_related("namespace")
        found = page(rows, order=("-id",), query=query, caller=access.caller_id, route="memories")
        return Page(_summaries(access, found.items), found.next_cursor)


def _narrowed(access: Access, wanted: MemoryFilter) -> QuerySet[Memory]:
    rows = readable_memories(access)
    if wanted.scope is not None and wanted.scope_id is not None:
        scope_id = fold_key(wanted.scope_id) if wanted.scope == Scope.PROJECT else wanted.scope_id
        rows = rows.filter(namespace_id=access.namespace_for(wanted.scope, scope_id).id)
    elif wanted.scope is not None:
        rows = rows.filter(namespace_id__in=[grant.id for grant in access.namespaces if grant.scope == wanted.scope])
    elif wanted.scope_id is not None:
        names = {wanted.scope_id, fold_key(wanted.scope_id)}
        rows = rows.filter(namespace_id__in=[grant.id for grant in access.namespaces if grant.scope_id in names])
    exact = {"memory_type": wanted.memory_type, "state": wanted.state, "fact_key": wanted.fact_key}
    rows = rows.filter(**{name: value for name, value in exact.items() if value is not None})
    if wanted.topic is not None:
        rows = rows.filter(head__topics__contains=[wanted.topic])
    if wanted.updated_since_revision is not None:
        rows = rows.filter(updated_revision__gt=wanted.updated_since_revision)
    return rows


def _summaries(access: Access, memories: Iterable[Memory]) -> list[MemorySummary]:
    rows = list(memories)
    heads = timeline.heads(access.tenant_id, [memory.id for memory in rows])
    texts = texts_of(access.tenant_id, heads.values())
    found = []
    for memory in rows:
        head = heads.get(memory.id)
        if head is None:  # its text was erased between two statements: it is on its way out
            continue
        text = texts.get(head.id)
        found.append(
            MemorySummary(
                memory_id=public_id("mem", memory.id),
                version=memory.version,
                scope=memory.namespace.scope,
                scope_id=memory.namespace.scope_id,
                memory_type=memory.memory_type,
                fact_key=memory.fact_key,
                content=None if text is None else text.content,
                rationale=None if text is None else text.rationale,
                conditions=head.conditions,
                topics=head.topics,
                entities=head.entities,
                epistemic_status=head.epistemic_status,
                verdict=head.verdict,
                state=memory.state,
                retrieval_policy=memory.retrieval_policy,
                authority=memory.authority,
                valid_from=head.valid_from,
                valid_to=head.valid_to,
                conflict_id=_conflict_id(memory),
                revision=revision_token(memory.updated_revision),
            )
        )
    return found
