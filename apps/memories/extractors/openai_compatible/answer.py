"""The answer, looked at like a request of somebody hostile.

A wrong envelope makes the whole answer unusable; a proposal that breaks a rule is dropped and counted. What a proposal says is a
stretch of the text itself, whole sentences of it: the model chooses what to remember and never writes it. Everything it could
add by itself is a word of a closed list or a short subject, from which the key is made.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from apps.core.text import hidden_characters, key_fault
from apps.evidence.redaction import find_forbidden
from apps.memories.extractors import dates
from apps.memories.extractors.base import EVENT, SUBJECT, TASK_SCOPED, Extraction, Proposed, Unusable
from apps.memories.extractors.keys import fact_key
from apps.memories.extractors.openai_compatible.prompt import FIELDS
from apps.memories.extractors.openai_compatible.vocabulary import (
    KNOWN,
    LONGEST_SUBJECT,
    MOST_MEMORIES,
    OTHER,
    STANDINGS,
    VOICES,
)
from apps.memories.extractors.sentences import divide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.memories.extractors.base import SourceText
    from apps.memories.extractors.openai_compatible.vocabulary import Voice
    from apps.memories.extractors.sentences import Sentence

_LONGEST = 600  # characters of what is remembered, and of its reason
_MOST_SENTENCES = 3
_LEAST_LETTERS = 2  # of a quote: a full stop stands in any text
# Who speaks of himself in company does not share it by that, whatever the model takes it for (ID-16); "we" is the company.
_ONESELF = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b|[我咱](?!们|們)|本人")


def proposals_of(body: bytes, source: SourceText, text: str) -> Extraction:
    """What the answer proposes to remember of the text that was sent. Raises Unusable."""
    listed = _listed(body)
    divided = divide(text, source.occurred_at)
    found: dict[str, Proposed] = {}
    read: set[int] = set()
    for item in listed[:MOST_MEMORIES]:
        place = _place(item, divided.sentences, text)
        proposed = None if place is None else _proposed(item, divided.sentences[place.start : place.stop], source, text)
        if place is not None and proposed is not None and proposed.fact_key not in found:
            found[proposed.fact_key] = proposed
            read.update(place)
    sentences = len(divided.sentences) + divided.left_out
    return Extraction(tuple(found.values()), sentences, len(read), sentences - len(read), len(listed) - len(found))


def _listed(body: bytes) -> list[Any]:
    """The list inside the answer: an envelope of chat completions around a JSON text of the form that was asked for."""
    try:
        envelope = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise Unusable("answer_no_json") from None  # noqa: EM101 - codes
    match envelope:
        case {"choices": [{"finish_reason": "length"}, *_]}:
            raise Unusable("answer_unfinished")  # noqa: EM101
        case {"choices": [{"message": {"refusal": str(refusal)}}, *_]} if refusal:
            return []  # the model does not want to read it, which is a way of finding nothing
        case {"choices": [{"message": {"content": str(content)}}, *_]}:
            pass
        case _:
            raise Unusable("answer_wrong_form")  # noqa: EM101
    try:
        said = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise Unusable("answer_no_json") from None  # noqa: EM101
    if not isinstance(said, dict) or said.keys() != {"memories"} or not isinstance(said["memories"], list):
        raise Unusable("answer_wrong_form")  # noqa: EM101
    return said["memories"]


def _place(item: object, sentences: Sequence[Sentence], text: str) -> range | None:
    """The sentences in which a proposal's quote stands, or None if it is no quote or no proposal at all.

    Whole sentences: "I do not like tea" must not become "like tea".
    """
    if not isinstance(item, dict) or item.keys() != set(FIELDS) or not isinstance(item["quote"], str):
        return None
    quote = item["quote"].strip()
    start = text.find(quote) if sum(map(str.isalnum, quote)) >= _LEAST_LETTERS else -1
    if start < 0:
        return None
    end = start + len(quote)
    inside = [
        number
        for number, sentence in enumerate(sentences)
        if sentence.start < end and start < sentence.start + len(sentence.text)
    ]
    return range(inside[0], inside[-1] + 1) if 0 < len(inside) <= _MOST_SENTENCES else None


def _proposed(item: dict[str, Any], said: Sequence[Sentence], source: SourceText, text: str) -> Proposed | None:
    voice = VOICES[source.source_type]
    start, end = said[0].start, said[-1].start + len(said[-1].text)
    content = text[start:end].strip()
    key = _key(item, voice)
    reason = item["reason"]
    if key is None or len(content) > _LONGEST or not _is_reason(reason, text) or item["standing"] not in STANDINGS:
        return None
    if not isinstance(item["about_the_speaker"], bool) or not isinstance(item["only_for_this_task"], bool):
        return None
    kind, guessed = item["kind"], item["standing"] == "guessed" or item["kind"] == "finding"
    return Proposed(
        memory_type=kind,
        fact_key=key,
        content=content,
        epistemic_status="inferred" if guessed else voice.standing,
        verdict="provisional" if kind == "finding" else None,
        rationale=None if reason is None else reason.strip(),
        effective_at=source.occurred_at,
        expected_resolution_at=dates.deadline(content, source.occurred_at) if kind == "goal" else None,
        belongs_to=SUBJECT if kind == "preference" or item["about_the_speaker"] or _ONESELF.search(content) else EVENT,
        marks=frozenset({TASK_SCOPED}) if item["only_for_this_task"] else frozenset(),
        start=start,
        length=end - start,
    )


def _key(item: dict[str, Any], voice: Voice) -> str | None:
    """The fact key, or None for words outside the lists. A subject is few words that say nothing by themselves."""
    kind, named, subject = item["kind"], item["key"], item["subject"]
    if kind not in voice.kinds or not isinstance(named, str) or not isinstance(subject, str):
        return None
    if named != OTHER:
        # Of somebody else's home or work a speaker has no single one.
        about = item["about_the_speaker"] is True or named.startswith("assistant.")
        return named if KNOWN.get(named) == kind and about else None
    if len(subject) > LONGEST_SUBJECT or key_fault(subject) is not None or hidden_characters(subject) or find_forbidden(subject):
        return None
    key = fact_key(kind, subject)
    return key if any(character.isalpha() for character in subject) and find_forbidden(key) == () else None


def _is_reason(reason: object, text: str) -> bool:
    return reason is None or (isinstance(reason, str) and 0 < len(reason.strip()) <= _LONGEST and reason.strip() in text)
