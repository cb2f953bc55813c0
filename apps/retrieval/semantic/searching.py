"""What the database needs to compare vectors: the extension, and for a large scope an index (design/04).

Only the owner of the tables makes either, and only when asked: never in a query, never in a migration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db import DatabaseError, connection

from apps.core.canonical import sha256_hex
from apps.core.isolation import system_context
from apps.retrieval.semantic.embedders import is_name

if TYPE_CHECKING:
    from apps.retrieval.semantic.embedders import Embedder

EXACT_UP_TO: Final = 20_000  # versions in scope that are compared one by one; above, the planner may use an index
_INDEX_NAME: Final = "vector_near_"
_DIGITS: Final = 12


def ensure_extension() -> bool:
    """Whether pgvector is in this database; it is added if our login may do that."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'")
        if cursor.fetchone() is not None:
            return True
        try:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except DatabaseError:  # not installed on that server, or only for its superuser
            return False
    return True


def nearest_statement(embedder: Embedder, *, indexed: bool) -> str:
    """Versions of some namespaces, nearest first: vector, tenant, namespaces, eras, limit.

    Compared one by one, equal distances are ordered by id. What an index can serve is written as the index is: the type with its
    dimension, the name as it is.
    """
    kind = f"vector({embedder.dimension})" if indexed else "vector"
    return f"""
SELECT memory_id, version, embedding::{kind} <=> (SELECT %s::real[]::{kind}) AS distance
FROM retrieval_vector
WHERE tenant_id = %s AND namespace_id = ANY(%s) AND embedder = '{_literal(embedder)}' AND era = ANY(%s)
ORDER BY distance{"" if indexed else ", memory_id, version"} LIMIT %s
"""  # noqa: S608 - a checked name and a number


def ensure_index(embedder: Embedder) -> bool:
    """The graph index of an embedder, once a tenant has more vectors than are compared one by one; whether there is one.

    Made beside running queries and writes; indexes of other embedders go.
    """
    name = _INDEX_NAME + sha256_hex(embedder.name)[:_DIGITS]
    with system_context():
        most = _most_vectors(embedder)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "WHERE i.indrelid = 'retrieval_vector'::regclass AND c.relname LIKE %s AND (c.relname <> %s OR NOT i.indisvalid)",
            [_INDEX_NAME + "%", name],
        )
        for (old,) in cursor.fetchall():
            cursor.execute(f'DROP INDEX CONCURRENTLY IF EXISTS "{old}"')
        if most <= EXACT_UP_TO:
            return False
        cursor.execute(
            f'CREATE INDEX CONCURRENTLY IF NOT EXISTS "{name}" ON retrieval_vector '
            f"USING hnsw ((embedding::vector({embedder.dimension})) vector_cosine_ops) "
            f"WHERE embedder = '{_literal(embedder)}'"
        )
    return True


def _most_vectors(embedder: Embedder) -> int:
    """How many vectors of an embedder the tenant with the most of them has."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(max(n), 0) FROM "
            "(SELECT count(*) AS n FROM retrieval_vector WHERE embedder = %s GROUP BY tenant_id) t",
            [embedder.name],
        )
        return int(cursor.fetchone()[0])


def _literal(embedder: Embedder) -> str:
    if not is_name(embedder.name):
        msg = "an embedder's name has up to 64 small letters, digits and _ . @ -"
        raise ValueError(msg)
    return embedder.name
