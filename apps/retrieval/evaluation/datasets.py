"""Data sets that retrieval is measured on: records in worlds, and questions with the records that answer them.

Two layouts are read. A JSON list is taken as LoCoMo. A JSON object is this form, in which any data set is a few lines to write:

    {"worlds": [{"name": "harbour",
                 "records": [{"id": "r1", "text": "…", "at": "2026-02-03"}, {"id": "r2", "text": "…", "at": "2026-05-01", "replaces": "r1"}],
                 "questions": [{"text": "…", "relevant": ["r2"], "stale": ["r1"], "group": "en"}]}]}

A world becomes a project of its own. ``at`` is since when a record holds (RFC 3339 with offset, or a date), ``aliases`` are names it
is called by, ``replaces`` is the record whose place it takes. ``stale`` names records that are not true any more, ``forbidden`` those
that may not be given to this question.
"""  # noqa: E501 - one line of the form is one line

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from apps.core.canonical import sha256_hex
from apps.memories.importing.locomo import ANSWERABLE, read_locomo
from apps.memories.importing.turns import LayoutError, read_turns
from apps.memories.importing.verb import turn_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from apps.memories.importing.turns import RecordedTurn

_DIGITS = 24
_RECORD = frozenset({"id", "text", "at", "aliases", "replaces"})
_QUESTION = frozenset({"text", "relevant", "stale", "forbidden", "group"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One thing to remember; `key` is its fact key, which no question can spell."""

    key: str
    text: str
    at: datetime
    aliases: tuple[str, ...] = ()
    replaces: str | None = None  # key of another record


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question with the keys of the records that answer it, of those that did once, and of those that may not be given."""

    text: str
    relevant: frozenset[str]
    stale: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    group: str = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Records of one project and what is asked about them. Turns of a conversation are imported as such, the rest is proposed."""

    name: str
    questions: tuple[Query, ...]
    turns: tuple[RecordedTurn, ...] = ()
    records: tuple[Record, ...] = ()


def read_dataset(path: Path) -> list[World]:
    """The worlds of a file. Raises LayoutError, whose message names the place and never the text, and OSError."""
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
    except ValueError as trouble:
        message = "the file is not JSON in UTF-8"
        raise LayoutError(message) from trouble
    if isinstance(document, list):
        return list(_locomo(path))
    if not isinstance(document, dict) or not isinstance(document.get("worlds"), list):
        message = 'the file is neither a list of conversations nor an object with "worlds"'
        raise LayoutError(message)
    return [_world(entry, f"worlds/{number}") for number, entry in enumerate(document["worlds"])]


def _locomo(path: Path) -> Iterator[World]:
    turns = read_turns(path)
    for conversation in read_locomo(path):
        name = conversation.conversation_id
        asked = [
            Query(
                text=question.text,
                relevant=frozenset(turn_key(name, turn_id) for turn_id in question.evidence),
                group=f"category {question.category}",
            )
            for question in conversation.questions
            if question.category in ANSWERABLE and question.evidence
        ]
        yield World(name=name, questions=tuple(asked), turns=tuple(turn for turn in turns if turn.conversation == name))


def _world(entry: Any, place: str) -> World:  # noqa: ANN401 - what the file holds
    _require(isinstance(entry, dict) and {"name", "records", "questions"} == set(entry), place)
    name = entry["name"]
    _require(isinstance(name, str) and name, f"{place}/name")
    records = [_record(one, name, f"{place}/records/{number}") for number, one in enumerate(entry["records"])]
    keys = {record.key for record in records}
    _require(len(keys) == len(records), f"{place}/records")
    questions = [_query(one, name, keys, f"{place}/questions/{number}") for number, one in enumerate(entry["questions"])]
    return World(name=name, questions=tuple(questions), records=tuple(records))


def _record(entry: Any, world: str, place: str) -> Record:  # noqa: ANN401 - what the file holds
    _require(isinstance(entry, dict) and {"id", "text", "at"} <= set(entry) <= _RECORD, place)
    _require(all(isinstance(entry[name], str) for name in ("id", "text", "at")), place)
    try:
        at = datetime.fromisoformat(entry["at"])
    except ValueError as trouble:
        message = f"{place}/at is no date"
        raise LayoutError(message) from trouble
    return Record(
        key=record_key(world, entry["id"]),
        text=entry["text"],
        at=at if at.tzinfo is not None else at.replace(tzinfo=UTC),
        aliases=tuple(entry.get("aliases", ())),
        replaces=record_key(world, entry["replaces"]) if entry.get("replaces") else None,
    )


def _query(entry: Any, world: str, keys: set[str], place: str) -> Query:  # noqa: ANN401 - what the file holds
    _require(isinstance(entry, dict) and {"text", "relevant"} <= set(entry) <= _QUESTION, place)
    named = ("relevant", "stale", "forbidden")
    relevant, stale, forbidden = (frozenset(record_key(world, name) for name in entry.get(field, ())) for field in named)
    _require(relevant | stale | forbidden <= keys and relevant.isdisjoint(forbidden), place)
    return Query(
        text=str(entry["text"]),
        relevant=relevant,
        stale=stale,
        forbidden=forbidden,
        group=str(entry.get("group", "questions")),
    )


def record_key(world: str, name: str) -> str:
    """The fact key of a record: a digest, so that no question calls the record by it."""
    return f"record.{sha256_hex(f'{world}/{name}')[:_DIGITS]}"


def _require(holds: object, place: str) -> None:
    if not holds:
        message = f"{place} is not in the form of a data set"
        raise LayoutError(message)
