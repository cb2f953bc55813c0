"""The deterministic extractor: no network, no model, English and Chinese (design/03 step 2).

Who speaks decides what may come of it (design/02: trust is derived from the source type, never from the content):

| source | may give |
| --- | --- |
| user_message | everything, as the subject's explicit word |
| decision_log | decisions, constraints, goals, progress, states, corrections of these |
| import | the same as observed, never somebody's preference |
| tool_result | claims that wait for evidence, guesses, dated states; orders are refused |
| assistant_message | guesses |
| document | dated states; orders are refused |
| web_page | nothing; orders are refused |
| system | nothing |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.core.text import hidden_characters
from apps.memories.extractors.base import FORBIDDEN_MATERIAL, SUBJECT, Extraction, Proposed, SourceText
from apps.memories.extractors.concepts import Reading
from apps.memories.extractors.keys import digest
from apps.memories.extractors.sentences import LONGEST, Sentence, divide

if TYPE_CHECKING:
    from types import ModuleType

VERSION = "1"
MOST_PROPOSALS = 50  # of one event; whoever says more in one breath is not telling about himself
MOST_ORDERS = 10

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_REDACTED = re.compile(r"\[redacted:[a-z_]+\]")

_EVERYTHING = frozenset(
    {
        "task_parameter",
        "correction",
        "about_the_speaker",
        "reply_preference",
        "liking",
        "decision",
        "goal",
        "dated_state",
        "constraint",
        "progress",
        "lead",
    }
)
_RECORDS = frozenset({"decision", "goal", "dated_state", "constraint", "progress"})


@dataclass(frozen=True, slots=True)
class _Voice:
    """What a source may say: the rules that are tried, the best standing its statements have, and what is watched for."""

    rules: frozenset[str]
    standing: str = "explicit"
    remembers: bool = False
    orders: bool = False
    claims: bool = False


_VOICES = {
    "user_message": _Voice(_EVERYTHING, remembers=True),
    "decision_log": _Voice(_RECORDS),
    "import": _Voice(_RECORDS, standing="observed"),
    "tool_result": _Voice(frozenset({"lead", "dated_state"}), standing="observed", orders=True, claims=True),
    "assistant_message": _Voice(frozenset({"lead"}), standing="inferred"),
    "document": _Voice(frozenset({"dated_state"}), standing="observed", orders=True),
    "web_page": _Voice(frozenset(), standing="inferred", orders=True),
    "system": _Voice(frozenset(), standing="inferred"),
}
_SILENT = _Voice(frozenset(), standing="inferred")


class _Rules:
    name = "rules"
    version = VERSION
    outside = False
    sources = frozenset(_VOICES)

    def extract(self, source: SourceText) -> Extraction:
        """Read a text sentence by sentence. Text with hidden characters gives nothing: it does not read as it looks (ID-31)."""
        divided = divide(source.text, source.occurred_at)
        counted = len(divided.sentences) + divided.left_out
        voice = _VOICES.get(source.source_type, _SILENT)
        if not (voice.rules or voice.orders) or hidden_characters(source.text):
            return Extraction((), counted, 0, counted)
        found: list[Proposed] = []
        understood, withheld = 0, divided.left_out
        for sentence in divided.sentences:
            readings, held_back = _read(sentence, voice, found)
            understood += bool(readings)
            withheld += held_back and not readings
            for part, reading in readings:
                found.append(_proposed(part, reading, source, voice))
            if len(found) >= MOST_PROPOSALS:
                break
        return Extraction(tuple(found), counted, understood, withheld)


RULES = _Rules()


_Read = list[tuple[Sentence, Reading]]


def _read(sentence: Sentence, voice: _Voice, found: list[Proposed]) -> tuple[_Read, bool]:
    """The readings of one sentence, and whether it was understood to be one that must give none."""
    if len(sentence.text) > LONGEST or _KANA.search(sentence.text) is not None:
        return [], False
    guarded = _guarded(sentence, voice, found)
    if guarded is not None:
        return guarded, True
    language = language_of(sentence)
    if _is_not_stated(sentence, language, found):
        return [], True
    return _stated(sentence, voice, language), False


def load_languages() -> None:
    """Load the languages now. They are left alone until a sentence is read: their patterns take longer to compile than all the
    rest takes to start, and most processes never read one.
    """
    from apps.memories.extractors import chinese, english, foreign  # noqa: F401, PLC0415 - see above


def language_of(sentence: Sentence) -> ModuleType:
    """The module of rules for the sentence's language."""
    from apps.memories.extractors import chinese, english  # noqa: PLC0415 - see load_languages

    return chinese if _HAN.search(sentence.text) is not None else english


