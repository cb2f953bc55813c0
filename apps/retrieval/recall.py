"""Recall: which memories of the allowed namespaces a question reaches, by which lane and at which rank.

The namespaces are the leading part of every index read here; nothing outside them is touched (RP-09, ID-24). Each lane is one
round trip.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from apps.core.prepared import fetch_prepared
from apps.memories.models import Memory, RetrievalPolicy
from apps.retrieval.analysis import query_terms, term_hash
from apps.retrieval.fusion import competition_ranks, term_weight
from apps.retrieval.models.index import Layer
from apps.retrieval.relevance import KnownTerms
from apps.retrieval.vocabulary import Lane, Mode, Trigger

if TYPE_CHECKING:
    from uuid import UUID

    from apps.retrieval.context import QueryContext

# A term in more versions than this does not find anything by itself: it only re-scores what rarer terms found.
FREQUENCY_CAP = 3_000
# How many of the best are re-scored with the frequent terms before the cut.
RESCORED = 1_000


@dataclass(slots=True)
class Found:
    """One version that lanes reached."""

    memory_id: UUID
    version: int | None  # None: whatever version holds at as_of
    lanes: dict[Lane, int] = field(default_factory=dict)
    matched_terms: int = 0
    matched_weight: int = 0


@dataclass(frozen=True, slots=True)
class Recalled:
    """Everything that was reached, the lexical statistics behind it, and whether the lexical lane was cut off."""

    found: tuple[Found, ...]
    known: KnownTerms
    full: bool  # the lexical lane gave as many rows as it was asked for: there may be more


NOTHING_RECALLED = Recalled((), KnownTerms(count=0, weight=0), full=False)


def recall(context: QueryContext, key: bytes, *, limit: int) -> Recalled:
    """Run the lanes inside the context's namespaces; ``limit`` bounds the lexical lane only.

    ``key`` is that of the tenant's index. Lexical ranks are competition ranks over everything recalled, before any filter, so
    that they do not move with ``as_of``.
    """
    by_memory: dict[UUID, list[Found]] = {}
    lexical, known = _lexical(context, key, limit)
    for row in lexical:
        by_memory.setdefault(row.memory_id, []).append(row)
    for lane, memory_ids in ((Lane.EXACT, _exact(context)), (Lane.ALWAYS, _always(context))):
        for memory_id, rank in memory_ids.items():
            rows = by_memory.setdefault(memory_id, [])
            if not rows:
                rows.append(Found(memory_id, None))
            for row in rows:
                row.lanes[lane] = rank
    return Recalled(tuple(row for rows in by_memory.values() for row in rows), known, len(lexical) >= limit)


def _exact(context: QueryContext) -> dict[UUID, int]:
    """Memories whose fact key was asked for, ranked by the order of the keys."""
    if not context.fact_keys:
        return {}
    order = {key: place for place, key in enumerate(dict.fromkeys(context.fact_keys), start=1)}
    rows = Memory.objects.filter(
        tenant_id=context.tenant_id, namespace_id__in=list(context.namespaces), fact_key__in=list(order)
    ).values_list("id", "fact_key")
    return {memory_id: order[key] for memory_id, key in rows}


def _always(context: QueryContext) -> dict[UUID, int]:
    """Memories with policy ``always``: candidates of every trigger but a plain question, where they must match like others."""
    if context.trigger == Trigger.QUERY:
        return {}
    rows = (
        Memory.objects.filter(
            tenant_id=context.tenant_id,
            namespace_id__in=list(context.namespaces),
            retrieval_policy=RetrievalPolicy.ALWAYS,
            state=Memory.State.ACTIVE,
        )
        .order_by("id")
        .values_list("id", flat=True)
    )
    return dict.fromkeys(rows, 1)


def _lexical(context: QueryContext, key: bytes, limit: int) -> tuple[list[Found], KnownTerms]:
    words = query_terms(context.text).terms if context.text else ()
    namespaces = list(context.namespaces)
    if not words or not namespaces:
        return [], KnownTerms(count=0, weight=0)
    hashes = [term_hash(key, word) for word in words]
    layers = [int(Layer.CURRENT)] if context.mode == Mode.CURRENT and context.as_of >= context.asked_at else [0, 1]
    documents, frequencies = _statistics(context.tenant_id, namespaces, layers, hashes)
    weights = {
        term: term_weight(context.profile, frequency, documents) for term, frequency in frequencies.items() if frequency > 0
    }
    known = KnownTerms.of(weights.values())
    if not weights:
        return [], known
    rarest_first = sorted(weights, key=lambda term: (frequencies[term], term))
    driving = [term for term in rarest_first if frequencies[term] <= FREQUENCY_CAP] or rarest_first[:1]
    rescoring = [term for term in rarest_first if term not in set(driving)]
    rows = _scores(context.tenant_id, namespaces, layers, weights, driving, rescoring, limit)
    ranks = competition_ranks({(memory_id, version): weight for memory_id, version, _, weight in rows})
    found = [
        Found(memory_id, version, {Lane.LEXICAL: ranks[(memory_id, version)]}, matched, weight)
        for memory_id, version, matched, weight in rows
    ]
    return found, known


def _statistics(tenant_id: UUID, namespaces: list[UUID], layers: list[int], hashes: list[int]) -> tuple[int, dict[int, int]]:
    """Number of documents in scope, and of those that hold each term; read inside the allowed namespaces only."""
    rows = fetch_prepared(
        _STATISTICS,
        {"tenant": tenant_id, "namespaces": namespaces, "layers": layers, "terms": hashes, "history": len(layers) > 1},
    )
    return int(rows[0][1]), {int(term): int(count) for term, count in rows[1:]}


_STATISTICS = """
SELECT NULL::bigint, coalesce(sum(documents + CASE WHEN %(history)s::bool THEN history_documents ELSE 0 END), 0)
FROM retrieval_indexstate WHERE tenant_id = %(tenant)s AND namespace_id = ANY(%(namespaces)s::uuid[])
UNION ALL
SELECT t.term, sum(t.documents) FROM retrieval_indexstate i
JOIN retrieval_termstat t ON t.tenant_id = i.tenant_id AND t.generation = i.generation AND t.namespace_id = i.namespace_id
    AND t.layer = ANY(%(layers)s::smallint[]) AND t.term = ANY(%(terms)s::bigint[])
