"""Recall: which memories of the allowed namespaces a question reaches, by which lane and at which rank.

The namespaces are the leading part of every index read here; nothing outside them is touched (RP-09, ID-24). Each lane is one
round trip.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError

from apps.core.prepared import fetch_prepared
from apps.retrieval.analysis import ANALYSIS_VERSION, query_terms, term_hashes
from apps.retrieval.fusion import competition_ranks
from apps.retrieval.lexical import IndexUnusableError, Statistics, best_hits, statistics
from apps.retrieval.models.index import Layer
from apps.retrieval.names import LONGEST, Called, called, label_key, name_key, question_keys, slips
from apps.retrieval.relevance import KnownTerms
from apps.retrieval.vocabulary import Lane, Mode, Trigger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from apps.retrieval.context import QueryContext
    from apps.retrieval.semantic.lane import Meaning

# A name or label that more versions carry tells them apart no better than any word: it finds nothing, it counts where words do.
NAMED_CAP = 20
# Versions that all names of one question may bring; those of the rarest names come first.
MOST_NAMED = 100
CONCLUSIONS = 20
_BEGINNINGS = frozenset({Trigger.SESSION_START, Trigger.COMPACTION})


@dataclass(slots=True)
class Found:
    """One version that lanes reached."""

    memory_id: UUID
    version: int | None  # None: whatever version holds at as_of
    lanes: dict[Lane, int] = field(default_factory=dict)
    matched_terms: int = 0
    matched_weight: int = 0
    distance: int | None = None  # from the question, in permille of cosine distance; where the semantic lane reached it
    near: bool = False  # near enough to be about the question by its meaning alone


@dataclass(frozen=True, slots=True)
class Recalled:
    """Everything that was reached, what the question may call it by, the statistics behind it, and whether words brought all."""

    found: tuple[Found, ...] = ()
    known: KnownTerms = field(default_factory=KnownTerms)
    called: Called = field(default_factory=Called)
    full: bool = False  # the lexical lane gave as many rows as it was asked for: there may be more
    without_meaning: bool = False  # the semantic lane is on here, and could not be asked


NOTHING_RECALLED = Recalled()


def recall(context: QueryContext, key: bytes, *, limit: int, meaning: Meaning | None = None) -> Recalled:
    """Run the lanes inside the context's namespaces; ``limit`` bounds the lexical and the semantic lane.

    ``key`` is that of the tenant's index. Lexical ranks are competition ranks over everything recalled, before any filter, so
    that they do not move with ``as_of``. Raises IndexUnusableError where words and names cannot be looked up.
    """
    if not context.namespaces:
        return Recalled()
    with _reading_the_index():
        by_words = _by_words(context, key, limit)
    return with_meaning(replace(by_words, found=(*by_words.found, *by_identity(context))), context, meaning, limit=limit)


def with_meaning(recalled: Recalled, context: QueryContext, meaning: Meaning | None, *, limit: int) -> Recalled:
    """What the other lanes reached, one row for each version, with what is near to the question."""
    near = meaning.nearest(context, limit=limit) if meaning is not None else []
    rows = [Found(one.memory_id, one.version, {Lane.SEMANTIC: one.rank}, distance=one.distance, near=one.near) for one in near]
    found = (*merged((*recalled.found, *rows)),)
    if meaning is None:
        return replace(recalled, found=found)
    return replace(recalled, found=found, without_meaning=bool(meaning.down))


def by_identity(context: QueryContext) -> list[Found]:
    """What the question means whatever it says, read from the memories themselves: asked keys, standing rules, conclusions."""
    lanes = ((Lane.EXACT, _exact(context)), (Lane.ALWAYS, _always(context)), (Lane.CONCLUSION, _conclusions(context)))
    return [Found(memory_id, None, {lane: rank}) for lane, ranks in lanes for memory_id, rank in ranks.items()]


def merged(rows: Iterable[Found]) -> list[Found]:
    """One row for each version reached; a lane that means a memory whatever it says belongs to all of its rows."""
    by_memory: dict[UUID, list[Found]] = defaultdict(list)
    meant: dict[UUID, dict[Lane, int]] = defaultdict(dict)
    for row in rows:
        if row.version is None:
            meant[row.memory_id].update(row.lanes)
            continue
        there = next((one for one in by_memory[row.memory_id] if one.version == row.version), None)
        if there is None:
            by_memory[row.memory_id].append(row)
        else:
            there.lanes.update(row.lanes)
            there.matched_terms = there.matched_terms or row.matched_terms
            there.matched_weight = there.matched_weight or row.matched_weight
            there.distance = row.distance if there.distance is None else there.distance
            there.near = there.near or row.near
    for memory_id, lanes in meant.items():
        for row in by_memory[memory_id] or [Found(memory_id, None)]:
            row.lanes.update(lanes)
            if row.version is None:
                by_memory[memory_id].append(row)
    return [row for versions in by_memory.values() for row in versions]


# -- lanes that read the memories


def _exact(context: QueryContext) -> dict[UUID, int]:
    """Memories whose fact key was asked for, ranked by the order of the keys."""
    if not context.fact_keys:
        return {}
    order = {key: place for place, key in enumerate(dict.fromkeys(context.fact_keys), start=1)}
    rows = fetch_prepared(_EXACT, [context.tenant_id, list(context.namespaces), list(order)])
    return {memory_id: order[key] for memory_id, key in rows}


def _always(context: QueryContext) -> dict[UUID, int]:
    """Memories with policy ``always``: with every question, whatever it is about, and at the beginnings that have none."""
    if context.trigger is Trigger.QUERY and not context.text:
        return {}
    return {memory_id: 1 for (memory_id,) in fetch_prepared(_ALWAYS, [context.tenant_id, list(context.namespaces)])}


def _conclusions(context: QueryContext) -> dict[UUID, int]:
    """A few key conclusions of the project for an agent that begins or goes on with nothing in its head (CR-01, CR-02)."""
    if context.trigger not in _BEGINNINGS or context.project_namespace is None:
        return {}
    rows = fetch_prepared(_CONCLUSIONS, [context.tenant_id, context.project_namespace, context.as_of, CONCLUSIONS])
    return {memory_id: rank for rank, (memory_id,) in enumerate(rows, start=1)}


_EXACT = "SELECT id, fact_key FROM memories_memory WHERE tenant_id = %s AND namespace_id = ANY(%s) AND fact_key = ANY(%s)"
_ALWAYS = """
SELECT id FROM memories_memory
WHERE tenant_id = %s AND namespace_id = ANY(%s) AND retrieval_policy = 'always' AND state = 'active' ORDER BY id
"""
# Settled decisions and findings, also the refuted ones: they spare a repeated search.
_CONCLUSIONS = """
SELECT m.id FROM memories_memory m JOIN memories_memoryversion v ON v.id = m.head_id
WHERE m.tenant_id = %s AND m.namespace_id = %s AND m.state = 'active' AND m.retrieval_policy = 'relevant'
    AND v.valid_from <= %s
    AND (m.memory_type = 'decision' OR (m.memory_type = 'finding' AND v.verdict IN ('supported', 'refuted')))
