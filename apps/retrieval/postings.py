"""Writing the lexical index, in the transaction that changes the memory.

A version's text never changes, so its postings are written once; later they only move between the layers or go away. Statistics
move with them, term by term in ascending order, so that two writers can never wait for each other in a circle.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from apps.core import clock
from apps.core.prepared import fetch_prepared, prepared_cursor
from apps.memories.models import Memory, RetrievalPolicy
from apps.retrieval.analysis import ANALYSIS_VERSION, index_terms, term_hash
from apps.retrieval.models import IndexState
from apps.retrieval.models.index import Layer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from apps.memories.models import MemoryVersion
    from apps.memories.projections import IndexedText, Said

INDEX_KEY = b"lexical"

_Numbered = tuple["UUID", int]  # a memory and the number of one of its versions

# On the way of every write.
_INDEXED = "SELECT DISTINCT memory_id, version, layer FROM retrieval_posting WHERE tenant_id = %s AND memory_id = ANY(%s)"
_REMOVE = """
    DELETE FROM retrieval_posting p USING unnest(%s::uuid[], %s::int[]) AS v(memory_id, version)
    WHERE p.tenant_id = %s AND p.memory_id = v.memory_id AND p.version = v.version RETURNING p.layer, p.term
"""
_MOVE = """
    UPDATE retrieval_posting p SET layer = %s FROM unnest(%s::uuid[], %s::int[]) AS v(memory_id, version)
    WHERE p.tenant_id = %s AND p.memory_id = v.memory_id AND p.version = v.version RETURNING p.term
"""
_INSERT = """
    INSERT INTO retrieval_posting (tenant_id, generation, namespace_id, layer, term, memory_id, version)
    SELECT %s, %s, %s, v.layer, v.term, v.memory_id, v.version
    FROM unnest(%s::uuid[], %s::int[], %s::smallint[], %s::bigint[]) AS v(memory_id, version, layer, term)
    ON CONFLICT DO NOTHING
"""
_COUNT = """
    INSERT INTO retrieval_termstat AS s (tenant_id, generation, namespace_id, layer, term, documents)
    SELECT %s, %s, %s, d.layer, d.term, d.by FROM unnest(%s::smallint[], %s::bigint[], %s::bigint[]) AS d(layer, term, by)
    ORDER BY d.layer, d.term
    ON CONFLICT (tenant_id, generation, namespace_id, layer, term) DO UPDATE SET documents = s.documents + excluded.documents
"""
_STATE = "SELECT id, generation FROM retrieval_indexstate WHERE tenant_id = %s AND namespace_id = %s"
_STEP = """
    UPDATE retrieval_indexstate SET documents = documents + %s, history_documents = history_documents + %s, revision = %s
    WHERE tenant_id = %s AND id = %s RETURNING id
