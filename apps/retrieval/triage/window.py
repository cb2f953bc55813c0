"""The recent conversation: the part of it that a decision sees, what its references mean, and whether it holds the answer.

`seen` is the one helper behind the decision and the trace, so that the window that was decided on and the window that is written
down cannot drift apart (TR-20, TR-21).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from apps.retrieval.analysis import index_terms
from apps.retrieval.context import Turn
from apps.retrieval.triage import chinese, chinese_words, english, english_words
from apps.retrieval.triage.anchors import Anchor
from apps.retrieval.triage.asked import without_asked
from apps.retrieval.triage.reading import Reading, plain, read
from apps.retrieval.triage.references import Reference
from apps.retrieval.triage.vocabulary import AnchorKind, ReferenceKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TURNS = 12
CODE_POINTS = 1_000  # of one turn: its end, which is the hottest part
_SENTENCE = re.compile(r"[^.!?\u3002\uff01\uff1f\n]+(?:[.!?](?=\d)[^.!?\u3002\uff01\uff1f\n]+)*[.!?\u3002\uff01\uff1f\n]*")
_SILENT: Final = frozenset({"system", "developer"})  # instructions of the host, not part of what was said


@dataclass(frozen=True, slots=True)
class Bound:
    """A reference and the words of the window that it means: turn (0 is the oldest seen) and place in that turn."""

    reference: Reference | None
    turn: int
    anchor: Anchor


def seen(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The last turns, each as far as it is looked at."""
    return tuple(
        turn if len(turn.content) <= CODE_POINTS else Turn(role=turn.role, content=turn.content[-CODE_POINTS:])
        for turn in turns[-TURNS:]
    )


