"""The words of a recorded question, shown to a person who may read where they are kept, for a purpose, audited (ID-35)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from apps.audits import log
from apps.core.errors import NotPermitted
from apps.evidence.models import Content
from apps.memories.revealing import Purpose, may_reveal
from apps.retrieval.replay import trace_for_staff, words_of
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from apps.retrieval.models import RetrievalTrace
    from apps.tenants.access import Access


@dataclass(frozen=True, slots=True)
class WordsAsked:
    """What was asked, in words; ``erased`` when they are gone."""

    task: str = ""
    question: str = ""
    window: tuple[tuple[str, str], ...] = ()  # role and text
    attachments: tuple[tuple[str, str], ...] = ()  # media type and text
    environment: Mapping[str, Any] = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    fact_keys: tuple[str, ...] = ()
    erased: bool = False


def may_read_question(access: Access, trace: RetrievalTrace) -> bool:
    """Whether a person may see the words of a trace: they are kept in a namespace, mostly in that of the person who asked."""
    return may_reveal(access) and _place(trace) in access.readable


def reveal_question(access: Access, trace_id: str, *, purpose: Purpose) -> WordsAsked:
    """What a trace was asked; audited. Raises NotPermitted (a role or a namespace that gives no text) and NotFound."""
    with tenant_transaction(access):
        trace = trace_for_staff(access, trace_id)
        if not may_read_question(access, trace):
            raise NotPermitted
        words = words_of(trace)
        log.record(access, "content.revealed", "trace", trace_id, namespace_id=_place(trace), codes=[purpose])
    if words is None:
        return WordsAsked(erased=True)
    return WordsAsked(
        task=words["task"],
        question=words["question"],
        window=tuple((turn["role"], turn["content"]) for turn in words["window"]),
        attachments=tuple((one["media_type"], one["content"]) for one in words["attachments"]),
        environment=words["environment"],
        topics=tuple(words["topics"]),
        entities=tuple(words["entities"]),
        fact_keys=tuple(words["fact_keys"]),
    )


def _place(trace: RetrievalTrace) -> UUID | None:
    if trace.request_id is None:
        return None
    rows = Content.objects.filter(tenant_id=trace.tenant_id, pk=trace.request_id)
    return rows.values_list("namespace_id", flat=True).first()
