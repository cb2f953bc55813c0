"""Reading and writing vectors, inside the tenant's context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson
from django.db import connection

from apps.memories.models import Memory
from apps.retrieval.models import Vector
from apps.retrieval.models.index import Layer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from uuid import UUID

    from apps.retrieval.semantic.embedders import Embedder, Embedding

Numbered = tuple["UUID", int]  # a memory and the number of one of its versions


@dataclass(frozen=True, slots=True)
class Made:
    """The vector of a text that was read a moment ago; ``content_id`` says which text that was."""

    memory_id: UUID
    version: int
    content_id: UUID
    embedding: Embedding


# Whoever erases or revokes holds the namespace and the memories, so after these locks the answer stays as it is until our commit.
_LOCK_NAMESPACE: Final = "SELECT deletion_epoch FROM tenants_namespace WHERE tenant_id = %s AND id = %s FOR SHARE"
_LOCK_MEMORIES: Final = """
    SELECT id FROM memories_memory WHERE tenant_id = %s AND namespace_id = %s AND id = ANY(%s) AND state <> 'revoked'
    ORDER BY id FOR SHARE
"""
# Only where the version still says what was embedded: its words may have been taken meanwhile.
_INSERT: Final = """
    INSERT INTO retrieval_vector (tenant_id, namespace_id, embedder, memory_id, version, era, dimension, embedding)
    SELECT %(tenant)s, %(namespace)s, %(embedder)s, d.memory_id, d.version, %(era)s, %(dimension)s, d.embedding
    FROM jsonb_to_recordset(%(rows)s::jsonb) AS d(memory_id uuid, version int, content_id uuid, embedding real[])
    JOIN memories_memoryversion v ON v.tenant_id = %(tenant)s AND v.memory_id = d.memory_id AND v.version = d.version
        AND v.content_id = d.content_id
    WHERE d.memory_id = ANY(%(living)s)
    ON CONFLICT (tenant_id, namespace_id, embedder, memory_id, version)
    DO UPDATE SET embedding = excluded.embedding, dimension = excluded.dimension
"""


def epoch_of(tenant_id: UUID, namespace_id: UUID) -> int:
    """The deletion epoch of a namespace as this transaction sees it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT deletion_epoch FROM tenants_namespace WHERE tenant_id = %s AND id = %s", [tenant_id, namespace_id])
        return int(cursor.fetchone()[0])


def still(tenant_id: UUID, namespace_id: UUID, *, epoch: int) -> bool:
    """Whether no deletion has been accepted for the namespace since this epoch; none will be until the commit of the caller."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_NAMESPACE, [tenant_id, namespace_id])
        return bool(cursor.fetchone() == (epoch,))


def write(tenant_id: UUID, namespace_id: UUID, embedder: Embedder, made: Sequence[Made]) -> None:
    """Store vectors of texts; after `still`, in its transaction.

    What was revoked or erased meanwhile is left out: the barrier is asked again under locks, in the same commit (VH-13).
    """
    if not made:
        return
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_MEMORIES, [tenant_id, namespace_id, sorted({one.memory_id for one in made})])
        living = [key for (key,) in cursor.fetchall()]
        rows = [
            {"memory_id": one.memory_id, "version": one.version, "content_id": one.content_id, "embedding": one.embedding}
            for one in made
        ]
        cursor.execute(
            _INSERT,
            {
                "tenant": tenant_id,
                "namespace": namespace_id,
                "embedder": embedder.name,
                "era": int(Layer.CURRENT),
                "dimension": embedder.dimension,
                "living": living,
                "rows": orjson.dumps(rows, default=str).decode(),
            },
        )


def embedded(tenant_id: UUID, embedder: str, memory_ids: Collection[UUID]) -> set[Numbered]:
    """Which versions of these memories have a vector of this embedder."""
    rows = Vector.objects.filter(tenant_id=tenant_id, embedder=embedder, memory_id__in=memory_ids)
    return set(rows.values_list("memory_id", "version"))


def settle(tenant_id: UUID, current: Mapping[UUID, Collection[int]], texts: Collection[Numbered]) -> None:
    """Move the vectors of these memories to the era of their version, and drop those of versions without words."""
    gone: list[Numbered] = []
    moved: dict[int, list[Numbered]] = {}
    rows = Vector.objects.filter(tenant_id=tenant_id, memory_id__in=list(current))
    for memory_id, version, era in set(rows.values_list("memory_id", "version", "era")):
        wanted = int(Layer.CURRENT if version in current[memory_id] else Layer.HISTORY)
        if (memory_id, version) not in texts:
            gone.append((memory_id, version))
        elif era != wanted:
            moved.setdefault(wanted, []).append((memory_id, version))
    drop(tenant_id, gone)
    for era, numbered in moved.items():
        _execute(
            "UPDATE retrieval_vector x SET era = %s FROM unnest(%s::uuid[], %s::int[]) AS v(memory_id, version) "
            "WHERE x.tenant_id = %s AND x.memory_id = v.memory_id AND x.version = v.version",
            [era, *_columns(numbered), tenant_id],
        )


def drop(tenant_id: UUID, numbered: Sequence[Numbered]) -> None:
    """Remove the vectors of these versions, whoever made them."""
    if numbered:
        _execute(
            "DELETE FROM retrieval_vector x USING unnest(%s::uuid[], %s::int[]) AS v(memory_id, version) "
            "WHERE x.tenant_id = %s AND x.memory_id = v.memory_id AND x.version = v.version",
            [*_columns(numbered), tenant_id],
        )


def keep_only(tenant_id: UUID, kept: Mapping[UUID, Collection[int]]) -> None:
    """Remove the vectors of every other version of these memories."""
    if kept:
        numbered = [(memory_id, version) for memory_id, versions in kept.items() for version in versions]
        _execute(
            "DELETE FROM retrieval_vector x WHERE x.tenant_id = %s AND x.memory_id = ANY(%s) AND NOT EXISTS ("
            "SELECT FROM unnest(%s::uuid[], %s::int[]) AS v(memory_id, version) "
            "WHERE v.memory_id = x.memory_id AND v.version = x.version)",
            [tenant_id, list(kept), *_columns(numbered)],
        )


def drop_others(tenant_id: UUID, namespace_id: UUID, embedder: str) -> int:
    """Remove what other embedders made of a namespace; with an empty name everything. Returns how many vectors that were."""
    rows = Vector.objects.filter(tenant_id=tenant_id, namespace_id=namespace_id).exclude(embedder=embedder)
    return rows.delete()[0]


def changed_since(tenant_id: UUID, namespace_id: UUID, revision: int, *, at_once: int) -> list[Memory]:
    """Memories of a namespace that changed after a revision, the earliest first, and never half of what one revision changed."""
    rows = Memory.objects.filter(tenant_id=tenant_id, namespace_id=namespace_id, updated_revision__gt=revision)
    rows = rows.order_by("updated_revision", "id")
    found = list(rows[:at_once])
    if len(found) == at_once:
        have = [memory.id for memory in found]
        found += rows.filter(updated_revision=found[-1].updated_revision).exclude(id__in=have)
    return found


def _columns(numbered: Iterable[Numbered]) -> tuple[list[UUID], list[int]]:
    rows = list(numbered)
    return [key for key, _ in rows], [number for _, number in rows]


def _execute(statement: str, values: Sequence[Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
