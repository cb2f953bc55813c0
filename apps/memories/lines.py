"""Loading what stands under a key, locked, as the lines that the merge decision looks at."""

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

_UNDER_KEY = """
    SELECT id FROM memories_memory WHERE tenant_id = %s AND namespace_id = %s AND fact_key = %s AND memory_type = %s
    AND conditions_hash = %s AND state = ANY(%s) ORDER BY id FOR NO KEY UPDATE
"""


@dataclass(slots=True)
class Rival:
    """One memory under lock with all its versions that still have text, by number."""

    memory: Memory
    versions: dict[int, MemoryVersion] = field(default_factory=dict)
    links: dict[int, list[Linked]] = field(default_factory=lambda: defaultdict(list))

    @property
    def head(self) -> MemoryVersion:
        return self.versions[self.memory.version]

    @property
    def live(self) -> list[MemoryVersion]:
        """Versions that held or will hold, in valid time."""
        found = [version for version in self.versions.values() if not is_corrected(self.memory, version)]
        return sorted(found, key=lambda version: (version.valid_from, version.version))

    def line(self) -> Line:
        """The history as the pure decision sees it."""
        return tuple(self._standing(version) for version in self.versions.values())

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


def is_corrected(memory: Memory, version: MemoryVersion) -> bool:
    """Whether the version never held: it was closed at its own start when another one took its place."""
    return version.version != memory.version and version.valid_to == version.valid_from


def lock_key(tenant_id: UUID, namespace_id: UUID, memory_type: str, fact_key: str, conditions_hash: str) -> list[Rival]:
    """The heads under a key, locked by primary key; the caller holds the namespace row.

    Most keys are new, so the first look is one cheap statement.
    """
    found = fetch_prepared(_UNDER_KEY, [tenant_id, namespace_id, fact_key, memory_type, conditions_hash, list(HEAD_STATES)])
    if not found:
        return []
    return load(tenant_id, list(_locked().filter(tenant_id=tenant_id, id__in=[row[0] for row in found]).order_by("id")))


def lock_memory(tenant_id: UUID, memory_id: UUID) -> Rival:
    """One memory, locked; the caller holds its namespace row and knows that it is there."""
    memory = _locked().get(tenant_id=tenant_id, id=memory_id)
    return load(tenant_id, [memory])[0]


def _locked() -> QuerySet[Memory]:
    return Memory.objects.select_related("retention_class", "conflict_set").select_for_update(of=("self",), no_key=True)


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


def event_ids_of(rival: Rival, numbers: Iterable[int] | None = None) -> set[UUID]:
    """Events that these versions (all by default) rest on."""
    chosen = rival.links if numbers is None else numbers
    return {link.event_id for number in chosen for link in rival.links[number] if link.event_id is not None}
