"""What the authority says about what recall found: the version that holds at ``as_of``, with its text and its grounds.

The index is never believed: every row is read again through the scoped door of apps.memories, so a memory that was revoked,
moved behind a policy or withdrawn a moment ago does not leave recall (OJ-11, RP-06).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from apps.core.ids import public_id
from apps.memories import timeline
from apps.memories.heads import HeadVersion, ReadableMemory, held_at, readable_heads
from apps.memories.labels import vocabulary
from apps.memories.models import MemoryType, Relation
from apps.memories.texts import texts_of
from apps.retrieval.context import Candidate, Recall
from apps.retrieval.context import Relation as Edge
from apps.retrieval.vocabulary import Lane

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from uuid import UUID

    from apps.memories.models import MemoryVersion
    from apps.retrieval.context import QueryContext
    from apps.retrieval.recall import Found
    from apps.tenants.access import Access

Version: TypeAlias = "HeadVersion | MemoryVersion"  # heads come as plain rows, older versions as what they are

# Lanes that mean the memory, whatever its words say at the time.
_BY_IDENTITY = frozenset({Lane.EXACT, Lane.ALWAYS, Lane.NAMED, Lane.CONCLUSION})
_MEANT = frozenset({Lane.EXACT, Lane.NAMED})
_COMPANIONS = frozenset({Relation.Type.CONTRADICTS, Relation.Type.DUPLICATE_OF})


@dataclass(slots=True)
class _Row:
    memory: ReadableMemory
    version: Version
    recall: Recall
    successor: Version | None = None
    companion: bool = False


def candidates(access: Access, context: QueryContext, found: Iterable[Found]) -> list[Candidate]:
    """The candidates behind what recall found, each with the version that holds at the context's ``as_of``, and their companions.

    A hit on words that the memory does not say at that time is no hit, unless the memory was meant by its key. Companions are
    what must not be missing beside a record: the canonical one of a duplicate, the other side of a contradiction or conflict,
    what a record that was meant by key or name was made from, the direct predecessor of a decision.
    """
    hits: dict[UUID, list[Found]] = defaultdict(list)
    for row in found:
        hits[row.memory_id].append(row)
    if not hits:
        return []
    memories = {memory.id: memory for memory in _read(access, context, list(hits))}
    holding = _holding(context, memories)
    rows = []
    for key, memory in memories.items():
        version = holding.get(key)
        recall = _recall_of(hits[key], version) if version is not None else None
        if version is not None and recall is not None:
            rows.append(_Row(memory, version, recall))
    edges = _edges(access, {row.memory.id for row in rows})
    rows += _companions(access, context, rows, edges)
    rows += _predecessors(access, rows)
    return _assemble(access, context, rows, edges)


def _read(access: Access, context: QueryContext, ids: list[UUID]) -> list[ReadableMemory]:
    return readable_heads(access, ids, context.namespaces)


def _holding(context: QueryContext, memories: dict[UUID, ReadableMemory]) -> dict[UUID, Version]:
    """The version in force at ``as_of``; where none is, the head, which the hard filters will refuse with a reason.

    Most heads hold now: only the others cost a look at the older versions.
    """
    held: dict[UUID, Version] = {}
    unclear = []
    for key, memory in memories.items():
        head = memory.head
        if head.valid_from <= context.as_of and (head.valid_to is None or head.valid_to > context.as_of):
            held[key] = head
        else:
            unclear.append(key)
    if unclear:
        held |= held_at(context.tenant_id, unclear, context.as_of)
        for key in unclear:
            held.setdefault(key, memories[key].head)
    return held


def _recall_of(rows: list[Found], version: Version) -> Recall | None:
    row = next((r for r in rows if r.version in {None, version.version}), None)
    if row is not None:
        return Recall(
            lanes=dict(row.lanes),
            matched_terms=row.matched_terms,
            matched_weight=row.matched_weight,
            distance=row.distance,
            near=row.near,
        )
    lanes = {lane: rank for r in rows for lane, rank in r.lanes.items() if lane in _BY_IDENTITY}
    return Recall(lanes=lanes) if lanes else None


def _edges(access: Access, memory_ids: set[UUID]) -> list[timeline.RelationRow]:
    return timeline.relations_between(access, memory_ids) if memory_ids else []


def _companions(access: Access, context: QueryContext, rows: list[_Row], edges: list[timeline.RelationRow]) -> list[_Row]:
    have = {row.memory.id for row in rows}
    wanted = {key for edge in edges if edge.type in _COMPANIONS for key in (edge.source_pk, edge.target_pk)}
    meant = {row.memory.id for row in rows if not _MEANT.isdisjoint(row.recall.lanes)}
    wanted |= {edge.target_pk for edge in edges if edge.type == Relation.Type.DERIVED_FROM and edge.source_pk in meant}
    if any(row.memory.conflict_set_id for row in rows):
        wanted |= {key for conflict in timeline.open_conflicts(access, have) for key in conflict.member_pks}
    missing = wanted - have
    if not missing:
        return []
    memories = {memory.id: memory for memory in _read(access, context, list(missing))}
    return [
        _Row(memories[key], version, Recall(), companion=True)
        for key, version in sorted(_holding(context, memories).items(), key=lambda item: item[0].int)
    ]


def _predecessors(access: Access, rows: list[_Row]) -> list[_Row]:
    decisions = {
        row.version.id: row for row in rows if row.memory.memory_type == MemoryType.DECISION and row.memory.last_version > 1
    }
    if not decisions:
        return []
    before = timeline.direct_predecessors(access.tenant_id, [row.version for row in decisions.values()])
    return [_Row(decisions[key].memory, version, Recall(), successor=decisions[key].version) for key, version in before.items()]


def _assemble(access: Access, context: QueryContext, rows: list[_Row], edges: list[timeline.RelationRow]) -> list[Candidate]:
    versions = [row.version for row in rows]
    texts = texts_of(access.tenant_id, versions)
    sources = timeline.sources_of(access, [version.id for version in versions])
    legal = _legal_labels(access, versions)
    outgoing: dict[UUID, list[Edge]] = defaultdict(list)
    for edge in edges:
        outgoing[edge.source_pk].append(Edge(type=edge.type, memory_id=public_id("mem", edge.target_pk)))
    found = []
    for row in rows:
        text = texts.get(row.version.id)
        if text is None:
            continue  # erased: the memory is revoked and on its way out
        memory, version = row.memory, row.version
        name = public_id("mem", memory.id)
        scope = access.by_id[memory.namespace_id]
        ground = sources.get(version.id)
        after = row.successor or _replacement(context, memory, version)
        found.append(
            Candidate(
                memory_id=memory.id,
                public_id=name,
                version=version.version,
                namespace_id=memory.namespace_id,
                scope=scope.scope,
                scope_id=scope.scope_id,
                memory_type=memory.memory_type,
                content=text.content,
                state=memory.state,
                epistemic_status=version.epistemic_status,
                fact_key=memory.fact_key,
                rationale=text.rationale,
                conditions=version.conditions,
                verdict=version.verdict,
                retrieval_policy=memory.retrieval_policy,
                authority=memory.authority,
                authority_revision=version.authority_revision or None,
                valid_from=version.valid_from,
                valid_to=version.valid_to,
                observed_at=version.observed_at,
                last_confirmed_at=version.last_confirmed_at,
                expected_resolution_at=version.expected_resolution_at,
                source_refs=ground.refs if ground else (),
                fidelity=ground.fidelity if ground else None,
                independent_evidence_count=version.independent_evidence_count,
                evidence_available=ground is None or ground.unavailable == 0,
                lineage=frozenset(ground.refs) if ground else frozenset(),
                derived=any(edge.type == Relation.Type.DERIVED_FROM for edge in outgoing.get(memory.id, ())),
                control_plane=_is_control_plane(memory.fact_key),
                topics=frozenset(version.topics),
                entities=frozenset(version.entities),
                labels_valid=legal(version),
                aliases=text.aliases,
                conflict_id=public_id("cfl", memory.conflict_set_id) if memory.conflict_set_id else None,
                relations=tuple(outgoing.get(memory.id, ())),
                superseded_by=name if after is not None else None,
                superseded_at=after.valid_from if after is not None else None,
                successor=(name, row.successor.version) if row.successor is not None else None,
                recall=row.recall,
            )
        )
    return found


def _legal_labels(access: Access, versions: list[Version]) -> Callable[[Version], bool]:
    """Tells whether every label of a version is in the vocabulary; looked up only if any of them has one (LB-03)."""
    if not any(version.topics or version.entities for version in versions):
        return lambda _: True
    keys = {kind: frozenset(spellings.values()) for kind, spellings in vocabulary(access.tenant_id).items()}
    return lambda version: keys["topic"].issuperset(version.topics) and keys["entity"].issuperset(version.entities)


def _is_control_plane(fact_key: str) -> bool:
    """Is the record about the upkeep of memory itself? Such records serve audits and repairs, and answer nobody (CP-01..05)."""
    return fact_key.partition(".")[0] in CONTROL_PLANE


CONTROL_PLANE = frozenset({"manifest", "maintenance_log", "import_report", "checksum"})


def _replacement(context: QueryContext, memory: ReadableMemory, version: Version) -> Version | None:
    """The head, where it has taken (or will take) the place of the version that held at ``as_of``."""
    head = memory.head
    if version.version == memory.version or version.valid_to is None or head.valid_from > context.asked_at:
        return None
    return head
