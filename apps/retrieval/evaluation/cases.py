"""Cases of retrieval as they stand in YAML: a small world, one question, and what the packet must and must not hold (EL-01..03).

The reader is strict: an unknown word in a case is an error, so that a slip of the keyboard never makes an expectation vanish.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import yaml

from apps.core.text import fold_key
from apps.memories.models import EpistemicStatus, MemoryType, RetrievalPolicy, Verdict
from apps.retrieval.context import Attachment, Budget, Turn
from apps.retrieval.question import Question
from apps.retrieval.triage.vocabulary import Asked
from apps.retrieval.vocabulary import BudgetUnit, Mode, PacketFormat, Reason, Style, Trigger

FOLDER: Final = Path(__file__).parent / "cases"
SUBJECT: Final = "lin"


class Suite(StrEnum):
    REGRESSION = "regression"
    CHALLENGE = "challenge"


class CaseError(ValueError):
    """A case that cannot be read; the message names the case and the word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing that somebody wants remembered, under a name of the case; ``refused`` is the refusal that is expected."""

    name: str
    by: str = SUBJECT
    project: str | None = None
    memory_type: MemoryType = MemoryType.FACT
    fact_key: str
    content: str
    source: bool = True
    fields: Mapping[str, Any] = field(default_factory=dict)
    relations: Mapping[str, str] = field(default_factory=dict)  # type → name
    refused: Mapping[str, str] | None = None
    withdrawn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the packet must look like. Names are those of statements; None and empty parts are not looked at."""

    must_include: tuple[str, ...] = ()
    must_exclude: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    adjacent: tuple[tuple[str, str], ...] = ()
    exactly: tuple[str, ...] | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spans: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rationale: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[str, ...] | None = None
    outcome: str | None = None
    decision: str | None = None
    divergence: str | None = None
    asks: str | None = None
    warnings: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """``failure`` says, for a challenge, which known weakness the case shows."""

    id: str
    proves: tuple[str, ...]
    why: str
    labels: Mapping[str, Any]
    world: tuple[Statement, ...]
    by: str
    question: Question
    expected: Expected
    failure: str = ""

    @property
    def subjects(self) -> frozenset[str]:
        return frozenset({self.by, *(one.by for one in self.world)})

    @property
    def projects(self) -> frozenset[str]:
        named = {one.project for one in self.world} | {self.question.project}
        return frozenset(name for name in named if name is not None)


def read_suite(suite: Suite, folder: Path = FOLDER) -> list[Case]:
    """Every case of a suite, by file and place. Raises CaseError."""
    cases = [case for file in sorted((folder / suite).glob("*.yaml")) for case in _read_file(file)]
    ids = [case.id for case in cases]
    twice = {name for name in ids if ids.count(name) > 1}
    if twice:
        message = f"two cases are called {', '.join(sorted(twice))}"
        raise CaseError(message)
    return cases


def _read_file(file: Path) -> list[Case]:
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    worlds = document.get("worlds") or {}
    try:
        return [_case(entry, worlds) for entry in document["cases"]]
    except (KeyError, TypeError, ValueError) as trouble:
        message = f"{file.name}: {trouble}"
        raise CaseError(message) from trouble


def _case(entry: dict[str, Any], worlds: Mapping[str, list[dict[str, Any]]]) -> Case:
    given = _Given(entry, str(entry.get("id", "a case")))
    shared = worlds[given.take("in_world")] if "in_world" in entry else []
    world = tuple(_statement(one, given.where) for one in [*shared, *given.take("world", [])])
    as_of = given.take("as_of", None)
    asked = _Given(given.take("query"), f"{given.where}, query")
    case = Case(
        id=given.take("id"),
        proves=tuple(given.take("proves", ())),
        why=given.take("why"),
        labels=given.take("labels", {}),
        world=world,
        by=asked.take("by", SUBJECT),
        question=_question(asked, as_of),
        failure=given.take("failure", ""),
        expected=_expected(given),
    )
    asked.done()
    given.done()
    _require_known(case)
    return case


_DIRECT = ("rationale", "conditions", "topics", "entities", "aliases")
_TIMES = {
    "since": "valid_from",
    "until": "valid_to",
    "observed": "observed_at",
    "confirmed": "last_confirmed_at",
    "due": "expected_resolution_at",
}


