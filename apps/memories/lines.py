"""Loading what stands under keys, locked, as the lines that the merge decision looks at."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from apps.core.prepared import fetch_prepared
from apps.evidence import lineage
from apps.memories.consolidation import Line, Standing
from apps.memories.models import EvidenceLink, Memory, MemoryVersion
from apps.memories.sources import Linked, origins_of, roots_of, strength_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

# A head is what a new statement is compared with. The others have given up their key.
HEAD_STATES = (Memory.State.ACTIVE, Memory.State.NEEDS_REVIEW)

Key = tuple[str, str, str]  # memory type, fact key, hash of the conditions

# The heads under keys, and what gave up its place there to another line of the same key; nothing for most keys, which are new.
_UNDER_KEYS = """
    SELECT m.id FROM memories_memory m
    JOIN unnest(%(types)s::text[], %(keys)s::text[], %(conditions)s::text[]) AS k(memory_type, fact_key, conditions_hash)
      ON m.fact_key = k.fact_key AND m.memory_type = k.memory_type AND m.conditions_hash = k.conditions_hash
    WHERE m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s AND m.fact_key = ANY(%(keys)s::text[])
      AND (m.state = ANY(%(heads)s) OR (m.state = 'superseded' AND EXISTS (
        SELECT 1 FROM memories_relation r JOIN memories_memory s ON s.id = r.source_id
        WHERE r.tenant_id = %(tenant)s AND r.target_id = m.id AND r.type = 'supersedes' AND s.namespace_id = m.namespace_id
          AND s.memory_type = m.memory_type AND s.fact_key = m.fact_key AND s.conditions_hash = m.conditions_hash
          AND s.state IN ('active', 'needs_review', 'superseded'))))
    ORDER BY m.id FOR NO KEY UPDATE OF m
