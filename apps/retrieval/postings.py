"""Writing the lexical index, in the transaction that changes the memory.

A version's text never changes, so its postings are written once; later they only move between current and past, or go away.
Statistics move with them, term by term in ascending order, so that two writers can never wait for each other in a circle.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from apps.core import clock
from apps.core.prepared import fetch_prepared, prepared_cursor
from apps.memories.models import Memory, RetrievalPolicy
from apps.retrieval.analysis import ANALYSIS_VERSION, index_terms, term_hashes
from apps.retrieval.models import IndexState
from apps.retrieval.models.index import Layer
from apps.retrieval.names import index_keys, label_key, lengths_of, names_in, names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from apps.memories.models import MemoryVersion
    from apps.memories.projections import IndexedText, Said
    from apps.retrieval.names import Name

INDEX_KEY = b"lexical"

_Numbered = tuple["UUID", int]  # a memory and the number of one of its versions
_ERA = 1  # the bit of a layer that says whether a version is current or past

# On the way of every write.
_INDEXED = "SELECT DISTINCT memory_id, version, layer & 1 FROM retrieval_posting WHERE tenant_id = %s AND memory_id = ANY(%s)"
_REMOVE = """
    DELETE FROM retrieval_posting p USING unnest(%s::uuid[], %s::int[]) AS v(memory_id, version)
    WHERE p.tenant_id = %s AND p.memory_id = v.memory_id AND p.version = v.version RETURNING p.layer, p.term
"""
_MOVE = """
    UPDATE retrieval_posting p SET layer = p.layer & ~1 | %s FROM unnest(%s::uuid[], %s::int[]) AS v(memory_id, version)
    WHERE p.tenant_id = %s AND p.memory_id = v.memory_id AND p.version = v.version RETURNING p.layer, p.term
"""
_INSERT = """
    INSERT INTO retrieval_posting (tenant_id, generation, namespace_id, layer, term, memory_id, version)
    SELECT %s, %s, %s, d.layer, t.term, d.memory_id, d.version
    FROM json_to_recordset(%s::json) AS d(memory_id uuid, version int, layer smallint, terms bigint[]), unnest(d.terms) AS t(term)
    ORDER BY d.layer, t.term
    ON CONFLICT DO NOTHING
"""
_COUNT = """
    INSERT INTO retrieval_termstat AS s (tenant_id, generation, namespace_id, layer, term, documents)
    SELECT %s, %s, %s, d.layer, d.term, d.by FROM json_to_recordset(%s::json) AS d(layer smallint, term bigint, by bigint)
    ORDER BY d.layer, d.term
    ON CONFLICT (tenant_id, generation, namespace_id, layer, term) DO UPDATE SET documents = s.documents + excluded.documents
"""
_STATE = "SELECT id, generation FROM retrieval_indexstate WHERE tenant_id = %s AND namespace_id = %s"
_STEP = """
    UPDATE retrieval_indexstate SET documents = documents + %s, history_documents = history_documents + %s,
        name_lengths = name_lengths | %s, revision = %s
    WHERE tenant_id = %s AND id = %s RETURNING id