WHERE i.tenant_id = %(tenant)s AND i.namespace_id = ANY(%(namespaces)s::uuid[]) GROUP BY t.term
"""

_SCORES = """
WITH scope AS (
    SELECT namespace_id, generation FROM retrieval_indexstate
    WHERE tenant_id = %(tenant)s AND namespace_id = ANY(%(namespaces)s::uuid[])
), driven AS (
    SELECT p.memory_id, p.version, p.namespace_id, p.generation, p.layer, count(*) AS matched, sum(w.weight) AS weight
    FROM scope s
    CROSS JOIN unnest(%(layers)s::smallint[]) AS l(layer)
    CROSS JOIN unnest(%(driving)s::bigint[], %(driving_weights)s::bigint[]) AS w(term, weight)
    JOIN retrieval_posting p ON p.tenant_id = %(tenant)s AND p.generation = s.generation AND p.namespace_id = s.namespace_id
        AND p.layer = l.layer AND p.term = w.term
    GROUP BY p.memory_id, p.version, p.namespace_id, p.generation, p.layer
), best AS (
    SELECT * FROM driven ORDER BY weight DESC, memory_id DESC, version DESC LIMIT %(kept)s::bigint
)
SELECT b.memory_id, b.version, b.matched + coalesce(r.matched, 0), b.weight + coalesce(r.weight, 0)
FROM best b
LEFT JOIN LATERAL (
    SELECT count(*) AS matched, sum(w.weight) AS weight
    FROM unnest(%(rescoring)s::bigint[], %(rescoring_weights)s::bigint[]) AS w(term, weight)
    JOIN retrieval_posting p ON p.tenant_id = %(tenant)s AND p.generation = b.generation AND p.namespace_id = b.namespace_id
        AND p.layer = b.layer AND p.term = w.term AND p.memory_id = b.memory_id AND p.version = b.version
) r ON true
ORDER BY 4 DESC, 1 DESC, 2 DESC LIMIT %(limit)s::bigint
"""


def _scores(
    tenant_id: UUID,
    namespaces: list[UUID],
    layers: list[int],
    weights: dict[int, int],
    driving: list[int],
    rescoring: list[int],
    limit: int,
) -> list[tuple[UUID, int, int, int]]:
    rows = fetch_prepared(
        _SCORES,
        {
            "tenant": tenant_id,
            "namespaces": namespaces,
            "layers": layers,
            "driving": driving,
            "driving_weights": [weights[term] for term in driving],
            "rescoring": rescoring,
            "rescoring_weights": [weights[term] for term in rescoring],
            "kept": max(limit, RESCORED) if rescoring else limit,
            "limit": limit,
        },
    )
    return [(row[0], int(row[1]), int(row[2]), int(row[3])) for row in rows]
