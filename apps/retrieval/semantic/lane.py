"""The semantic lane of a question: its vector, made while words are looked up, and the versions that are nearest to it.

Namespaces first: only those that the caller may read and the tenant has opened are searched, whatever is near elsewhere. What
takes too long, is down or is not installed costs the question this lane and nothing else; the packet says so.
"""

from __future__ import annotations

from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from apps.core import clock
from apps.retrieval.models.index import Layer
from apps.retrieval.semantic.embedders import Embedder, EmbedderError, Embedding, chosen
from apps.retrieval.semantic.permission import may_ask, scopes
from apps.retrieval.semantic.searching import EXACT_UP_TO, nearest_statement
from apps.retrieval.vocabulary import Mode

if TYPE_CHECKING:
    from concurrent.futures import Future
    from uuid import UUID

    from apps.retrieval.context import QueryContext
    from apps.tenants.access import Access

log = structlog.get_logger(__name__)

FEW: Final = 10  # of the nearest may enter by their meaning alone
NEIGHBOURS: Final = 25
STANDS_OUT: Final = 800  # permille of the middle distance of the neighbours; what it costs and brings: docs/benchmarks.md
_INDEX_EFFORT: Final = "SET LOCAL hnsw.iterative_scan = strict_order"


@dataclass(frozen=True, slots=True)
class Near:
    """One version with its place and its cosine distance from the question in permille; ``near``: it counts by that alone."""

    memory_id: UUID
    version: int
    rank: int
    distance: int
    near: bool


@dataclass(slots=True)
class Meaning:
    """The semantic side of one question. ``down``: why there is none although the tenant wants one; a code."""

    embedder: Embedder
    namespaces: frozenset[UUID]
    until: float
    work: Future[Embedding]
    down: str = ""
    found: dict[int, list[Near]] = field(default_factory=dict)

    def nearest(self, context: QueryContext, *, limit: int) -> list[Near]:
        """The versions nearest to the question, best first; none where the lane is down. Asked again, the vector is there."""
        if self.down or not self.namespaces & context.namespaces:
            return []
        if limit not in self.found:
            try:
                self.found[limit] = self._search(context, limit)
            except EmbedderError as trouble:
                self._give_up(trouble.code)
            except TooLate:
                self._give_up("embedder_slow")
            except DatabaseError:
                self._give_up("vectors_unreadable")
        return self.found.get(limit, [])

    def _search(self, context: QueryContext, limit: int) -> list[Near]:
        vector = self.work.result(max(0.0, self.until - clock.monotonic()))
        within = sorted(self.namespaces & context.namespaces)
        with transaction.atomic(), connection.cursor() as cursor:  # a savepoint: what fails here fails alone
            cursor.execute(_STATE, {"tenant": context.tenant_id, "namespaces": within, "ms": str(settings.SEMANTIC_MILLISECONDS)})
            documents, there = cursor.fetchone()[:2]
            if not there:
                raise EmbedderError("pgvector_missing")  # noqa: EM101 - a code
            if documents > EXACT_UP_TO:
                cursor.execute(_INDEX_EFFORT)
            eras = [int(Layer.CURRENT)]
            if context.mode is not Mode.CURRENT or context.as_of < context.asked_at:
                eras.append(int(Layer.HISTORY))
            statement = nearest_statement(self.embedder, indexed=documents > EXACT_UP_TO)
            cursor.execute(statement, [vector, context.tenant_id, within, eras, max(limit, NEIGHBOURS)])
            rows = cursor.fetchall()
            cursor.execute(_NO_LIMIT)
        found = [(memory_id, int(version), round(1000 * distance)) for memory_id, version, distance in rows]
        reach = reach_of(self.embedder, [distance for _, _, distance in found])
        return [
            Near(memory_id, version, rank, distance, near=rank <= FEW and distance <= reach)
            for rank, (memory_id, version, distance) in enumerate(found, start=1)
        ]

    def _give_up(self, code: str) -> None:
        self.work.cancel()  # if it has not begun, nobody waits for it any more
        log.warning("semantic_lane_down", code=code, embedder=self.embedder.name)
        self.down = code


_STATE = """
SELECT coalesce(sum(documents), 0), EXISTS (SELECT FROM pg_extension WHERE extname = 'vector'),
    set_config('statement_timeout', %(ms)s, true)
FROM retrieval_indexstate WHERE tenant_id = %(tenant)s AND namespace_id = ANY(%(namespaces)s)
"""
_NO_LIMIT = "SET LOCAL statement_timeout = DEFAULT"


def reach_of(embedder: Embedder, distances: list[int]) -> int:
    """The distance up to which a version is about the question by its meaning alone, given those of the nearest, in order.

    Near by itself, or standing out: texts of one kind lie close together, texts of many kinds far apart. So what is nearer than
    four fifths of the middle of its neighbours counts too, unless it is far by any measure.
    """
    neighbours = distances[:NEIGHBOURS]
    middle = neighbours[len(neighbours) // 2] if neighbours else 0
    return max(embedder.near, min(embedder.far, STANDS_OUT * middle // 1000))


def begin(access: Access, context: QueryContext) -> Meaning | None:
    """Start to embed the question, beside everything else; None where the lane is off for whoever asks here."""
    embedder = chosen()
    if embedder is None or not context.text:
        return None
    open_to = scopes(access, embedder)
    within = frozenset(grant.id for grant in access.namespaces if grant.id in context.namespaces and grant.scope in open_to)
    if not within or not may_ask(access, embedder, for_subject=access.subject_id is not None):
        return None
    seconds = settings.SEMANTIC_MILLISECONDS / 1000
    # What was asked stands last, and the end of a text that is too long is what an embedder reads.
    asked = "\n".join(part for part in (context.task, *context.bound, context.question) if part.strip())
    return Meaning(embedder, within, clock.monotonic() + seconds, embedder.question(asked or context.text, seconds=seconds))
