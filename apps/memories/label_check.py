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


@dataclass(frozen=True, slots=True)
class LabelFinding:
    """One wrong label: which record, which field, which place in it."""

    record: str
    pointer: str
    label: str


def check_labels(tenant_id: UUID) -> list[LabelFinding]:
    """Every label of versions (old ones included), candidates and events that its vocabulary does not know."""
    with tenant_context(tenant_id):
        rows = list(_labelled(tenant_id))
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


def _labelled(tenant_id: UUID) -> Iterator[tuple[str, list[str], list[str]]]:
    """Records that carry labels: a name for people, topics, entities."""
    versions = MemoryVersion.objects.filter(tenant_id=tenant_id).exclude(topics=[], entities=[])
    for memory, number, topics, entities in versions.values_list("memory_id", "version", "topics", "entities"):
        yield f"{public_id('mem', memory)} v{number}", topics, entities
    candidates = Candidate.objects.filter(tenant_id=tenant_id).exclude(topics=[], entities=[])
    for name, topics, entities in candidates.values_list("candidate_id", "topics", "entities"):
        yield f"candidate {name}", topics, entities
    events = SourceEvent.objects.filter(tenant_id=tenant_id).exclude(topics=[], entities=[])
    for name, topics, entities in events.values_list("event_id", "topics", "entities"):
        yield f"event {name}", topics, entities
