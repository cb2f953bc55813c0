"""One turn of a recorded conversation, and the readers that yield turns from a file.

Layouts: LoCoMo (a JSON list of conversations in sessions) and JSONL, one turn a line:

    {"conversation": "c1", "turn": "1", "speaker": "Ana", "at": "2024-05-01T10:00:00Z", "text": "…"}

``conversation``, ``turn``, ``speaker``, ``at`` (RFC 3339 with offset, or a date) and ``text`` are required, others refused.
"""

# ruff: noqa: EM101, TRY003 - these errors are their messages

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from apps.memories.importing.locomo import read_locomo

_LOCOMO_TIME = "%I:%M %p on %d %B, %Y"
_FIELDS = frozenset({"conversation", "turn", "speaker", "at", "text"})


class LayoutError(ValueError):
    """The file is not in a layout that is understood; the message names the place, never the text."""


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """A turn as it will be remembered; ``text`` already starts with the speaker."""

    conversation: str
    turn: str
    said_at: datetime
    text: str


def read_turns(path: Path) -> list[RecordedTurn]:
    """Every turn of the file in order. Raises LayoutError, or OSError when the file cannot be read."""
    try:
        start = path.read_text(encoding="utf-8").lstrip()[:1]
        turns = list(_locomo(path) if start == "[" else _lines(path))
    except UnicodeDecodeError as trouble:
        raise LayoutError("the file is not UTF-8") from trouble
    if not turns:
        raise LayoutError("the file holds no turn")
    return turns


def _locomo(path: Path) -> Iterator[RecordedTurn]:
    try:
        conversations = read_locomo(path)
    except (ValueError, KeyError, TypeError) as trouble:
        raise LayoutError("the file is no list of conversations in the LoCoMo layout") from trouble
    for conversation in conversations:
        for turn in conversation.turns:
            try:
                said_at = datetime.strptime(turn.said_at, _LOCOMO_TIME).replace(tzinfo=UTC)
            except ValueError as trouble:
                message = f"conversation {conversation.conversation_id}: session {turn.session} has no readable time"
                raise LayoutError(message) from trouble
            yield RecordedTurn(conversation.conversation_id, turn.turn_id, said_at, turn.text)


def _lines(path: Path) -> Iterator[RecordedTurn]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _line(line, f"line {number}")


def _line(line: str, place: str) -> RecordedTurn:
    try:
        entry = json.loads(line)
    except ValueError as trouble:
        message = f"{place} is not JSON"
        raise LayoutError(message) from trouble
    if not isinstance(entry, dict) or set(entry) != _FIELDS or not all(isinstance(value, str) for value in entry.values()):
        message = f"{place} needs exactly the texts conversation, turn, speaker, at and text"
        raise LayoutError(message)
    try:
        said_at = datetime.fromisoformat(entry["at"])
    except ValueError as trouble:
        message = f"{place}: at is no RFC 3339 time"
        raise LayoutError(message) from trouble
    if said_at.tzinfo is None:
        if len(entry["at"]) > len("2024-01-01"):
            message = f"{place}: at needs an offset"
            raise LayoutError(message)
        said_at = said_at.replace(tzinfo=UTC)
    return RecordedTurn(entry["conversation"], entry["turn"], said_at, f"{entry['speaker']}: {entry['text']}")
