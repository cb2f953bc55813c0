"""Recall without the index: the newest memories of the same scope, read and searched as they are (FF-03).

For the time in which the index cannot be used. Words and names are matched by the same rules, rarity is counted among what was
read, and the packet says that it was made so. Never wider than the scope, and bounded: an old memory that only its words could
find may be missed until the index is back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.core.prepared import fetch_prepared
from apps.memories.heads import held_at, readable_heads
from apps.memories.texts import texts_of
from apps.retrieval.analysis import index_terms, query_terms
from apps.retrieval.fusion import competition_ranks, term_weight
from apps.retrieval.names import called, names_in, names_of, strength
from apps.retrieval.recall import Found, Recalled, by_identity, merged
from apps.retrieval.relevance import KnownTerms
from apps.retrieval.vocabulary import Lane, Mode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from apps.memories.heads import HeadVersion
    from apps.memories.projections import IndexedText
    from apps.retrieval.context import QueryContext
    from apps.retrieval.names import Called
    from apps.tenants.access import Access

READ = 1_000  # memories

_NEWEST = """
SELECT id FROM memories_memory
WHERE tenant_id = %s AND namespace_id = ANY(%s) AND state = ANY(%s) AND retrieval_policy <> 'never' ORDER BY id DESC LIMIT %s
"""
_LIVING = ["active", "needs_review"]
_PAST = [*_LIVING, "superseded", "withdrawn", "archived"]


def recall_from_memories(access: Access, context: QueryContext) -> Recalled:
    """The lanes that need no index, and words and names of the newest memories of the scope."""
    if not context.namespaces:
        return Recalled()
    words = called(context.text)
    versions = _versions(access, context) if context.text or context.topics or context.entities else {}
    texts = texts_of(context.tenant_id, [version for version, _ in versions.values()])
    held = {key: index_terms(f"{text.content}\n{text.rationale or ''}") for key, text in texts.items()}
    weights = _weights(context, held)
    scores = {key: score for key, terms in held.items() if (score := sum(weights[term] for term in terms & weights.keys()))}
    ranks = competition_ranks(scores)
    rows = []
    for key, (version, fact_key) in versions.items():
        lanes = {Lane.LEXICAL: ranks[key]} if key in ranks else {}
        if key in texts and _may_be_called(context, words, version, fact_key, texts[key]):
            lanes[Lane.NAMED] = 1
        if lanes:
            matched = len(held[key] & weights.keys())
            rows.append(Found(version.memory_id, version.version, lanes, matched, scores.get(key, 0)))
    return Recalled(tuple(merged((*rows, *by_identity(context)))), KnownTerms(weights=weights, words=words.words), words)


def _versions(access: Access, context: QueryContext) -> dict[UUID, tuple[HeadVersion, str]]:
    """Heads, and what held before them, by primary key, with the key of their fact."""
    states = _PAST if context.mode is Mode.HISTORY else _LIVING
    rows = fetch_prepared(_NEWEST, [context.tenant_id, list(context.namespaces), states, READ])
    memories = {one.id: one for one in readable_heads(access, [key for (key,) in rows], context.namespaces)}
    found: dict[UUID, tuple[HeadVersion, str]] = {one.head.id: (one.head, one.fact_key) for one in memories.values()}
    for version in held_at(context.tenant_id, list(memories), context.as_of).values():
        found[version.id] = (version, memories[version.memory_id].fact_key)
    return found


def _weights(context: QueryContext, held: Mapping[UUID, frozenset[str]]) -> dict[str, int]:
    asked = query_terms(context.text)
    return {
        term: term_weight(context.profile, count, len(held), said=times)
        for term, times in zip(asked.terms, asked.said, strict=True)
        if (count := sum(term in terms for terms in held.values()))
    }


def _may_be_called(context: QueryContext, words: Called, version: HeadVersion, fact_key: str, text: IndexedText) -> bool:
    """By a name or label in the question; slips are left to the index."""
    labels = {*version.topics, *version.entities}
    if not labels.isdisjoint({*context.topics, *context.entities}):
        return True
    return strength(words, (*names_of(fact_key, text.aliases), *names_in(labels))) > 0
