"""Precision and recall of the rules on the labelled corpus (issue of the extractor: precision ≥ 0.95, recall ≥ 0.80 on the held part).

Every line of `corpus/*.jsonl` is one sentence with the type that must come of it (null: nothing may), the key where it is a known
concept, and the mark where it must be refused. Lines with `held` were written after the rules and never used to change them; whoever
changes a rule because of one writes another. `pytest -s` prints the report.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from apps.memories.extractors import get
from apps.memories.extractors.base import SourceText

CORPUS = Path(__file__).parent / "corpus"
LANGUAGES = ("en", "zh")


@dataclass
class Score:
    right: int = 0
    wrong: int = 0
    missed: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)


def lines(language: str) -> list[dict]:
    return [json.loads(line) for line in (CORPUS / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()]


def score(language: str, *, held: bool) -> Score:
    total = Score()
    for line in lines(language):
        if line.get("held", False) is not held:
            continue
        source = SourceText(text=line["text"], source_type="user_message", occurred_at=datetime(2024, 1, 1, tzinfo=UTC))
        found = get("rules").extract(source).proposals
        marks = {line["mark"]} if "mark" in line else set()
        right = [
            one
            for one in found
            if one.memory_type == line["type"] and one.marks == marks and one.fact_key == line.get("key", one.fact_key)
        ]
        total.right += bool(right)
        total.wrong += len(found) - bool(right)
        total.missed += line["type"] is not None and not right
        if not held and (len(found) != bool(right) or (line["type"] is not None and not right)):
            total.faults.append(f"{line['text']} → {[(one.memory_type, one.fact_key) for one in found]}")
    return total


@pytest.mark.parametrize("held", [False, True], ids=["seen", "held"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_precision_and_recall(language, held):
    total = score(language, held=held)
    print(
        f"\n{language} {'held' if held else 'seen'}: precision {total.precision:.3f} recall {total.recall:.3f} of {total.right + total.missed}"
    )
    for fault in total.faults:
        print("   ", fault)
    assert total.precision >= 0.95, total
    assert total.recall >= 0.80, total


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_corpus_is_large_and_half_of_it_gives_nothing(language):
    known = lines(language)
    assert len({line["text"] for line in known}) == len(known) >= 300
    assert 0.4 <= sum(line["type"] is None for line in known) / len(known) <= 0.6
    types = {line["type"] for line in known}
    assert types == {None, "preference", "fact", "decision", "progress", "goal", "constraint", "state", "finding"}
    assert sum("held" in line for line in known) >= 100


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_of_the_corpus_is_believed_from_a_web_page(language):
    for line in lines(language):
        found = get("rules").extract(SourceText(text=line["text"], source_type="web_page")).proposals
        assert all(one.marks == {"untrusted_instruction"} for one in found), line
