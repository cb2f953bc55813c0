"""Reader of the LoCoMo layout: conversations in sessions, questions with the turns that answer them.

The files are the caller's; nothing of them is kept in the product.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ANSWERABLE = frozenset({1, 2, 3, 4})  # category 5 asks for what was never said
_SESSION = re.compile(r"session_([0-9]+)")
_TURN_ID = re.compile(r"D[0-9]+:[0-9]+")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as it is indexed: `Speaker: text [caption]`."""

    turn_id: str
    speaker: str
    text: str
    session: int
    said_at: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the ids of the turns that hold its answer."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: its turns in order and what is asked about it."""

    conversation_id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def read_locomo(path: Path) -> tuple[Conversation, ...]:
    """Conversations of one file.

    Raises ValueError when the file is not in this layout, OSError when it cannot be read.
    """
    document = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(document, list) or not all(isinstance(entry, dict) and "conversation" in entry for entry in document):
        message = f"{path.name} is not a list of conversations"
        raise ValueError(message)
    return tuple(
        Conversation(str(entry.get("sample_id", number)), tuple(_turns(entry["conversation"])), tuple(_questions(entry)))
        for number, entry in enumerate(document, start=1)
    )


def _turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    sessions = sorted(int(found.group(1)) for name in conversation if (found := _SESSION.fullmatch(name)))
    for session in sessions:
        for turn in conversation[f"session_{session}"]:
            caption = turn.get("blip_caption")
            text = f"{turn['speaker']}: {turn['text']}" + (f" [{caption}]" if caption else "")
            said_at = str(conversation.get(f"session_{session}_date_time", ""))
            yield Turn(str(turn["dia_id"]), str(turn["speaker"]), text, session, said_at)


def _questions(entry: dict[str, Any]) -> Iterator[Question]:
    for asked in entry.get("qa", ()):
        # Some entries join several ids in one string; ids of turns that do not exist are left for the caller to notice.
        evidence = frozenset(turn_id for given in asked.get("evidence", ()) for turn_id in _TURN_ID.findall(str(given)))
        yield Question(str(asked["question"]), int(asked["category"]), evidence)
