"""SKIP, ASK or RETRIEVE: one pure function of what was asked, what was handed over, and what was said just before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.retrieval.triage import chinese, english
from apps.retrieval.triage.anchors import Anchor
from apps.retrieval.triage.complete import belongs_to_somebody, complete_in_itself, is_answering, split
from apps.retrieval.triage.parsing import Parse, parse
from apps.retrieval.triage.reading import Reading, plain, read
from apps.retrieval.triage.references import Reference
from apps.retrieval.triage.vocabulary import AnchorKind, Decision, Ground, ReferenceKind
from apps.retrieval.triage.window import Bound, Window
from apps.retrieval.triage.wording import clarification

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.retrieval.context import Attachment, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What triage decides on.

    ``window`` is what `window.seen` left of it; ``names`` are labels and keys of the allowed scope that occur in the words;
    ``explicit``: keys or labels were given beside the words; ``project``: one was named.
    """

    question: str = ""
    task: str = ""
    window: Sequence[Turn] = ()
    attachments: Sequence[Attachment] = ()
    names: Sequence[str] = ()
    explicit: bool = False
    project: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What triage found. ``handed_over``: text of attachments that the user asks about, which takes part (TR-13).

    ``names_matter``: a label or key of the scope in the words would turn the decision into RETRIEVE; whoever can look, should.
    """

    decision: Decision
    ground: Ground
    parse: Parse
    anchors: tuple[Anchor, ...] = ()
    bound: tuple[Bound, ...] = ()
    unbound: tuple[Reference, ...] = ()
    handed_over: str = ""
    clarification: str | None = None
    names_matter: bool = False


_HANDED_OVER = 2_000
_PROJECT_NOUNS = frozenset({"project", "项目"})
_SHORT = 80  # no encoded file is
_NOTHING = read("")
_TO_ATTACHMENT = (english.TO_ATTACHMENT, chinese.TO_ATTACHMENT)
_WISHES = (
    (english.QUESTION, chinese.QUESTION),
    (english.RECALLING, chinese.RECALLING),
    (english.ORDER, chinese.ORDER),
    (english.CONTINUING, chinese.CONTINUING),
)
# What only a name of the scope can turn: the words alone say that nothing is remembered about it.
_UNLESS_NAMED = frozenset({Ground.GENERAL_KNOWLEDGE, Ground.COMPOSITION, Ground.NO_ANCHOR, Ground.GIVEN_TEXT})


def triage(request: Request) -> Verdict:
    """Decide. Never raises, whatever the words; a text without rules here is retrieved."""
    text = plain(request.question if request.question.strip() else request.task)
    return _Triage(request, text).verdict()


class _Triage:
    def __init__(self, request: Request, text: str) -> None:
        self.request = request
        self.instruction = split(text)
        self.reading = read(text, request.names)
        self.order = read(self.instruction.order, request.names, part=True) if self.instruction.given else self.reading
        self.window = Window(request.window)
        self.handed_over = self._handed_over(text)
        self.beside = self._beside(text)

    def verdict(self) -> Verdict:
        reading = self.reading
        if not reading.text and not self.handed_over:
            return self._made(Decision.RETRIEVE, Ground.BLANK)
        if self.request.explicit:
            return self._retrieved(Ground.EXPLICIT)
        if not reading.readable:
            return self._retrieved(Ground.UNREADABLE)
        if self.handed_over:
            return self._with_attachment()
        ground = complete_in_itself(reading, self.instruction, self.order)
        if ground is not None and not (ground in _UNLESS_NAMED and self.beside.anchors):
            return self._made(Decision.SKIP, ground)
        return self._by_window() or self._by_anchors(reading)

    # -- parts

    def _handed_over(self, text: str) -> str:
        """Attachments that the words ask about: all of them where the words are signs only, or point at what came along."""
        texts = [plain(one.content) for one in self.request.attachments if one.content.strip() and _is_text(one.content)]
        if not texts:
            return ""
        wordless = not any(character.isalnum() for character in text)
        asked = wordless or any(pattern.search(text) for pattern in _TO_ATTACHMENT)
        return "\n".join(texts)[:_HANDED_OVER] if asked else ""

    def _beside(self, text: str) -> Reading:
        """The task, where it says more than the question does."""
        task = plain(self.request.task)
        return read(task, self.request.names, part=True) if self.request.question.strip() and task != text else _NOTHING

    def _with_attachment(self) -> Verdict:
        material = read(self.handed_over, self.request.names, part=True)
        own = belongs_to_somebody(self.reading)
        shared = belongs_to_somebody(material) or bool(material.references) or material.says(english.LONG_AGO, chinese.LONG_AGO)
        if not self.reading.has_words and not shared:
            return self._made(Decision.SKIP, Ground.GIVEN_TEXT)
        answering = is_answering(self.reading.text)
        worked_on = self.reading.says(english.ONLY_TEXT, chinese.ONLY_TEXT) and not answering
        nobody = not (shared or own or answering or self._personal(material))
        if (worked_on and not own) or nobody:
            return self._made(Decision.SKIP, Ground.GIVEN_TEXT)
        together = replace(material, anchors=(*self.reading.anchors, *material.anchors), references=())
        return self._by_anchors(together if together.anchors else material)

    def _personal(self, material: Reading) -> bool:
        return any(one.kind in {AnchorKind.PERSON, AnchorKind.LABEL} for one in material.anchors)

    def _by_window(self) -> Verdict | None:
        """What only the window can settle: an order about what was said just now, or a question it has answered."""
        reading = self.reading
        if self.window and all(one.worldly for one in reading.anchors) and reading.says(english.EDITING, chinese.EDITING):
            return self._made(Decision.SKIP, Ground.HOT_CONTEXT)
        if not self.instruction.given and not _personal_anchor(reading) and reading.says(english.NEEDS_TEXT, chinese.NEEDS_TEXT):
            return self._made(Decision.SKIP, Ground.HOT_CONTEXT) if self.window else self._asked(Ground.NO_TEXT)
        if self.window and self.window.answers(self.reading):
            return self._made(Decision.SKIP, Ground.ANSWERED)
        return None

    def _by_anchors(self, reading: Reading) -> Verdict:
        bound, unbound = self.window.bind(self._open(reading))
        if reading.anchors or self.beside.anchors:
            return self._retrieved(Ground.ANCHORED, reading, bound, unbound)
        if bound:
            return self._retrieved(Ground.BOUND, reading, bound, unbound)
        if self.request.project and self._means_project(reading):
            return self._retrieved(Ground.ANCHORED, reading)
        if not reading.references:
            subject = self.window.subject()
            if subject:
                return self._retrieved(Ground.BOUND, reading, subject)
            if not self._wants_something(reading):
                return self._made(Decision.SKIP, Ground.SMALL_TALK)
        return self._asked(Ground.NO_ANCHOR, unbound)

    def _open(self, reading: Reading) -> list[Reference]:
        """References that nothing before them in the same words explains."""
        return [
            one
            for one in reading.references
            if not any(_explains(anchor, one) for anchor in (*self.beside.anchors, *reading.anchors))
        ]

    def _means_project(self, reading: Reading) -> bool:
        """Whether "the project" is said: the one that was asked in. What names no kind at all is not explained by it."""
        return any(one.noun.lower() in _PROJECT_NOUNS for one in reading.references)

    def _wants_something(self, reading: Reading) -> bool:
        return any(reading.says(*one) for one in _WISHES)

    # -- verdicts

    def _retrieved(
        self,
        ground: Ground,
        reading: Reading | None = None,
        bound: Sequence[Bound] | None = None,
        unbound: Sequence[Reference] = (),
    ) -> Verdict:
        if bound is None:
            bound, unbound = self.window.bind(self._open(self.reading))
        return self._made(Decision.RETRIEVE, ground, reading=reading, bound=bound, unbound=unbound)

    def _asked(self, ground: Ground, unbound: Sequence[Reference] = ()) -> Verdict:
        first = min(
            unbound,
            key=lambda one: (one.kind is not ReferenceKind.NAMED_KIND, one.kind is ReferenceKind.TIME, one.start),
            default=None,
        )
        kind = first.kind if first else ReferenceKind.ELLIPSIS
        question = clarification(ground, kind, first.noun if first else "", in_chinese=self.reading.chinese)
        return self._made(Decision.ASK, ground, unbound=unbound, question=question)

    def _made(
        self,
        decision: Decision,
        ground: Ground,
        *,
        reading: Reading | None = None,
        bound: Sequence[Bound] = (),
        unbound: Sequence[Reference] = (),
        question: str | None = None,
    ) -> Verdict:
        seen = reading or self.reading
        anchors = seen.anchors or self.beside.anchors
        return Verdict(
            decision=decision,
            ground=ground,
            parse=parse(self.reading, anchors, ground, bound),
            anchors=anchors,
            bound=tuple(bound),
            unbound=tuple(unbound),
            handed_over=self.handed_over,
            clarification=question,
            names_matter=decision is not Decision.RETRIEVE and ground in _UNLESS_NAMED,
        )


def _explains(anchor: Anchor, reference: Reference) -> bool:
    if reference.kind is ReferenceKind.PERSON:
        return anchor.kind in {AnchorKind.PERSON, AnchorKind.NAME, AnchorKind.LABEL}
    if reference.kind is ReferenceKind.TIME:
        return anchor.kind in {AnchorKind.DATE, AnchorKind.EVENT, AnchorKind.LABEL}
    return anchor.kind is not AnchorKind.DATE


def _personal_anchor(reading: Reading) -> bool:
    return any(
        one.kind in {AnchorKind.PERSON, AnchorKind.NAME, AnchorKind.LABEL, AnchorKind.DATE} and not one.worldly
        for one in reading.anchors
    )


def _is_text(content: str) -> bool:
    """Words, not bytes in disguise: an encoded picture has neither spaces nor Han."""
    head = content[:200]
    return len(head) < _SHORT or any(character.isspace() or character > "\u2e7f" for character in head)
