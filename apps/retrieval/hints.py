"""What a question is labelled with: the hints that came with it, and the labels that its own words name (LB-02, LB-11)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.memories.labels import SECTIONS, resolve_hints, vocabulary
from apps.retrieval.names import called, labels_in
from apps.retrieval.packet import Hint
from apps.retrieval.vocabulary import WarningCode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from apps.retrieval.context import QueryContext
    from apps.retrieval.question import Question


@dataclass(frozen=True, slots=True)
class Labels:
    """The hints as canonical keys, a warning for each that is no label, and every spelling of the tenant's labels by kind."""

    topics: tuple[str, ...]
    entities: tuple[str, ...]
    warnings: tuple[Hint, ...]
    spellings: Mapping[str, Mapping[str, str]]

    def named_in(self, context: QueryContext) -> QueryContext:
        """The context with the labels that its words name behind the hints."""
        words = called(context.text) if any(self.spellings.values()) else called("")
        topics, entities = (labels_in(words, self.spellings[kind]) for _, kind in SECTIONS)
        if not topics and not entities:
            return context
        return replace(
            context,
            topics=tuple(dict.fromkeys((*context.topics, *topics))),
            entities=tuple(dict.fromkeys((*context.entities, *entities))),
        )


def labels_of(tenant_id: UUID, question: Question, *, exist: bool) -> Labels:
    """The labels that a question was given; ``exist`` says whether the tenant has any, which spares most tenants the look."""
    spellings: Mapping[str, Mapping[str, str]] = vocabulary(tenant_id) if exist else {kind: {} for _, kind in SECTIONS}
    known: dict[str, tuple[str, ...]] = {}
    warnings: list[Hint] = []
    for (section, kind), given in zip(SECTIONS, (question.topics, question.entities), strict=True):
        hints = resolve_hints(spellings[kind], given)
        known[section] = hints.known
        warnings += [Hint(WarningCode.UNKNOWN_LABEL, f"No {kind} is called {hint}.") for hint in hints.unknown]
    return Labels(known["topics"], known["entities"], tuple(warnings), spellings)
