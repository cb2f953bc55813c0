"""The lexical lane: which versions share words with a question, weighed by rarity inside the allowed scope (design/04).

Rare words drive. A version that holds only the commoner words of the question cannot come among the best, as soon as what those
words weigh together is less than what enough versions have from a rarer word alone; such words find nothing, they re-score
what rarer words found (the bound of MaxScore: frequencies are known before anything is read, so the answer stays exact). What
drives is also bounded in rows, so that a question of common words costs no more than another; past that bound only the newest
versions are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.core.prepared import fetch_prepared
from apps.retrieval.analysis import ANALYSIS_VERSION
from apps.retrieval.fusion import term_weight

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from apps.retrieval.context import QueryContext

# Rows that driving terms may bring together; a term that goes beyond only re-scores.
DRIVEN = 8_000


class IndexUnusableError(RuntimeError):
    """The index of an allowed namespace is missing or was made by another analysis: what it says is no basis for an answer."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of the allowed scope: its versions, those that hold each known term, and the lengths of names as bits."""

    documents: int
    frequencies: Mapping[int, int]
    name_lengths: int

    def weights(self, context: QueryContext, said: Mapping[int, int]) -> dict[int, int]:
        """What each term of the question weighs, those nobody in scope uses left out; ``said`` is how often it stands there."""
        return {
            term: term_weight(context.profile, count, self.documents, said=times)
            for term, times in said.items()
            if (count := self.frequencies.get(term, 0)) > 0
        }


@dataclass(frozen=True, slots=True)
class Hit:
    """One version with the terms of the question that it holds."""

    memory_id: UUID
    version: int
    matched: int
    weight: int


def statistics(context: QueryContext, layers: Sequence[int], terms: Collection[int]) -> Statistics:
    """Read the statistics of the allowed namespaces, and only theirs. Raises IndexUnusableError."""
    rows = fetch_prepared(
        _STATISTICS,
        {
            "tenant": context.tenant_id,
            "namespaces": list(context.namespaces),
            "layers": list(layers),
            "terms": list(terms),
            "history": len(layers) > 1,
            "analysis": str(ANALYSIS_VERSION),
        },
    )
    (_, documents, lengths, usable), counted = rows[0], rows[1:]
    if not usable:
        raise IndexUnusableError
    return Statistics(int(documents), {int(row[0]): int(row[1]) for row in counted}, int(lengths))


def best_hits(
    context: QueryContext, layers: Sequence[int], weights: Mapping[int, int], frequencies: Mapping[int, int], *, limit: int
) -> list[Hit]:
    """The ``limit`` versions with the greatest weight of shared terms; equal weights are ordered by id, newest first."""
    driving, rescoring = split(weights, frequencies, limit)
    rows = fetch_prepared(
        _SCORES,
        {
            "tenant": context.tenant_id,
            "namespaces": list(context.namespaces),
            "layers": list(layers),
            "driving": driving,
            "driving_weights": [weights[term] for term in driving],
            "rescoring": rescoring,
            "rescoring_weights": [weights[term] for term in rescoring],
            "slack": sum(weights[term] for term in rescoring),
            "driven": DRIVEN,
            "limit": limit,
        },
    )
    return [Hit(row[0], int(row[1]), int(row[2]), int(row[3])) for row in rows]


def split(weights: Mapping[int, int], frequencies: Mapping[int, int], limit: int) -> tuple[list[int], list[int]]:
    """The terms that find, rarest first, and those that only re-score."""
    ordered = sorted(weights, key=lambda term: (frequencies[term], term))
    # As many versions as are wanted hold this term, so none of the wanted ones weighs less than it.
    floor = next((weights[term] for term in ordered if frequencies[term] >= limit), 0)
    needed, rest = len(ordered), 0
    while needed > 1 and rest + weights[ordered[needed - 1]] < floor:
        needed -= 1
        rest += weights[ordered[needed]]
    driving, rows = ordered[:1], frequencies[ordered[0]]
    for term in ordered[1:needed]:
        rows += frequencies[term]
        if rows > DRIVEN:
            break
        driving.append(term)
    return driving, ordered[len(driving) :]


