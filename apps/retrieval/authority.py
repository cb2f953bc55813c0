"""What the authority says about what recall found: the version that holds at ``as_of``, with its text and its grounds.

The index is never believed: every row is read again through the scoped door of apps.memories, so a memory that was revoked,
moved behind a policy or withdrawn a moment ago does not leave recall (OJ-11, RP-06).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from django.db.models import F, Q

from apps.core.ids import public_id
from apps.evidence.content import read_texts
from apps.evidence.models import Evidence
from apps.memories.models import EvidenceLink, MemoryType, MemoryVersion, Relation
from apps.memories.reads import readable_memories
from apps.retrieval.context import Candidate, Recall
from apps.retrieval.context import Relation as Edge

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from apps.memories.models import Memory
    from apps.retrieval.context import QueryContext
    from apps.retrieval.recall import Found
    from apps.tenants.access import Access

_FIDELITY = [choice.value for choice in Evidence.Fidelity]  # best first


def candidates(access: Access, context: QueryContext, found: Iterable[Found]) -> list[Candidate]:
    """The candidates behind what recall found, each with the version that holds at the context's ``as_of``.

    A hit on a version that does not hold then is dropped unless the holding version was hit too or the memory was reached by key:
    its words are no longer (or not yet) what the memory says. Decisions bring their direct predecessor along.
    """
    hits: dict[UUID, list[Found]] = defaultdict(list)
    for row in found:
        hits[row.memory_id].append(row)
    if not hits:
        return []
    memories = {memory.id: memory for memory in _memories(access, context, list(hits))}
    versions = _versions(context, memories, hits)
    chosen: list[tuple[Memory, MemoryVersion, Recall, MemoryVersion | None]] = []
    for memory_id, memory in memories.items():
        holding = _holding(memory, versions[memory_id], context)
        recall = _recall_of(hits[memory_id], holding) if holding is not None else None
        if holding is None or recall is None:
            continue
        chosen.append((memory, holding, recall, _successor(memory, holding, versions[memory_id])))
        before = _predecessor(memory, holding, versions[memory_id])
        if before is not None:
            chosen.append((memory, before, Recall(), holding))
    return _assemble(access, chosen)


def _memories(access: Access, context: QueryContext, ids: list[UUID]) -> list[Memory]:
    return list(readable_memories(access).filter(id__in=ids, namespace_id__in=list(context.namespaces)))


def _versions(
    context: QueryContext, memories: dict[UUID, Memory], hits: dict[UUID, list[Found]]
) -> dict[UUID, list[MemoryVersion]]:
    numbers = {row.version for rows in hits.values() for row in rows if row.version is not None}
    wanted = (
        Q(version=F("memory__version"))
        | Q(version__in=numbers)
        | (Q(valid_from__lte=context.as_of) & (Q(valid_to=None) | Q(valid_to__gt=context.as_of)))
        | Q(memory__memory_type=MemoryType.DECISION, valid_to=F("memory__head__valid_from"))
    )
    found: dict[UUID, list[MemoryVersion]] = defaultdict(list)
    for version in MemoryVersion.objects.filter(wanted, tenant_id=context.tenant_id, memory_id__in=list(memories)):
        found[version.memory_id].append(version)
    return found


def _holding(memory: Memory, versions: list[MemoryVersion], context: QueryContext) -> MemoryVersion | None:
    """The version that holds at ``as_of``; if none does, the head, which the hard filters will refuse with a reason."""
    at = [v for v in versions if v.valid_from <= context.as_of and (v.valid_to is None or v.valid_to > context.as_of)]
    if at:
        # A correction keeps the start of what it corrects: of several that hold, the one recorded last is meant.
        return max(at, key=lambda v: (v.version == memory.version, v.revision, v.version))
    return next((v for v in versions if v.version == memory.version), None)


def _recall_of(rows: list[Found], holding: MemoryVersion) -> Recall | None:
    row = next((r for r in rows if r.version in {None, holding.version}), None)
    if row is not None:
        return Recall(lanes=dict(row.lanes), matched_terms=row.matched_terms, matched_weight=row.matched_weight)
    lanes = {lane: rank for r in rows for lane, rank in r.lanes.items() if lane.value in {"exact", "always", "named"}}
    return Recall(lanes=lanes) if lanes else None


def _successor(memory: Memory, version: MemoryVersion, versions: list[MemoryVersion]) -> MemoryVersion | None:
    """The version that takes this one's place, if one was recorded."""
    if version.version == memory.version or version.valid_to is None:
        return None
    return next((v for v in versions if v.version != version.version and v.valid_from == version.valid_to), None) or next(
        (v for v in versions if v.version == memory.version), None
    )


