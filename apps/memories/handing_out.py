"""Candidates, versions and their links as they are handed out to whom they are about (apps/retention/exports)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from apps.core.ids import public_id
from apps.evidence.content import read_texts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.memories.models import Candidate, EvidenceLink, MemoryVersion, Relation
    from apps.tenants.models import Namespace


def candidates(tenant_id: UUID, rows: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Each with its texts; one statement for all of those."""
    texts = read_texts(tenant_id, (key for row in rows for key in (row.content_id, row.rationale_id, row.aliases_id)))
    return [
        {
            "candidate_id": row.candidate_id,
            "namespace": _named(row.namespace),
            "origin": row.origin,
            "session_id": row.session_id,
            "memory_type": row.memory_type,
            "fact_key": row.fact_key,
            "content": _text(texts, row.content_id),
            "rationale": _text(texts, row.rationale_id),
            "aliases": _text(texts, row.aliases_id),
            "conditions": row.conditions,
            "epistemic_status": row.epistemic_status,
            "verdict": row.verdict,
            "topics": row.topics,
            "entities": row.entities,
            "valid_from": row.valid_from,
            "valid_to": row.valid_to,
            "status": row.status,
            "decision": row.decision,
            "reasons": row.reasons,
            "memory_id": None if row.memory_id is None else public_id("mem", row.memory_id),
            "created_at": row.created_at,
            "decided_at": row.decided_at,
        }
        for row in rows
    ]


def versions(tenant_id: UUID, rows: Sequence[MemoryVersion]) -> list[dict[str, Any]]:
    """Each with its texts and what its memory is."""
    keys = (key for row in rows for key in (row.content_id, row.rationale_id, row.aliases_id, row.reason_id))
    texts = read_texts(tenant_id, keys)
    return [
        {
            "memory_id": public_id("mem", row.memory_id),
            "version": row.version,
            "current": row.version == row.memory.version,
            "namespace": _named(row.memory.namespace),
            "memory_type": row.memory.memory_type,
            "fact_key": row.memory.fact_key,
            "state": row.memory.state,
            "content": _text(texts, row.content_id),
            "rationale": _text(texts, row.rationale_id),
            "aliases": _text(texts, row.aliases_id),
            "reason": _text(texts, row.reason_id),
            "conditions": row.conditions,
            "epistemic_status": row.epistemic_status,
            "verdict": row.verdict,
            "topics": row.topics,
            "entities": row.entities,
            "valid_from": row.valid_from,
            "valid_to": row.valid_to,
            "recorded_at": row.ingested_at,
            "decision": row.decision,
            "origin": row.origin,
            "session_id": row.session_id,
        }
        for row in rows
    ]


def links(rows: Sequence[EvidenceLink]) -> list[dict[str, Any]]:
    return [
        {
            "kind": "evidence",
            "memory_id": public_id("mem", row.memory_id),
            "version": row.version.version,
            "evidence_id": public_id("evd", row.evidence_id),
            "stance": row.stance,
            "speaks_for": row.held_at,
            "created_at": row.created_at,
        }
        for row in rows
    ]


def relations(rows: Sequence[Relation]) -> list[dict[str, Any]]:
    return [
        {
            "kind": "relation",
            "memory_id": public_id("mem", row.source_id),
            "type": row.type,
            "other_memory_id": public_id("mem", row.target_id),
            "created_at": row.created_at,
        }
        for row in rows
    ]


def _named(namespace: Namespace) -> str:
    return f"{namespace.scope}/{namespace.scope_id}"


def _text(texts: dict[UUID, str], key: UUID | None) -> str | None:
    return None if key is None else texts.get(key)
