"""What held when, for packets: versions in force, their texts and sources, relations and conflicts (design/04 stages 4 and 6).

Callers hand in memories that they found through the scoped door (reads.readable_memories); nothing here widens that.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import F, Q

from apps.core.ids import public_id
from apps.core.prepared import fetch_prepared
from apps.evidence.models import Evidence
from apps.evidence.reads import readable_names
from apps.memories.door import readable_memories
from apps.memories.heads import readable_ids
from apps.memories.models import ConflictSet, Memory, MemoryVersion
from apps.memories.sources import FIDELITY_ORDER
from apps.memories.texts import texts_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.memories.heads import HeadVersion
    from apps.tenants.access import Access

__all__ = [
    "OpenConflict",
    "RelationRow",
    "Sources",
    "direct_predecessors",
    "heads",
    "in_force",
    "open_conflicts",
    "relations_between",
    "sources_of",
    "texts_of",
]


@dataclass(frozen=True, slots=True)
class Sources:
    """What a version rests on, as far as the caller may see it.

    ``fidelity`` is that of the best available evidence (LN-19); ``unavailable`` counts evidence that cannot be looked at any
    more, which does not refute anything (LN-13).
    """

    refs: tuple[str, ...]
    fidelity: str | None
    unavailable: int


@dataclass(frozen=True, slots=True)
class RelationRow:
    """``source`` stands in this relation to ``target``."""

    type: str
    source_pk: UUID
    target_pk: UUID


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """Values of one fact of which none may call itself the current one."""

    pk: UUID
    conflict_id: str
    fact_key: str
    reason: str
    member_pks: tuple[UUID, ...]


# On the way of every query: two index scans instead of one scan that an OR would need.
_RELATIONS = """
SELECT type, source_id, target_id FROM memories_relation WHERE tenant_id = %s AND source_id = ANY(%s)
UNION SELECT type, source_id, target_id FROM memories_relation WHERE tenant_id = %s AND target_id = ANY(%s)
"""
_LINKS = """
SELECT l.version_id, l.evidence_id, e.fidelity, e.availability, e.event_id, e.namespace_id
FROM memories_evidencelink l JOIN evidence_evidence e ON e.id = l.evidence_id
WHERE l.tenant_id = %s AND l.version_id = ANY(%s) AND l.stance = 'supports' ORDER BY l.held_at, l.id
"""


def in_force(tenant_id: UUID, memory_ids: Collection[UUID], as_of: datetime) -> dict[UUID, MemoryVersion]:
    """The version of each memory that holds at an instant, by memory; where none does, the memory is missing (TM-11)."""
    rows = (
        _versions(tenant_id, memory_ids)
        .filter(Q(valid_to=None) | Q(valid_to__gt=as_of), valid_from__lte=as_of)
        .order_by("memory_id", "-valid_from", "-version")
        .distinct("memory_id")
    )
    return {row.memory_id: row for row in rows}


def heads(tenant_id: UUID, memory_ids: Collection[UUID]) -> dict[UUID, MemoryVersion]:
    """The newest statement of each memory, whether it holds now, held, or is planned."""
    return {row.memory_id: row for row in _versions(tenant_id, memory_ids).filter(version=F("memory__version"))}


def direct_predecessors(tenant_id: UUID, versions: Iterable[HeadVersion | MemoryVersion]) -> dict[UUID, MemoryVersion]:
    """What really held right before each version, by primary key of the version. Corrected versions never held."""
    wanted = {version.id: version for version in versions}
    if not wanted:
        return {}
    lines: dict[UUID, list[MemoryVersion]] = defaultdict(list)
    for row in _versions(tenant_id, {one.memory_id for one in wanted.values()}).exclude(valid_to=F("valid_from")):
        lines[row.memory_id].append(row)
    found = {}
    for key, version in wanted.items():
        before = [row for row in lines[version.memory_id] if row.id != key and row.valid_from < version.valid_from]
        if before:
            found[key] = max(before, key=lambda row: (row.valid_from, row.version))
    return found


def sources_of(access: Access, version_pks: Collection[UUID]) -> dict[UUID, Sources]:
    """Sources of versions, oldest first: the sender's id of an event, ``evd_…`` of the rest; only what the caller may read."""
    if not version_pks:
        return {}
    rows = fetch_prepared(_LINKS, [access.tenant_id, list(version_pks)])
    if not rows:
        return {}
    events = readable_names(access, {row[4] for row in rows if row[4]})
    readable = frozenset(access.readable)
    refs: dict[UUID, list[str]] = defaultdict(list)
    fidelities: dict[UUID, list[str]] = defaultdict(list)
    unavailable: dict[UUID, int] = defaultdict(int)
    for version_id, evidence_id, fidelity, availability, event_id, namespace_id in rows:
        if availability != Evidence.Availability.AVAILABLE:
            unavailable[version_id] += 1
            continue
        fidelities[version_id].append(fidelity)
        if event_id in events:
            refs[version_id].append(events[event_id])
        elif event_id is None and namespace_id in readable:
            refs[version_id].append(public_id("evd", evidence_id))
    return {
        key: Sources(tuple(refs[key]), min(fidelities[key], key=FIDELITY_ORDER.index, default=None), unavailable[key])
        for key in {row[0] for row in rows}
    }


def relations_between(access: Access, memory_pks: Collection[UUID]) -> list[RelationRow]:
    """Relations that start or end at one of these memories; both ends are readable."""
    wanted = list(memory_pks)
    rows = fetch_prepared(_RELATIONS, [access.tenant_id, wanted, access.tenant_id, wanted])
    if not rows:
        return []
    ends = {key for row in rows for key in row[1:]}
    readable = readable_ids(access, ends)
    return [RelationRow(*row) for row in sorted(rows) if row[1] in readable and row[2] in readable]


def open_conflicts(access: Access, memory_pks: Collection[UUID]) -> list[OpenConflict]:
    """The open conflicts that these memories are in, with the members that the caller may read."""
    members = Memory.objects.filter(tenant_id=access.tenant_id, id__in=list(memory_pks)).exclude(conflict_set=None)
    sets = ConflictSet.objects.filter(
        tenant_id=access.tenant_id, status=ConflictSet.Status.OPEN, id__in=members.values("conflict_set_id")
    )
    return list(conflicts_with_members(access, sets.order_by("id")))


def conflicts_with_members(access: Access, sets: Iterable[ConflictSet]) -> Iterable[OpenConflict]:
    """Conflict sets with their readable members in the order of their making; a set without one is left out."""
    known = list(sets)
    by_set: dict[UUID, list[UUID]] = defaultdict(list)
    rows = readable_memories(access).filter(conflict_set_id__in=[one.id for one in known]).order_by("id")
    for key, set_id in rows.values_list("id", "conflict_set_id"):
        by_set[set_id].append(key)
    for one in known:
        if by_set[one.id]:
            yield OpenConflict(one.id, public_id("cfl", one.id), one.fact_key, one.reason, tuple(by_set[one.id]))


def _versions(tenant_id: UUID, memory_ids: Collection[UUID]) -> QuerySet[MemoryVersion]:
    return MemoryVersion.objects.filter(tenant_id=tenant_id, memory_id__in=list(memory_ids)).exclude(content=None)
