"""Looking for labels of stored records that are no canonical keys (LB-05, LB-07). Reads only; it replaces no guard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.core.ids import public_id
from apps.core.isolation import tenant_context
from apps.evidence.models import SourceEvent
from apps.memories.labels import SECTIONS, canonical_labels
from apps.memories.models import Candidate, MemoryVersion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID


_Row = tuple[str, list[str], list[str]]  # a name for people, topics, entities


@dataclass(frozen=True, slots=True)
class LabelFinding:
    """One wrong label: which record, which field, which place in it."""

    record: str
    pointer: str
    label: str


def check_labels(tenant_id: UUID) -> list[LabelFinding]:
    """Every label of versions (old ones included), candidates and events that its vocabulary does not know."""
    with tenant_context(tenant_id):
        return _unknown(tenant_id, [*_of_versions(tenant_id), *_of_proposals(tenant_id)])


def check_versions(tenant_id: UUID, namespace_id: UUID) -> list[LabelFinding]:
    """The same for the versions of one namespace."""
    with tenant_context(tenant_id):
        return _unknown(tenant_id, list(_of_versions(tenant_id, memory__namespace_id=namespace_id)))


def _unknown(tenant_id: UUID, rows: list[_Row]) -> list[LabelFinding]:
    known = {
        kind: canonical_labels(tenant_id, kind, frozenset(label for row in rows for label in row[place + 1]))
        for place, (_, kind) in enumerate(SECTIONS)
    }
    return [
        LabelFinding(record, f"/{field}/{number}", label)
        for record, *labels in rows
        for (field, kind), listed in zip(SECTIONS, labels, strict=True)
        for number, label in enumerate(listed)
        if label not in known[kind]
    ]


def _of_versions(tenant_id: UUID, **narrowed: UUID) -> Iterator[_Row]:
    versions = MemoryVersion.objects.filter(tenant_id=tenant_id, **narrowed).exclude(topics=[], entities=[])
    for memory, number, topics, entities in versions.values_list("memory_id", "version", "topics", "entities"):
        yield f"{public_id('mem', memory)} v{number}", topics, entities


def _of_proposals(tenant_id: UUID) -> Iterator[_Row]:
    candidates = Candidate.objects.filter(tenant_id=tenant_id).exclude(topics=[], entities=[])
    for name, topics, entities in candidates.values_list("candidate_id", "topics", "entities"):
        yield f"candidate {name}", topics, entities
    events = SourceEvent.objects.filter(tenant_id=tenant_id).exclude(topics=[], entities=[])
    for name, topics, entities in events.values_list("event_id", "topics", "entities"):
        yield f"event {name}", topics, entities
