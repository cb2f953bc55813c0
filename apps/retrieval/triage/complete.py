"""Requests that history cannot help: complete in themselves, or about the moment (TR-01..04).

Every rule errs towards retrieving. A needless look costs an empty packet; a look that was not taken is a memory lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from apps.retrieval.triage import chinese, english
from apps.retrieval.triage.vocabulary import AnchorKind, Ground
from apps.retrieval.triage.world import is_of_the_world

if TYPE_CHECKING:
    from apps.retrieval.triage.reading import Reading

_FENCE = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_COLON = re.compile(r"(?<!\d)[:：](?!//)\s*|[:：](?=\s*[^\d\s])(?!//)\s*")
_QUOTE = re.compile(
    r"[\u201c\u300c\u300e\"].+?[\u201d\u300d\u300f\"]|(?<!\w)['\u2018][^'\u2018\u2019\n]{2,400}['\u2019](?!\w)", re.DOTALL
)
_FIRST_SENTENCE = re.compile(r"^(.{6,160}?[?.!？。！]|[^\n]{2,160}\n)\s*(\S.{5,})$", re.DOTALL)
_LONGEST_INSTRUCTION = 240
# These ask for an opinion or an answer, not for work on the text alone.
_ANSWERING = re.compile(r"\b(?:answer|reply|respond|react)\b|回复|答复|回一下|怎么回|回信", re.IGNORECASE)
_PERSONAL = frozenset(
    {AnchorKind.PERSON, AnchorKind.NAME, AnchorKind.LABEL, AnchorKind.DATE, AnchorKind.DECISION, AnchorKind.OWN}
)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A request split into what to do and the text to do it with; `given` is empty where there is none."""

    order: str
    given: str


def split(text: str) -> Instruction:
    """The order and the text that came with it. Only work on texts is split: "Anna asks: when?" stays whole."""
    bare = _FENCE.sub(" ", text)
    if bare != text and _works_on_text(bare):
        return Instruction(bare.strip(), text)
    colon = _COLON.search(text)
    if colon and 0 < colon.start() <= _LONGEST_INSTRUCTION and text[colon.end() :].strip():
        head = text[: colon.start()]
        if _works_on_text(head):
            return Instruction(head, text[colon.end() :])
    if _works_on_text(text):
        quoted = _QUOTE.search(text)
        if quoted:
            return Instruction(_QUOTE.sub(" ", text), quoted.group())
        parts = _FIRST_SENTENCE.match(text)
        if parts and (parts[1].endswith("\n") or english.GIVEN_BELOW.search(parts[1]) or chinese.GIVEN_BELOW.search(parts[1])):
            return Instruction(parts[1], parts[2])
    return Instruction(text, "")


def _works_on_text(order: str) -> bool:
    stripped = order.strip()
    return bool(english.TEXT_WORK.match(stripped) or chinese.TEXT_WORK.match(stripped))


def is_small_talk(text: str) -> bool:
    """Greetings, thanks and nods, in either language; nothing but signs is one of them."""
    if len(text) > _LONGEST_TALK:
        return False
    bare = _SIGNS.sub(" ", text)
    place = 0
    said = not _ASKS.search(text)  # "And then?" is made of such words and asks something
    while place < len(bare):
        found = _PAUSE.match(bare, place) or english.SMALL_TALK.match(bare, place) or chinese.SMALL_TALK.match(bare, place)
        if found is None:
            return False
        said |= not _FILLER.fullmatch(found.group())
        place = found.end()
    return said or not bare.strip()


_LONGEST_TALK: Final = 160
_LONGEST_FRAME: Final = 300
_SIGNS: Final = re.compile(r"[^\w']+")
_ASKS: Final = re.compile("[?？]")
_FILLER: Final = re.compile(r"[\s_']+|and|then|so|again|really|now|there|well|那就?|呢|了|吧|啊|呀|啦", re.IGNORECASE)
_PAUSE: Final = re.compile(r"[\s_']+")


def is_answering(text: str) -> bool:
    """An order to answer somebody: the other's words are material, what to say is not in them."""
    return bool(_ANSWERING.search(text))


def complete_in_itself(reading: Reading, instruction: Instruction, order: Reading) -> Ground | None:
    """Why the request needs nothing remembered; None when it may.

    ``order`` is the reading of the instruction without the text that came with it: whose text it is says nothing.
    """
    text = reading.text
    if is_small_talk(text):
        return Ground.SMALL_TALK
    framed = len(text) <= _LONGEST_FRAME
    if framed and reading.says(english.PRESENT, chinese.PRESENT):
        return Ground.PRESENT_MOMENT
    own = belongs_to_somebody(order, its_text=bool(instruction.given))
    if not own and framed and _is_computed(reading):
        return Ground.COMPUTATION
    if instruction.given and not own and not is_answering(instruction.order) and _nobody_in(order):
        return Ground.GIVEN_TEXT
    if own or not framed or reading.says(english.CONTINUING, chinese.CONTINUING):
        return None
    return _general(reading)


def _general(reading: Reading) -> Ground | None:
    text = reading.text
    foreign = any(one.proper and not one.worldly for one in reading.anchors)
    known = any(one.worldly for one in reading.anchors)
    labelled = any(one.kind is AnchorKind.LABEL for one in reading.anchors)
    dated = any(one.kind is AnchorKind.DATE for one in reading.anchors)
    if labelled or reading.references:
        return None
    framed = reading.says(english.WORLDLY, chinese.WORLDLY) or (reading.latin and english.AUTHORSHIP.search(text))
    worldly = framed or is_of_the_world(reading.anchors)
    definite = reading.says(english.DEFINITE, chinese.DEFINITE)
    if reading.says(english.WRITING, chinese.WRITING) and not dated and (worldly or not (foreign or definite)):
        return Ground.COMPOSITION
    if worldly and not _about_others(reading):
        return Ground.GENERAL_KNOWLEDGE
    if not reading.anchors or foreign or dated or definite:
        return None
    if reading.says(english.INDEFINITE, chinese.INDEFINITE) or (known and reading.says(english.HOW_TO, chinese.HOW_TO)):
        return Ground.GENERAL_KNOWLEDGE
    return None


_ASKS_VALUE: Final = re.compile(r"\s*(?:等于|是)?(?:多少|几)?\s*[?？]?\s*$")


def _is_computed(reading: Reading) -> bool:
    bare = _ASKS_VALUE.sub("", reading.text) if reading.han else reading.text
    return bool(
        english.FORMULA.fullmatch(reading.text)
        or english.COMPUTATION.match(bare)
        or (reading.han and chinese.COMPUTATION.match(reading.text))
    )


def belongs_to_somebody(reading: Reading, *, its_text: bool = False) -> bool:
    """Whether the request speaks of the one who asks, of us, or of what was said before; orders to the assistant apart.

    ``its_text``: the text at hand is theirs ("correct my spelling"), which is no reason to remember anything.
    """
    text = reading.text
    if its_text:
        text = chinese.OWN_TEXT.sub(" ", english.OWN_TEXT.sub(" ", text))
    return bool(
        (reading.latin and english.OWN.search(english.ORDERS.sub(" ", text)))
        or (reading.han and chinese.OWN.search(chinese.ORDERS.sub(" ", text)))
    )


def _nobody_in(order: Reading) -> bool:
    return all(one.worldly or one.kind not in _PERSONAL for one in order.anchors)


def _about_others(reading: Reading) -> bool:
    """A word of the world in a question about somebody's own affairs: "the capital of the fund that Lumen gave"."""
    return any(one.kind is AnchorKind.DATE and not re.search(r"\d{4}", one.text) for one in reading.anchors)