"""


@dataclass(frozen=True, slots=True)
class _Fresh:
    """A version that the index does not hold yet."""

    memory: Memory
    version: MemoryVersion
    era: int
    text: IndexedText


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
    fresh: list[_Fresh] = []
    before: Counter[int] = Counter()
    after: Counter[int] = Counter()
    for memory, versions in changed:
        indexed = have.get(memory.id, {})
        current = current_versions(memory, [version for version, _ in versions])
        eras = {one.version: int(Layer.CURRENT if one.version in current else Layer.HISTORY) for one, _ in versions}
        gone += [(memory.id, number) for number in indexed if number not in eras]
        for version, text in versions:
            number, era = version.version, eras[version.version]
            if number not in indexed:
                fresh.append(_Fresh(memory, version, era, text))
            elif indexed[number] != era:
                moved[era].append((memory.id, number))
        before.update(indexed.values())
        after.update(eras.values())
    changes: Counter[tuple[int, int]] = Counter()
    _remove(tenant_id, gone, changes)
    for era, numbered in sorted(moved.items()):
        _move(tenant_id, numbered, era, changes)
    lengths = _insert(tenant_id, state, fresh, changes)
    _apply_statistics(tenant_id, state, state.namespace_id, changes)
    steps = [after[era] - before[era] for era in (int(Layer.CURRENT), int(Layer.HISTORY))]
    fetch_prepared(_STEP, [*steps, lengths, revision, tenant_id, state.id])


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
    """Sorted hashes of every term under which a version is found by its words: those of its content and of its reason.

    Names are no part of them: a piece of a name is no name.
    """
    return sorted(term_hashes(key, index_terms(f"{text.content}\n{text.rationale or ''}")).values())


def version_names(key: bytes, fact_key: str, text: IndexedText, version: MemoryVersion) -> tuple[list[int], int]:
    """Sorted hashes under which a version is found by what it is called and labelled, and the lengths of its names as bits."""
    labels = (*version.topics, *version.entities)
    names = (*names_of(fact_key, text.aliases), *names_in(labels))
    return name_terms(key, names, version.topics, version.entities), lengths_of(names, labelled=bool(labels))


def name_terms(key: bytes, names: Iterable[Name], topics: Iterable[str], entities: Iterable[str]) -> list[int]:
    """Sorted hashes of every form of these names and of these labels."""
    keys = index_keys(names)
    keys |= {label_key("topic", label) for label in topics} | {label_key("entity", label) for label in entities}
    return sorted(set(term_hashes(key, keys).values()))


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
    """Era by version, by memory, of what the index holds."""
    found: dict[UUID, dict[int, int]] = defaultdict(dict)
    for memory_id, version, era in fetch_prepared(_INDEXED, [tenant_id, list(memory_ids)]):
        found[memory_id][int(version)] = int(era)
    return found


def _remove(tenant_id: UUID, numbered: Sequence[_Numbered], changes: Counter[tuple[int, int]]) -> None:
    if numbered:
        memories, versions = zip(*numbered, strict=True)
        for layer, term in _words(fetch_prepared(_REMOVE, [list(memories), list(versions), tenant_id])):
            changes[(layer, term)] -= 1


def _move(tenant_id: UUID, numbered: Sequence[_Numbered], era: int, changes: Counter[tuple[int, int]]) -> None:
    """There are two eras: what moves into one leaves the other."""
    memories, versions = zip(*numbered, strict=True)
    for layer, term in _words(fetch_prepared(_MOVE, [era, list(memories), list(versions), tenant_id])):
        changes[(layer ^ _ERA, term)] -= 1
        changes[(layer, term)] += 1


def _words(rows: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The rows that are words: names are not counted."""
    return [(int(layer), int(term)) for layer, term in rows if layer < Layer.NAMES]


def _insert(tenant_id: UUID, state: IndexState, fresh: Sequence[_Fresh], changes: Counter[tuple[int, int]]) -> int:
    """Write words and names of versions that the index does not hold; returns the lengths of the names as bits."""
    if not fresh:
        return 0
    key = tenant_key(tenant_id)
    lengths = 0
    documents: list[dict[str, object]] = []
    for one in fresh:
        words = text_terms(key, one.text)
        names, bits = version_names(key, one.memory.fact_key, one.text, one.version)
        lengths |= bits
        changes.update((one.era, term) for term in words)
        place = {"memory_id": one.memory.id, "version": one.version.version}
        documents += [
            {**place, "layer": one.era, "terms": words},
            {**place, "layer": int(Layer.NAMES) | one.era, "terms": names},
        ]
    with prepared_cursor() as cursor:
        here = [tenant_id, state.generation, state.namespace_id]
        cursor.execute(_INSERT, [*here, orjson.dumps(documents).decode()])
    return lengths


def _apply_statistics(tenant_id: UUID, state: IndexState, namespace_id: UUID, changes: Counter[tuple[int, int]]) -> None:
    steps = [{"layer": layer, "term": term, "by": by} for (layer, term), by in changes.items() if by]
    if steps:
        with prepared_cursor() as cursor:
            cursor.execute(_COUNT, [tenant_id, state.generation, namespace_id, orjson.dumps(steps).decode()])