ORDER BY v.valid_from DESC, m.id DESC LIMIT %s
"""


# -- lanes that read the index


def _by_words(context: QueryContext, key: bytes, limit: int) -> Recalled:
    """The lexical and the named lane."""
    asked = query_terms(context.text)
    terms = asked.terms
    names = called(context.text)
    if not terms and not names.runs and not context.topics and not context.entities:
        return Recalled()
    eras = _eras(context)
    suspects = slips(names)
    hashes = term_hashes(key, dict.fromkeys((*terms, *suspects.values())))
    figures = statistics(context, eras, hashes.values())
    weights = figures.weights(context, {hashes[term]: times for term, times in zip(terms, asked.said, strict=True)})
    hits = best_hits(context, eras, weights, figures.frequencies, limit=limit) if weights else []
    ranks = competition_ranks({(hit.memory_id, hit.version): hit.weight for hit in hits})
    lexical = [
        Found(hit.memory_id, hit.version, {Lane.LEXICAL: ranks[(hit.memory_id, hit.version)]}, hit.matched, hit.weight)
        for hit in hits
    ]
    unknown = frozenset(word for word, term in suspects.items() if figures.frequencies.get(hashes[term], 0) == 0)
    names = replace(names, unknown=unknown)
    named = _named(context, key, eras, figures, names)
    known = KnownTerms(weights={term: weights[hashes[term]] for term in terms if hashes[term] in weights}, words=names.words)
    return Recalled((*lexical, *named), known, names, len(hits) >= limit)


def _named(context: QueryContext, key: bytes, eras: list[int], figures: Statistics, names: Called) -> list[Found]:
    """Versions that may be called by a name in the question, or carry a label of it; the authority decides whether they are."""
    if not figures.name_lengths:
        return []
    wanted = question_keys(names, figures.name_lengths)
    wanted |= {label_key("topic", label) for label in context.topics} | {label_key("entity", label) for label in context.entities}
    if not wanted:
        return []
    rows = _holding_names(context, eras, term_hashes(key, wanted).values())
    holders: dict[int, list[tuple[UUID, int]]] = defaultdict(list)
    for name, memory_id, version in rows:
        holders[name].append((memory_id, int(version)))
    reached: dict[tuple[UUID, int], None] = {}
    for _, versions in sorted(holders.items(), key=lambda entry: (len(entry[1]), entry[0])):
        if len(versions) <= NAMED_CAP:
            reached.update(dict.fromkeys(versions))
    return [Found(memory_id, version, {Lane.NAMED: 1}) for memory_id, version in list(reached)[:MOST_NAMED]]


def names_reached(context: QueryContext, key: bytes) -> list[str]:
    """Stretches of the question that are the whole name of a memory in scope, as they are written there; no memory is read."""
    eras = _eras(context)
    with _reading_the_index():
        # An index of another analysis gives a decision without names; recall will say what is wrong.
        [(lengths,)] = fetch_prepared(_LENGTHS, [context.tenant_id, list(context.namespaces), str(ANALYSIS_VERSION)])
        words = called(context.text)
        known = [length for length in range(1, LONGEST + 1) if lengths >> length & 1]
        spelled = {name_key(window): window for length in known for window in words.windows(length)}
        if not spelled:
            return []
        hashes = term_hashes(key, spelled)
        holders = Counter(name for name, _, _ in _holding_names(context, eras, hashes.values()))
    return [" ".join(token.raw for token in spelled[text]) for text, name in hashes.items() if 0 < holders[name] <= NAMED_CAP]


@contextmanager
def _reading_the_index() -> Iterator[None]:
    """What the database cannot read of the index is no fault of the memories: they may still be read without it."""
    try:
        yield
    except DatabaseError as trouble:
        raise IndexUnusableError from trouble


def _eras(context: QueryContext) -> list[int]:
    return [int(Layer.CURRENT)] if context.mode is Mode.CURRENT and context.as_of >= context.asked_at else [0, 1]


def _holding_names(context: QueryContext, eras: list[int], names: Iterable[int]) -> list[tuple[Any, ...]]:
    """Name, memory and version, at most one more than counts for each name."""
    return fetch_prepared(
        _NAMED,
        {
            "tenant": context.tenant_id,
            "namespaces": list(context.namespaces),
            "layers": [int(Layer.NAMES | era) for era in eras],
            "names": sorted(set(names)),
            "beyond": NAMED_CAP + 1,
        },
    )


_LENGTHS = """
SELECT coalesce(bit_or(name_lengths), 0) FROM retrieval_indexstate
WHERE tenant_id = %s AND namespace_id = ANY(%s) AND analysis_version = %s
"""
_NAMED = """
SELECT n.name, p.memory_id, p.version
FROM retrieval_indexstate i
CROSS JOIN unnest(%(layers)s::smallint[]) AS l(layer)
CROSS JOIN unnest(%(names)s::bigint[]) AS n(name)
CROSS JOIN LATERAL (
    SELECT memory_id, version FROM retrieval_posting
    WHERE tenant_id = %(tenant)s AND generation = i.generation AND namespace_id = i.namespace_id AND layer = l.layer
        AND term = n.name
    ORDER BY memory_id DESC, version DESC LIMIT %(beyond)s::bigint
) p
WHERE i.tenant_id = %(tenant)s AND i.namespace_id = ANY(%(namespaces)s::uuid[]) AND i.name_lengths <> 0
"""
