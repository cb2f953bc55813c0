"""Events as they are handed out to whom they are about (apps/retention/exports)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from apps.evidence.content import read_texts
from apps.evidence.models import Derivation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.evidence.models import SourceEvent


def told(tenant_id: UUID, events: Sequence[SourceEvent]) -> list[dict[str, Any]]:
    """Each event with its texts, and the ids of the events it was made from; four statements for any number."""
    texts = read_texts(tenant_id, (key for event in events for key in (event.content_id, event.reference_id, event.metadata_id)))
    parents: dict[UUID, list[str]] = {}
    edges = Derivation.objects.filter(tenant_id=tenant_id, child__in=[event.id for event in events]).order_by("id")
    for child, parent in edges.values_list("child_id", "parent__event_id"):
        parents.setdefault(child, []).append(parent)
    return [
        {
            "event_id": event.event_id,
            "namespace": f"{event.namespace.scope}/{event.namespace.scope_id}",
            "session_id": event.session_id,
            "source_type": event.source_type,
            "occurred_at": event.occurred_at,
            "ingested_at": event.ingested_at,
            "content": texts.get(event.content_id) if event.content_id else None,
            "content_ref": texts.get(event.reference_id) if event.reference_id else None,
            "metadata": texts.get(event.metadata_id) if event.metadata_id else None,
            "redactions": event.redactions,
            "topics": event.topics,
            "entities": event.entities,
            "derived_from": parents.get(event.id, []),
            "retention_class": event.retention_class.key,
        }
        for event in events
    ]
