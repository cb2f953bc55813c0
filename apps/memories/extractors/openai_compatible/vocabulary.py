"""The closed words of question and answer: which kinds of memory each source may give, and the keys that have a name.

Who speaks decides what may come of it, as for the rules (rules.py); a model does not change that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apps.memories.extractors.concepts import BACKGROUND_LANGUAGE, REPLY_LANGUAGE

_RECORDS = ("decision", "goal", "constraint", "progress", "state")


@dataclass(frozen=True, slots=True)
class Voice:
    """The kinds that a source may give, and the best standing its statements have."""

    kinds: tuple[str, ...]
    standing: str


# Not here, so never sent: what tools, assistants, web pages and the system said.
VOICES: Mapping[str, Voice] = {
    "user_message": Voice(("preference", "fact", *_RECORDS, "finding"), "explicit"),
    "decision_log": Voice(_RECORDS, "explicit"),
    "import": Voice(_RECORDS, "observed"),
    "document": Voice(("state",), "observed"),
}

# Keys that the rules use as well, with their kind, and whether they say something about the speaker: what two readers
# understood in two sentences then meets under one key.
KNOWN: Mapping[str, str] = {
    REPLY_LANGUAGE: "preference",
    "assistant.reply_length": "preference",
    "assistant.reply_format": "preference",
    "assistant.reply_tone": "preference",
    "assistant.emoji": "preference",
    "preference.units": "preference",
    "preference.theme": "preference",
    "preference.time_format": "preference",
    "preference.date_format": "preference",
    "name": "fact",
    "name.preferred": "preference",
    "employer": "fact",
    "occupation": "fact",
    "residence": "fact",
    "origin": "fact",
    "birthday": "fact",
    "timezone": "preference",
    "diet": "fact",
    BACKGROUND_LANGUAGE: "fact",
    "background.editor": "fact",
    "background.system": "fact",
}
OTHER = "other"

STANDINGS = ("said", "guessed")
MOST_MEMORIES = 20
LONGEST_SUBJECT = 60