"""


@dataclass(slots=True)
class Rival:
    """One memory under lock with all its versions that still have text, by number."""

    memory: Memory
    versions: dict[int, MemoryVersion] = field(default_factory=dict)
    links: dict[int, list[Linked]] = field(default_factory=lambda: defaultdict(list))

    @property
    def key(self) -> Key:
        return key_of(self.memory)

    @property
    def head(self) -> MemoryVersion:
        return self.versions[self.memory.version]

    @property
    def past(self) -> bool:
        """Whether another line has taken the place of its head."""
        return self.memory.state not in HEAD_STATES

    @property
    def live(self) -> list[MemoryVersion]:
        """Versions that held or will hold, in valid time."""
        found = [version for version in self.versions.values() if not is_corrected(self.memory, version)]
        return sorted(found, key=lambda version: (version.valid_from, version.version))

    def line(self) -> Line:
        """The history as the pure decision sees it."""
        return Line(tuple(self._standing(version) for version in self.versions.values()), past=self.past)

    def _standing(self, version: MemoryVersion) -> Standing:
        links = self.links[version.version]
        held = {link.held_at for link in links} | {version.last_confirmed_at}
        return Standing(
            number=version.version,
            proposition=version.content_hash,
            roots=roots_of(links),
            valid_from=version.valid_from,
            effective=version.effective,
            author=version.author_subject_id,
            strength=strength_of(links),
            valid_to=version.valid_to,
            held_at=frozenset(at for at in held if at is not None),
            corrected=is_corrected(self.memory, version),
            head=version.version == self.memory.version,
        )


class LockedKeys:
    """What stands under the keys of one transaction: locked and loaded together, and kept as it is written.

    The caller holds the namespace row. Memories are locked by primary key.
    """

    def __init__(self, tenant_id: UUID, namespace_id: UUID) -> None:
        self._tenant_id = tenant_id
        self._namespace_id = namespace_id
        self._under: dict[Key, list[Rival]] = {}
        self._by_id: dict[UUID, Rival] = {}

    def lock(self, keys: Iterable[Key]) -> None:
        """Make keys known; those that are known already stay as they were left."""
        wanted = sorted(set(keys) - self._under.keys())
        if not wanted:
            return
        self._under |= {key: [] for key in wanted}
        types, names, conditions = zip(*wanted, strict=True)
        values = {"types": list(types), "keys": list(names), "conditions": list(conditions)}
        place = {"tenant": self._tenant_id, "namespace": self._namespace_id, "heads": list(HEAD_STATES)}
        found = [row[0] for row in fetch_prepared(_UNDER_KEYS, {**place, **values})]
        for rival in self._load(found):
            self._under[rival.key].append(rival)

    def under(self, key: Key) -> list[Rival]:
        """The lines of a key in the order of their making, those that are current first."""
        return sorted(self._under[key], key=lambda rival: (rival.past, rival.memory.id))

    def add(self, rival: Rival) -> None:
        """A memory that this transaction makes."""
        self._by_id[rival.memory.id] = rival
        self._under.setdefault(rival.key, []).append(rival)

    def heads_of(self, memory_ids: Collection[UUID]) -> list[Rival]:
        """Those of these memories that are heads outside of any conflict, whatever their key."""
        return [rival for rival in self._load(sorted(memory_ids)) if not rival.past and rival.memory.conflict_set_id is None]

    def _load(self, memory_ids: Collection[UUID]) -> list[Rival]:
        """The memories as this transaction knows them; those that it does not know are locked and loaded."""
        unknown = [key for key in memory_ids if key not in self._by_id]
        if unknown:
            rows = list(_locked().filter(tenant_id=self._tenant_id, id__in=unknown).order_by("id"))
            self._by_id |= {rival.memory.id: rival for rival in load(self._tenant_id, rows)}
        return [self._by_id[key] for key in memory_ids if key in self._by_id]


def key_of(memory: Memory) -> Key:
    return memory.memory_type, memory.fact_key, memory.conditions_hash


def is_corrected(memory: Memory, version: MemoryVersion) -> bool:
    """Whether the version never held: it was closed at its own start when another one took its place."""
    return version.version != memory.version and version.valid_to == version.valid_from


def lock_memory(tenant_id: UUID, memory_id: UUID) -> Rival:
    """One memory, locked; the caller holds its namespace row and knows that it is there."""
    memory = _locked().get(tenant_id=tenant_id, id=memory_id)
    return load(tenant_id, [memory])[0]


def lock_memories(tenant_id: UUID, memory_ids: Collection[UUID]) -> list[Rival]:
    """Several memories, locked by primary key; the caller holds their namespace row."""
    return load(tenant_id, list(_locked().filter(tenant_id=tenant_id, id__in=memory_ids).order_by("id")))


def _locked() -> QuerySet[Memory]:
    return Memory.objects.select_related("retention_class").select_for_update(of=("self",), no_key=True)


def load(tenant_id: UUID, memories: list[Memory]) -> list[Rival]:
    """Fill in versions, evidence and origins: three queries for any number of memories, none for none."""
    rivals = {memory.id: Rival(memory) for memory in memories}
    if not rivals:
        return []
    numbers: dict[UUID, tuple[Rival, int]] = {}
    versions = MemoryVersion.objects.filter(tenant_id=tenant_id, memory_id__in=rivals).exclude(content=None)
    for version in versions.order_by("version"):
        rival = rivals[version.memory_id]
        rival.versions[version.version] = version
        numbers[version.id] = (rival, version.version)
    links = EvidenceLink.objects.filter(tenant_id=tenant_id, memory_id__in=rivals, stance=EvidenceLink.Stance.SUPPORTS)
    found = links.values_list("version_id", "evidence_id", "held_at", "evidence__fidelity", "evidence__event_id")
    rows = cast("list[tuple[UUID, UUID, datetime | None, str, UUID | None]]", list(found))
    roots, trusts = _origins(tenant_id, {row[4] for row in rows if row[4] is not None})
    for version_id, evidence_id, held_at, fidelity, event_id in rows:
        if version_id in numbers:
            rival, number = numbers[version_id]
            own = roots[event_id] if event_id is not None else frozenset({evidence_id})
            trusted = tuple(trusts[root] for root in own if root in trusts)
            rival.links[number].append(Linked(evidence_id, held_at, fidelity, event_id, own, trusted))
    return [rivals[memory.id] for memory in memories]


def _origins(tenant_id: UUID, events: Collection[UUID]) -> tuple[Mapping[UUID, frozenset[UUID]], dict[UUID, str]]:
    if not events:
        return {}, {}
    roots = lineage.roots(tenant_id, events)
    every = frozenset(root for found in roots.values() for root in found)
    return roots, {root: origin.trust for root, origin in origins_of(tenant_id, every, {}).items()}
