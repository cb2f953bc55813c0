"""What an extractor from outside proposes, held against the text by rules that cannot be talked into anything.

Such an extractor may err, may have been led on by the text, or may not be what it says. So its proposals are stretches of the
text as it stands; sentences that state nothing give nothing; an order, a secret or a task parameter that the rules see in a
sentence stays one; and nothing has a better standing than its source. What the rules understand they read better: a sentence that
they have read is theirs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from apps.memories.extractors.rules import MOST_PROPOSALS, RULES, best_standing, language_of, states_nothing, weaker
from apps.memories.extractors.sentences import divide
from apps.memories.models.vocabulary import EpistemicStatus, MemoryType, RetrievalPolicy, Verdict

if TYPE_CHECKING:
    from apps.memories.extractors.base import Extraction, Proposed, SourceText

_WORDS = (
    ("memory_type", frozenset(MemoryType.values)),
    ("epistemic_status", frozenset(EpistemicStatus.values)),
    ("verdict", frozenset((None, *Verdict.values))),
    ("retrieval_policy", frozenset(RetrievalPolicy.values) - {RetrievalPolicy.ALWAYS.value}),
)


def guarded(source: SourceText, extraction: Extraction, *, read_by_rules: bool) -> Extraction:
    """The proposals that hold against the text, with what the rules know added; the others are counted as refused.

    ``read_by_rules``: the rules read this event as well, so what they understood is not taken up twice.
    """
    text = _Text(source)
    kept = []
    for proposed in extraction.proposals[:MOST_PROPOSALS]:
        marks = text.marks(proposed, read_by_rules=read_by_rules) if text.holds(proposed) else None
        if marks is not None:
            standing = weaker(proposed.epistemic_status, best_standing(source.source_type))
            kept.append(replace(proposed, marks=proposed.marks | marks, epistemic_status=standing))
    return replace(extraction, proposals=tuple(kept), refused=extraction.refused + len(extraction.proposals) - len(kept))


class _Text:
    """A text and what the rules know about it."""

    def __init__(self, source: SourceText) -> None:
        self.text = source.text
        self.read = RULES.extract(source).proposals
        self.stated: list[tuple[int, int]] = []
        for sentence in divide(source.text, source.occurred_at).sentences:
            if language_of(sentence).RETRACTED.match(sentence.masked):
                del self.stated[-1:]  # "just kidding"
            elif not states_nothing(sentence):
                self.stated.append((sentence.start, sentence.start + len(sentence.text)))

    def holds(self, proposed: Proposed) -> bool:
        """Whether it says what stands there, in words that exist, and the text states it."""
        start, end = proposed.start, proposed.start + proposed.length
        if start < 0 or proposed.length < 1 or self.text[start:end].strip() != proposed.content or not proposed.content:
            return False
        if any(getattr(proposed, name) not in known for name, known in _WORDS):
            return False
        if proposed.rationale is not None and proposed.rationale not in self.text:
            return False
        covered = [(max(start, first), min(end, last)) for first, last in self.stated if first < end and start < last]
        between = self.text[start:end]
        for first, last in reversed(covered):
            between = between[: first - start] + between[last - start :]
        return bool(covered) and not any(character.isalnum() for character in between)

    def marks(self, proposed: Proposed, *, read_by_rules: bool) -> frozenset[str] | None:
        """What the rules noticed in the same stretch; None if they have read it."""
        end = proposed.start + proposed.length
        same = [one for one in self.read if one.start < end and proposed.start < one.start + one.length]
        if read_by_rules and any(not one.marks for one in same):
            return None
        return frozenset(mark for one in same for mark in one.marks)
