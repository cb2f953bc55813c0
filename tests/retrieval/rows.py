"""Rows and questions for tests of pure rules: everything has a sensible default, a test names only what it is about."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from apps.retrieval.analysis import index_terms, query_terms
from apps.retrieval.context import Budget, Candidate, QueryContext, Recall
from apps.retrieval.fusion import competition_ranks, term_weight
from apps.retrieval.names import called
from apps.retrieval.relevance import KnownTerms
from apps.retrieval.selection import Selection, select
from apps.retrieval.vocabulary import BudgetUnit, Lane, Profile

TENANT = UUID(int=1)
HERE = UUID(int=2)
ELSEWHERE = UUID(int=3)
NOW = datetime(2026, 6, 1, tzinfo=UTC)
SINCE = datetime(2024, 1, 1, tzinfo=UTC)
PLENTY = Budget(limit=100_000, unit=BudgetUnit.CODEPOINTS)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def name(number: int) -> str:
    return f"mem_{number:026d}"


def row(number: int = 1, content: str = "The lamp is warm", **fields: Any) -> Candidate:
    given = {
        "memory_id": UUID(int=number),
        "public_id": name(number),
        "version": 1,
        "namespace_id": HERE,
        "scope": "user",
        "scope_id": "alice",
        "memory_type": "fact",
        "content": content,
        "state": "active",
        "epistemic_status": "explicit",
        "valid_from": SINCE,
        "source_refs": ("evt-1",),
    }
    return Candidate(**(given | fields))


def asked(question: str = "lamp", **fields: Any) -> QueryContext:
    given = {
        "tenant_id": TENANT,
        "namespaces": frozenset({HERE}),
        "as_of": NOW,
        "asked_at": NOW,
        "question": question,
        "budget": PLENTY,
        "max_items": 20,
    }
    return QueryContext(**(given | fields))


def recalled(rows: list[Candidate], question: str, profile: Profile = Profile.IDF) -> tuple[list[Candidate], KnownTerms]:
    """The rows with a lexical lane worked out in memory, as the database works it out."""
    from dataclasses import replace

    asked = query_terms(question)
    said = dict(zip(asked.terms, asked.said, strict=True))
    held = {item.key: index_terms(f"{item.content}\n{item.rationale or ''}") for item in rows}
    frequency = {term: sum(term in held[key] for key in held) for term in said}
    weights = {term: term_weight(profile, count, len(rows), said=said[term]) for term, count in frequency.items() if count}
    shared = {key: [term for term in weights if term in held[key]] for key in held}
    scores = {key: sum(weights[term] for term in found) for key, found in shared.items() if found}
    ranks = competition_ranks(scores)
    found = [
        replace(
            item,
            recall=Recall(
                lanes={**item.recall.lanes, Lane.LEXICAL: ranks[item.key]},
                matched_terms=len(shared[item.key]),
                matched_weight=scores[item.key],
            ),
        )
        for item in rows
        if item.key in ranks and item.successor is None
    ]
    companions = [item for item in rows if item.key not in {other.key for other in found}]
    return found + companions, KnownTerms(weights=weights, words=called(question).words)


def ask(rows: list[Candidate], question: str = "lamp", **fields: Any) -> Selection:
    context = asked(question, **fields)
    found, known = recalled(rows, context.text, context.profile)
    return select(context, found, known)


def contents(selection: Selection) -> list[str]:
    return [item.candidate.content for item in selection.chosen]


def reasons(selection: Selection) -> dict[str, str]:
    return {entry.candidate.public_id: entry.reason.value for entry in selection.rejected}