"""


class LexicalProjection:
    """Keeps postings and statistics equal to what memory says (registered with apps.memories.projections)."""

    def replace(self, tenant_id: UUID, changed: Sequence[Said], *, revision: int) -> None:
        """See apps.memories.projections.Projection.replace."""
        by_namespace: dict[UUID, list[Said]] = defaultdict(list)
        for memory, versions in changed:
            by_namespace[memory.namespace_id].append((memory, versions))
        for namespace_id in sorted(by_namespace):
            _replace(tenant_id, index_state(tenant_id, namespace_id), by_namespace[namespace_id], revision)


def _replace(tenant_id: UUID, state: IndexState, changed: Sequence[Said], revision: int) -> None:
    """The memories of one namespace, in a few statements for any number of them."""
    have = _indexed_versions(tenant_id, [memory.id for memory, _ in changed])
    gone: list[_Numbered] = []
    moved: dict[int, list[_Numbered]] = defaultdict(list)
    fresh: list[tuple[UUID, int, int, IndexedText]] = []
    before: Counter[int] = Counter()
    after: Counter[int] = Counter()
    for memory, versions in changed:
        indexed = have.get(memory.id, {})
        current = current_versions(memory, [version for version, _ in versions])
        wanted = {version.version: text for version, text in versions}
        layers = {number: int(Layer.CURRENT if number in current else Layer.HISTORY) for number in wanted}
        gone += [(memory.id, number) for number in indexed if number not in wanted]
        for number, layer in layers.items():
            if number not in indexed:
                fresh.append((memory.id, number, layer, wanted[number]))
            elif indexed[number] != layer:
                moved[layer].append((memory.id, number))
        before.update(indexed.values())
        after.update(layers.values())
    changes: Counter[tuple[int, int]] = Counter()
    _remove(tenant_id, gone, changes)
    for layer, numbered in sorted(moved.items()):
        _move(tenant_id, numbered, layer, changes)
    _insert(tenant_id, state, fresh, changes)
    _apply_statistics(tenant_id, state, state.namespace_id, changes)
    steps = [after[layer] - before[layer] for layer in (int(Layer.CURRENT), int(Layer.HISTORY))]
    fetch_prepared(_STEP, [*steps, revision, tenant_id, state.id])


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
    rows = fetch_prepared(_STATE, [tenant_id, namespace_id])
    state = IndexState(id=rows[0][0], tenant_id=tenant_id, namespace_id=namespace_id, generation=rows[0][1]) if rows else None
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


def _indexed_versions(tenant_id: UUID, memory_ids: Sequence[UUID]) -> dict[UUID, dict[int, int]]:
    """Layer by version, by memory, of what the index holds."""
    found: dict[UUID, dict[int, int]] = defaultdict(dict)
    for memory_id, version, layer in fetch_prepared(_INDEXED, [tenant_id, list(memory_ids)]):
        found[memory_id][int(version)] = int(layer)
    return found


def _remove(tenant_id: UUID, numbered: Sequence[_Numbered], changes: Counter[tuple[int, int]]) -> None:
    if numbered:
        memories, versions = zip(*numbered, strict=True)
        for layer, term in fetch_prepared(_REMOVE, [list(memories), list(versions), tenant_id]):
            changes[(int(layer), int(term))] -= 1


def _move(tenant_id: UUID, numbered: Sequence[_Numbered], layer: int, changes: Counter[tuple[int, int]]) -> None:
    """There are two layers: what moves into one leaves the other."""
    memories, versions = zip(*numbered, strict=True)
    other = int(Layer.HISTORY if layer == Layer.CURRENT else Layer.CURRENT)
    for (term,) in fetch_prepared(_MOVE, [layer, list(memories), list(versions), tenant_id]):
        changes[(other, int(term))] -= 1
        changes[(layer, int(term))] += 1


def _insert(
    tenant_id: UUID,
    state: IndexState,
    fresh: Sequence[tuple[UUID, int, int, IndexedText]],
    changes: Counter[tuple[int, int]],
) -> None:
    if not fresh:
        return
    key = tenant_key(tenant_id)
    rows = [(memory, version, layer, term) for memory, version, layer, text in fresh for term in text_terms(key, text)]
    if not rows:
        return
    changes.update((layer, term) for _, _, layer, term in rows)
    memories, versions, layers, terms = zip(*rows, strict=True)
    with prepared_cursor() as cursor:
        place = [tenant_id, state.generation, state.namespace_id]
        cursor.execute(_INSERT, [*place, list(memories), list(versions), list(layers), list(terms)])


def _apply_statistics(tenant_id: UUID, state: IndexState, namespace_id: UUID, changes: Counter[tuple[int, int]]) -> None:
    steps = sorted((layer, term, by) for (layer, term), by in changes.items() if by)
    if not steps:
        return
    layers, terms, by = zip(*steps, strict=True)
    with prepared_cursor() as cursor:
        place = [tenant_id, state.generation, namespace_id]
        cursor.execute(_COUNT, [*place, [int(layer) for layer in layers], list(terms), list(by)])