class Window:
    """What was said, read turn by turn from the latest back, and only as far as somebody asks."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = [(number, turn) for number, turn in enumerate(turns) if turn.role.lower() not in _SILENT]
        self._readings: dict[int, Reading] = {}

    def __bool__(self) -> bool:
        return any(turn.content.strip() for _, turn in self._turns)

    def _latest_first(self) -> Iterator[tuple[int, Reading]]:
        for number, turn in reversed(self._turns):
            if number not in self._readings:
                self._readings[number] = read(plain(turn.content))
            yield number, self._readings[number]

    def bind(self, references: Sequence[Reference]) -> tuple[list[Bound], list[Reference]]:
        """References with what they mean, and those that nothing in the window fits."""
        bound: list[Bound] = []
        unbound: list[Reference] = []
        for reference in references:
            found = self._antecedent(reference.kind, reference.noun)
            if found is None:
                unbound.append(reference)
            else:
                bound.append(Bound(reference, *found))
        return bound, unbound

    def subject(self) -> list[Bound]:
        """What was talked about last: the meaning of a request that points at nothing and names nothing."""
        found = self._antecedent(ReferenceKind.ELLIPSIS, "")
        return [] if found is None else [Bound(None, *found)]

    def _antecedent(self, kind: ReferenceKind, noun: str) -> tuple[int, Anchor] | None:
        for number, reading in self._latest_first():
            fitting = [one for one in reading.anchors if _fits(kind, one)]
            if fitting:
                return number, max(fitting, key=lambda one: _likeliness(kind, noun, one))
        return None

    def answers(self, reading: Reading) -> bool:
        """Whether somebody has said just now what the question asks for (TR-01). Strict: a doubt is a no."""
        wanted = _Wanted.of(reading)
        if wanted is None:
            return False
        for _number, turn in reversed(self._turns):
            text = plain(turn.content)
            if wanted.mentioned_in(text) and any(wanted.answered_by(said) for said in _statements(text)):
                return True
        return False


def _fits(kind: ReferenceKind, anchor: Anchor) -> bool:
    if anchor.worldly and kind is not ReferenceKind.ELLIPSIS:
        return False
    if kind is ReferenceKind.PERSON:
        return anchor.kind in {AnchorKind.PERSON, AnchorKind.NAME}
    if kind is ReferenceKind.TIME:
        return anchor.kind in {AnchorKind.DATE, AnchorKind.EVENT}
    return anchor.kind not in {AnchorKind.DATE, AnchorKind.PERSON}


def _likeliness(kind: ReferenceKind, noun: str, anchor: Anchor) -> tuple[int, int, int]:
    """People for "she", things rather than names for "it", the kind that was said for "that meeting"; then the fuller name."""
    if kind is ReferenceKind.PERSON:
        return (int(anchor.kind is AnchorKind.PERSON), int(anchor.kind is AnchorKind.NAME), anchor.start)
    said = english_words.KIND_OF.get(noun.lower()) or next(
        (k for k, pattern in chinese_words.KIND_AT_END if pattern.search(noun)), None
    )
    named = anchor.kind is AnchorKind.NAME
    return (int(said is not None and anchor.kind is said), int(named is (said is AnchorKind.PROJECT)), len(anchor.text))


def _statements(text: str) -> Iterator[str]:
    """Sentences that say something, each alone and together with the one behind it."""
    parts = [match.group().strip() for match in _SENTENCE.finditer(text)]
    for place, part in enumerate(parts):
        if part.endswith(("?", "\uff1f")):
            continue
        yield part
        if place + 1 < len(parts) and not parts[place + 1].endswith(("?", "\uff1f")):
            yield f"{part} {parts[place + 1]}"


# Whether it is still so, or how it was before: what was said just now does not settle that.
_CHANGING = re.compile(
    r"\b(?:still|currently|now|latest|before|previous\w*|original\w*|used to|instead|other|else|another|earlier|first)\b|还|"
    r"仍|目前|现在|最新|之前|以前|原来|其他|别的|另外",
    re.IGNORECASE,
)
_KINDS_OF_ANSWER = (
    (re.compile(r"\bwhy\b|\bhow come\b|为什么|为何|为啥|原因|理由", re.IGNORECASE), (english.BECAUSE, chinese.BECAUSE)),
    (
        re.compile(r"\bwhen\b|\bwhat time\b|\bhow (?:long|often)\b|什么时候|何时|几点|哪天|多久", re.IGNORECASE),
        (re.compile(r"\d"), english.DATE, chinese.DATE),
    ),
    (
        re.compile(r"\bhow (?:many|much)\b|多少|几[个次条块]", re.IGNORECASE),
        (
            re.compile(
                r"\d|[一二两三四五六七八九十百千]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|none|no)\b",
                re.IGNORECASE,
            ),
        ),
    ),
    (
        re.compile(r"\bwhere\b|哪里|哪儿|何处|什么地方", re.IGNORECASE),
        (
            re.compile(
                r"\b(?:in|at|on|under|behind|near|beside|inside|next to|from|above|below|between)\b|在|位于|放|挂", re.IGNORECASE
            ),
        ),
    ),
)
_LEAST_NEW = 2  # terms; one will do where it must be of a certain kind


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a sentence must hold to answer a question: its anchors, something new, and words of the right kind."""

    needed: frozenset[str]
    asked: frozenset[str]
    kinds: tuple[tuple[re.Pattern[str], ...], ...]

    @classmethod
    def of(cls, reading: Reading) -> _Wanted | None:
        text = reading.text
        if _CHANGING.search(text) or not reading.says(english.QUESTION, chinese.QUESTION):
            return None
        anchors = without_asked(reading.anchors, text)
        needed = frozenset[str]().union(*(_terms(one.text) for one in anchors)) if anchors else frozenset()
        if not needed:
            return None
        kinds = tuple(answers for question, answers in _KINDS_OF_ANSWER if question.search(text))
        return cls(needed, frozenset(index_terms(text)), kinds)

    def mentioned_in(self, text: str) -> bool:
        return self.needed <= index_terms(text)

    def answered_by(self, said: str) -> bool:
        terms = index_terms(said)
        if not self.needed <= terms or english.MISSING_ANSWER.search(said) or chinese.MISSING_ANSWER.search(said):
            return False
        new = {term for term in terms - self.asked if len(term) > 1}
        return len(new) >= (1 if self.kinds else _LEAST_NEW) and all(
            any(pattern.search(said) for pattern in answers) for answers in self.kinds
        )


def _terms(text: str) -> frozenset[str]:
    """Words, and pairs of characters where text has no spaces; single characters say too little."""
    found = index_terms(text)
    return frozenset(term for term in found if len(term) > 1) or found