# The second branch counts; the first also says whether every namespace that has something to find has an index of this analysis.
_STATISTICS = """
SELECT NULL::bigint, coalesce(sum(documents + CASE WHEN %(history)s::bool THEN history_documents ELSE 0 END), 0),
    coalesce(bit_or(name_lengths), 0),
    coalesce(bool_and(analysis_version = %(analysis)s), true) AND NOT EXISTS (
        SELECT FROM unnest(%(namespaces)s::uuid[]) AS n(id)
        WHERE NOT EXISTS (SELECT FROM retrieval_indexstate s WHERE s.tenant_id = %(tenant)s AND s.namespace_id = n.id)
            AND EXISTS (
                SELECT FROM memories_memory m WHERE m.tenant_id = %(tenant)s AND m.namespace_id = n.id
                    AND m.state = 'active' AND m.head_id IS NOT NULL
            )
    )
FROM retrieval_indexstate WHERE tenant_id = %(tenant)s AND namespace_id = ANY(%(namespaces)s::uuid[])
UNION ALL
SELECT t.term, sum(t.documents), NULL, NULL FROM retrieval_indexstate i
JOIN retrieval_termstat t ON t.tenant_id = i.tenant_id AND t.generation = i.generation AND t.namespace_id = i.namespace_id
    AND t.layer = ANY(%(layers)s::smallint[]) AND t.term = ANY(%(terms)s::bigint[])
WHERE i.tenant_id = %(tenant)s AND i.namespace_id = ANY(%(namespaces)s::uuid[]) GROUP BY t.term
"""

# Each LATERAL is one look into the index under one namespace, layer and term; OFFSET and LIMIT keep the planner from reading a
# term across namespaces instead. Ids of what is kept go into the index as one sorted list, for a fraction of the cost of a join.
_SCORES = """
WITH scope AS MATERIALIZED (
    SELECT i.namespace_id, i.generation, l.layer FROM retrieval_indexstate i CROSS JOIN unnest(%(layers)s::smallint[]) AS l(layer)
    WHERE i.tenant_id = %(tenant)s AND i.namespace_id = ANY(%(namespaces)s::uuid[])
), driven AS MATERIALIZED (
    SELECT p.memory_id, p.version, count(*)::int AS matched, sum(w.weight) AS weight
    FROM scope s
    CROSS JOIN unnest(%(driving)s::bigint[], %(driving_weights)s::int[]) AS w(term, weight)
    CROSS JOIN LATERAL (
        SELECT memory_id, version FROM retrieval_posting
        WHERE tenant_id = %(tenant)s AND generation = s.generation AND namespace_id = s.namespace_id AND layer = s.layer
            AND term = w.term
        ORDER BY memory_id DESC, version DESC LIMIT %(driven)s::bigint
    ) p
    GROUP BY p.memory_id, p.version
), kept AS MATERIALIZED (
    SELECT * FROM driven
    WHERE weight + %(slack)s::bigint
        >= (SELECT coalesce(min(weight), 0) FROM (SELECT weight FROM driven ORDER BY weight DESC LIMIT %(limit)s::bigint) best)
), among AS MATERIALIZED (
    SELECT array_agg(memory_id) AS ids FROM kept
)
SELECT memory_id, version, sum(matched), sum(weight)::bigint
FROM (
    SELECT memory_id, version, matched, weight, true AS found FROM kept
    UNION ALL
    SELECT p.memory_id, p.version, 1, w.weight, false
    FROM scope s
    CROSS JOIN unnest(%(rescoring)s::bigint[], %(rescoring_weights)s::int[]) AS w(term, weight)
    CROSS JOIN LATERAL (
        SELECT memory_id, version FROM retrieval_posting
        WHERE tenant_id = %(tenant)s AND generation = s.generation AND namespace_id = s.namespace_id AND layer = s.layer
            AND term = w.term AND memory_id = ANY((SELECT ids FROM among)::uuid[])
        OFFSET 0
    ) p
) held
GROUP BY memory_id, version HAVING bool_or(found)
ORDER BY 4 DESC, 1 DESC, 2 DESC LIMIT %(limit)s::bigint
"""