def _statement(entry: dict[str, Any], where: str) -> Statement:
    given = _Given(entry, f"{where}, {entry.get('say', 'a statement')}")
    fields: dict[str, Any] = {name: _plain(given.take(name)) for name in _DIRECT if name in entry}
    fields |= {name: instant(given.take(word)) for word, name in _TIMES.items() if word in entry}
    if "verdict" in entry:
        fields["verdict"] = Verdict(given.take("verdict"))
    fields["epistemic_status"] = EpistemicStatus(given.take("status", "explicit"))
    fields["retrieval_policy"] = RetrievalPolicy(given.take("policy", "relevant"))
    made = Statement(
        name=given.take("say"),
        by=given.take("by", SUBJECT),
        project=given.take("project", None),
        memory_type=MemoryType(given.take("type", "fact")),
        fact_key=given.take("key"),
        content=given.take("text"),
        source=given.take("source", True),
        fields=fields,
        relations=given.take("relations", {}),
        refused=given.take("refused", None),
        withdrawn=given.take("withdrawn", False),
    )
    given.done()
    return made


def _question(asked: _Given, as_of: object) -> Question:
    budget = asked.take("budget", {})
    return Question(
        question=asked.take("question", ""),
        task=asked.take("task", ""),
        project=asked.take("project", None),
        topics=tuple(fold_key(name) for name in asked.take("topics", ())),
        entities=tuple(fold_key(name) for name in asked.take("entities", ())),
        types=tuple(MemoryType(name) for name in asked.take("types", ())),
        fact_keys=tuple(asked.take("fact_keys", ())),
        environment=asked.take("environment", {}),
        decision=Asked(asked.take("decision", "retrieve")),
        trigger=Trigger(asked.take("trigger", "query")),
        mode=Mode(asked.take("mode", "current")),
        as_of=instant(as_of) if as_of is not None else None,
        window=tuple(Turn(**one) for one in asked.take("window", ())),
        attachments=tuple(Attachment(**one) for one in asked.take("attachments", ())),
        budget=Budget(limit=budget.get("limit", 1500), unit=BudgetUnit(budget.get("unit", "tokens"))),
        max_candidates=asked.take("max_candidates", 20),
        max_items=asked.take("max_items", 5),
        format=PacketFormat(asked.take("format", "json")),
        style=Style(asked.take("style", "sections")),
    )


def _expected(given: _Given) -> Expected:
    reasons = {name: Reason(code).value for name, code in given.take("reasons", {}).items()}
    warnings, exactly, lines = given.take("warnings", None), given.take("exactly", None), given.take("lines", None)
    return Expected(
        must_include=tuple(given.take("must_include", ())),
        must_exclude=tuple(given.take("must_exclude", ())),
        order=tuple(given.take("order", ())),
        adjacent=tuple((first, second) for first, second in given.take("adjacent", ())),
        exactly=None if exactly is None else tuple(exactly),
        reasons=reasons,
        sections=given.take("sections", {}),
        labels={name: tuple(labels) for name, labels in given.take("evidence_labels", {}).items()},
        spans={name: tuple(spans) for name, spans in given.take("spans", {}).items()},
        rationale=given.take("rationale", {}),
        lines=None if lines is None else tuple(lines),
        outcome=given.take("outcome", None),
        decision=given.take("decision", None),
        divergence=given.take("divergence", None),
        asks=given.take("asks", None),
        warnings=None if warnings is None else tuple(sorted(warnings)),
    )


def _require_known(case: Case) -> None:
    said = {one.name for one in case.world}
    wanted = case.expected
    named = {*wanted.must_include, *wanted.must_exclude, *wanted.order, *(wanted.exactly or ())}
    named |= {name for pair in wanted.adjacent for name in pair}
    named |= {*wanted.reasons, *wanted.sections, *wanted.labels, *wanted.spans, *wanted.rationale}
    if named - said:
        message = f"{case.id}: nobody says {', '.join(sorted(named - said))}"
        raise CaseError(message)


def instant(value: object) -> datetime:
    """A YAML date (a UTC day) or a time with offset."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)  # YAML reads "…Z" as a naive UTC time
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    found = datetime.fromisoformat(str(value))
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _plain(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class _Given:
    """The entries of a mapping, each to be taken once; what is left over is a word that nobody knows."""

    def __init__(self, entries: Mapping[str, Any], where: str) -> None:
        self.entries = dict(entries)
        self.where = where

    def take(self, name: str, *default: Any) -> Any:  # noqa: ANN401 - YAML
        if name not in self.entries and not default:
            message = f"{self.where}: {name} is missing"
            raise CaseError(message)
        return self.entries.pop(name, *default)

    def done(self) -> None:
        if self.entries:
            message = f"{self.where}: unknown {', '.join(sorted(self.entries))}"
            raise CaseError(message)