def _predecessor(memory: Memory, holding: MemoryVersion, versions: list[MemoryVersion]) -> MemoryVersion | None:
    if memory.memory_type != MemoryType.DECISION or holding.version != memory.version:
        return None
    before = [v for v in versions if v is not holding and v.valid_to == holding.valid_from and v.valid_from < holding.valid_from]
    return max(before, key=lambda v: (v.revision, v.version), default=None)


def _assemble(access: Access, chosen: list[tuple[Memory, MemoryVersion, Recall, MemoryVersion | None]]) -> list[Candidate]:
    versions = [version for _, version, _, _ in chosen]
    texts = read_texts(access.tenant_id, [key for v in versions for key in (v.content_id, v.rationale_id)])
    grounds = grounds(access, versions)
    edges = _edges(access, {memory.id for memory, _, _, _ in chosen})
    rows = []
    for memory, version, recall, successor in chosen:
        content = texts.get(version.content_id) if version.content_id else None
        if content is None:
            continue  # erased between two statements of this transaction is impossible; erased before means revoked
        scope = access.by_id[memory.namespace_id]
        refs, fidelity, available = grounds.get(version.id, ((), None, True))
        is_predecessor = successor is not None and not recall.lanes
        rows.append(
            Candidate(
                memory_id=memory.id,
                public_id=public_id("mem", memory.id),
                version=version.version,
                namespace_id=memory.namespace_id,
                scope=scope.scope,
                scope_id=scope.scope_id,
                memory_type=memory.memory_type,
                content=content,
                state=memory.state,
                epistemic_status=version.epistemic_status,
                fact_key=memory.fact_key,
                rationale=texts.get(version.rationale_id) if version.rationale_id else None,
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
                source_refs=refs,
                fidelity=fidelity,
                independent_evidence_count=version.independent_evidence_count,
                evidence_available=available,
                topics=frozenset(version.topics),
                entities=frozenset(version.entities),
                conflict_id=public_id("cfl", memory.conflict_set_id) if memory.conflict_set_id else None,
                relations=edges.get(memory.id, ()),
                superseded_by=public_id("mem", memory.id) if successor is not None else None,
                superseded_at=successor.valid_from if successor is not None else None,
                successor=(public_id("mem", memory.id), successor.version) if successor is not None and is_predecessor else None,
                recall=recall,
            )
        )
    return rows


def grounds(access: Access, versions: list[MemoryVersion]) -> dict[UUID, tuple[tuple[str, ...], str | None, bool]]:
    """Per version: ids of the sources, the best fidelity among them, and whether any of them can still be looked up."""
    found: dict[UUID, list[tuple[str | None, str, str]]] = defaultdict(list)
    links = (
        EvidenceLink.objects.filter(tenant_id=access.tenant_id, version_id__in=[v.id for v in versions])
        .order_by("id")
        .values_list("version_id", "evidence__event__event_id", "evidence__fidelity", "evidence__availability")
    )
    for version_id, event_id, fidelity, availability in links:
        found[version_id].append((event_id, fidelity, availability))
    answer = {}
    for version_id, rows in found.items():
        lawful = [row for row in rows if row[2] != Evidence.Availability.ERASED]
        refs = tuple(dict.fromkeys(event_id for event_id, _, _ in lawful if event_id))
        fidelity = min((row[1] for row in lawful), key=_FIDELITY.index, default=None)
        answer[version_id] = (refs, fidelity, any(row[2] == Evidence.Availability.AVAILABLE for row in lawful))
    return answer


def _edges(access: Access, memory_ids: set[UUID]) -> dict[UUID, tuple[Edge, ...]]:
    """Relations of these memories to memories that the caller may read too; the others are not mentioned."""
    rows = list(
        Relation.objects.filter(tenant_id=access.tenant_id, source_id__in=memory_ids).order_by("id").values_list("source_id", "type", "target_id")
    )
    if not rows:
        return {}
    visible = set(readable_memories(access).filter(id__in={row[2] for row in rows}).values_list("id", flat=True))
    found: dict[UUID, list[Edge]] = defaultdict(list)
    for source_id, kind, target_id in rows:
        if target_id in visible:
            found[source_id].append(Edge(type=kind, memory_id=public_id("mem", target_id)))
    return {key: tuple(edges) for key, edges in found.items()}
