"""Writing the lexical index, in the transaction that changes the memory.

A version's text never changes, so its postings are written once; later they only move between the layers or go away. Statistics
move with them, term by term in ascending order, so that two writers can never wait for each other in a circle.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import F

from apps.core import clock
from apps.core.prepared import fetch_prepared
from apps.memories.models import Memory, RetrievalPolicy
from apps.retrieval.analysis import ANALYSIS_VERSION, index_terms, term_hash
from apps.retrieval.models import IndexState
from apps.retrieval.models.index import Layer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from apps.memories.models import MemoryVersion
    from apps.memories.projections import IndexedText

INDEX_KEY = b"lexical"


class LexicalProjection:
    """Keeps postings and statistics equal to what memory says (registered with apps.memories.projections)."""

    def replace(
        self, tenant_id: UUID, memory: Memory, versions: list[tuple[MemoryVersion, IndexedText]], *, revision: int
    ) -> None:
        """See apps.memories.projections.Projection.replace."""
        state = index_state(tenant_id, memory.namespace_id)
        wanted = {version.version: text for version, text in versions}
        current = current_versions(memory, [version for version, _ in versions])
        have = _indexed_versions(tenant_id, memory.id) if memory.last_version > 1 or not versions else {}
        changes: Counter[tuple[int, int]] = Counter()
        for number, layer in have.items():
            if number not in wanted:
                _count(changes, layer, _remove_version(tenant_id, memory.id, number), -1)
            elif layer != (target := Layer.CURRENT if number in current else Layer.HISTORY):
                terms = _move_version(tenant_id, memory.id, number, target)
                _count(changes, layer, terms, -1)
                _count(changes, target, terms, +1)
        fresh = [number for number in wanted if number not in have]
        if fresh:
            key = tenant_key(tenant_id)
            for number in fresh:
                layer = Layer.CURRENT if number in current else Layer.HISTORY
                terms = text_terms(key, wanted[number])
                _insert_version(tenant_id, state, memory, number, layer, terms)
                _count(changes, layer, terms, +1)
        moved = {number: layer for number, layer in have.items() if number in wanted}
        _apply_statistics(tenant_id, state, memory.namespace_id, changes)
        before = Counter(have.values())
        after = Counter(Layer.CURRENT if number in current else Layer.HISTORY for number in (*fresh, *moved))
        IndexState.objects.filter(pk=state.pk).update(
            documents=F("documents") + after[Layer.CURRENT] - before[Layer.CURRENT],
            history_documents=F("history_documents") + after[Layer.HISTORY] - before[Layer.HISTORY],
            revision=revision,
        )


def current_versions(memory: Memory, versions: Iterable[MemoryVersion]) -> frozenset[int]:
    """Numbers of the versions that belong to the current layer.

    The head; and where the head was planned ahead, the version that holds until it begins. A memory that no current answer may
    give out (not active, policy never) has none: it is found by key or in history, and takes no place in recall.
    """
    if memory.state not in {Memory.State.ACTIVE, Memory.State.NEEDS_REVIEW} or memory.retrieval_policy == RetrievalPolicy.NEVER:
        return frozenset()
    by_number = {version.version: version for version in versions}
    head = by_number.get(memory.version)
    if head is None:
        return frozenset()
    planned = head.valid_from > head.ingested_at
    before = {
        number for number, version in by_number.items() if planned and version.valid_to == head.valid_from and version is not head
    }
    return frozenset({memory.version} | before)


def text_terms(key: bytes, text: IndexedText) -> list[int]:
    """Sorted hashes of every term under which a version is found: its content, its reason and the names it is called by."""
    words = index_terms("\n".join((text.content, text.rationale or "", *text.aliases)))
    return sorted({term_hash(key, word) for word in words})


def tenant_key(tenant_id: UUID) -> bytes:
    """The secret key of the tenant's term hashes."""
    return bytes(fetch_prepared("SELECT index_key FROM tenants_tenant WHERE id = %s", [tenant_id])[0][0])


def index_state(tenant_id: UUID, namespace_id: UUID) -> IndexState:
    """The state row of a namespace, made on first use; safe when two writers come first at once."""
    state = IndexState.objects.filter(tenant_id=tenant_id, namespace_id=namespace_id).first()
    if state is None:
        IndexState.objects.bulk_create(
            [
                IndexState(
                    tenant_id=tenant_id, namespace_id=namespace_id, analysis_version=str(ANALYSIS_VERSION), rebuilt_at=clock.now()
                )
            ],
            ignore_conflicts=True,
        )
        state = IndexState.objects.get(tenant_id=tenant_id, namespace_id=namespace_id)
    return state


def _count(changes: Counter[tuple[int, int]], layer: int, terms: Iterable[int], by: int) -> None:
    for term in terms:
        changes[(layer, term)] += by


def _indexed_versions(tenant_id: UUID, memory_id: UUID) -> dict[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT version, layer FROM retrieval_posting WHERE tenant_id = %s AND memory_id = %s",
            [tenant_id, memory_id],
        )
        return {int(version): int(layer) for version, layer in cursor.fetchall()}


def _remove_version(tenant_id: UUID, memory_id: UUID, version: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM retrieval_posting WHERE tenant_id = %s AND memory_id = %s AND version = %s RETURNING term",
            [tenant_id, memory_id, version],
        )
        return [int(row[0]) for row in cursor.fetchall()]


def _move_version(tenant_id: UUID, memory_id: UUID, version: int, layer: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE retrieval_posting SET layer = %s WHERE tenant_id = %s AND memory_id = %s AND version = %s RETURNING term",
            [int(layer), tenant_id, memory_id, version],
        )
        return [int(row[0]) for row in cursor.fetchall()]


def _insert_version(tenant_id: UUID, state: IndexState, memory: Memory, version: int, layer: int, terms: list[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO retrieval_posting (tenant_id, generation, namespace_id, layer, term, memory_id, version) "
            "SELECT %s, %s, %s, %s, term, %s, %s FROM unnest(%s::bigint[]) AS term ON CONFLICT DO NOTHING",
            [tenant_id, state.generation, memory.namespace_id, int(layer), memory.id, version, terms],
        )


def _apply_statistics(tenant_id: UUID, state: IndexState, namespace_id: UUID, changes: Counter[tuple[int, int]]) -> None:
    steps = sorted((layer, term, by) for (layer, term), by in changes.items() if by)
    if not steps:
        return
    layers, terms, by = zip(*steps, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO retrieval_termstat AS s (tenant_id, generation, namespace_id, layer, term, documents) "
            "SELECT %s, %s, %s, d.layer, d.term, d.by "
            "FROM unnest(%s::smallint[], %s::bigint[], %s::bigint[]) AS d(layer, term, by) "
            "ORDER BY d.layer, d.term "
            "ON CONFLICT (tenant_id, generation, namespace_id, layer, term) "
            "DO UPDATE SET documents = s.documents + excluded.documents",
            [tenant_id, state.generation, namespace_id, [int(x) for x in layers], list(terms), list(by)],
        )