def best_standing(source_type: str) -> str:
    """The best standing that a statement of this source may have, whoever reads it."""
    return _VOICES.get(source_type, _SILENT).standing


def states_nothing(sentence: Sentence) -> bool:
    """A question, a quotation, a hypothesis or a condition: nothing in it is the speaker's own plain word."""
    return bool(sentence.is_question or sentence.is_covered or language_of(sentence).withheld(sentence))


def _guarded(sentence: Sentence, voice: _Voice, found: list[Proposed]) -> _Read | None:
    """What must be refused whatever else the sentence says: a secret that was taken out, an order from where none may come."""
    if _REDACTED.search(sentence.text):
        return _refusal(sentence, voice, found)
    if voice.orders and sum(bool(one.marks) for one in found) < MOST_ORDERS:
        from apps.memories.extractors import foreign  # noqa: PLC0415 - see load_languages

        order = foreign.order(sentence.masked, sentence.text)
        return [(sentence, order)] if order is not None else None
    return None


def _is_not_stated(sentence: Sentence, language: ModuleType, found: list[Proposed]) -> bool:
    if language.RETRACTED.match(sentence.masked):
        if found and not found[-1].marks:
            found.pop()  # "just kidding"
        return True
    return states_nothing(sentence)


def _stated(sentence: Sentence, voice: _Voice, language: ModuleType) -> _Read:
    from apps.memories.extractors import foreign  # noqa: PLC0415 - see load_languages

    plain, asked = language.plain(sentence)
    claim = foreign.claim_of_success(plain.masked) if voice.claims else None
    if claim is not None:
        return [(plain, claim)]
    readings = _by_rules(plain, voice, language)
    noted = language.noted(plain) if not readings and asked and voice.remembers else None
    return readings if noted is None else [(plain, noted)]


def _by_rules(sentence: Sentence, voice: _Voice, language: ModuleType) -> _Read:
    whole = language.correction(sentence) if "correction" in voice.rules else None
    if whole is not None:
        return [(sentence, whole)]
    readings: _Read = []
    for clause in language.clauses(sentence):
        for rule in language.RULES:
            reading = rule(clause) if rule.__name__ in voice.rules else None
            if reading is not None:
                readings.append((clause, reading))
                break
    return readings


def _refusal(sentence: Sentence, voice: _Voice, found: list[Proposed]) -> _Read:
    """Somebody told a secret: proposed once, in its redacted form, so that the refusal is on record (CA-06)."""
    if not voice.remembers or any(FORBIDDEN_MATERIAL in one.marks for one in found):
        return []
    return [
        (
            sentence,
            Reading(
                memory_type="fact",
                key=f"noted.{digest(sentence.text)}",
                belongs_to=SUBJECT,
                marks=frozenset({FORBIDDEN_MATERIAL}),
            ),
        )
    ]


_ENDING = " \t.。!！,，;；~～"
_STANDINGS = ("inferred", "observed", "explicit")  # from weak to strong


def weaker(first: str, second: str) -> str:
    """The weaker of two standings; what is none of those that an extractor may give is an inference."""
    return min((one if one in _STANDINGS else _STANDINGS[0] for one in (first, second)), key=_STANDINGS.index)


def _proposed(sentence: Sentence, reading: Reading, source: SourceText, voice: _Voice) -> Proposed:
    start, end = reading.said or (0, len(sentence.text))
    content = sentence.text[start:end].strip(_ENDING)
    proposed = Proposed(
        memory_type=reading.memory_type,
        fact_key=reading.key,
        content=content,
        rationale=reading.rationale,
        epistemic_status=weaker(reading.epistemic_status, voice.standing),
        verdict=reading.verdict,
        valid_from=reading.valid_from,
        valid_to=reading.valid_to,
        effective_at=reading.valid_from or source.occurred_at,
        expected_resolution_at=reading.expected_resolution_at,
        belongs_to=reading.belongs_to,
        marks=reading.marks,
        start=sentence.start + sentence.text.index(content, start),
        length=len(content),
    )
    return proposed if proposed.content else replace(proposed, content=sentence.text)
