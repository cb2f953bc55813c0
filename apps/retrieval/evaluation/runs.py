"""Measuring recall of the real pipeline on a data set: import, ask every question, compare with the turns that answer it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from apps.memories.importing.locomo import ANSWERABLE
from apps.memories.importing.turns import read_turns
from apps.memories.importing.verb import Imported, import_turns, turn_key
from apps.retrieval.context import Budget
from apps.retrieval.evaluation.metrics import Tally
from apps.retrieval.pipeline import answer_query
from apps.retrieval.question import Question

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from apps.memories.importing.locomo import Conversation
    from apps.memories.importing.turns import RecordedTurn
    from apps.tenants.access import Access

DEPTH = 20
_ROOM = 200_000  # the packet's budget must not decide what recall is measured on


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of one group of questions: recall@5/10/20, MRR, mean packet size and precision."""

    group: str
    questions: int
    figures: dict[str, float]


def import_dataset(access: Access, path: Path, project_of: Callable[[str], str]) -> Imported:
    """Bring every turn of the file in; ``project_of`` names the project of a conversation. Returns the sums of all of them."""
    spoken: dict[str, list[RecordedTurn]] = {}
    for turn in read_turns(path):
        spoken.setdefault(turn.conversation, []).append(turn)
    sums = Imported()
    for name, turns in spoken.items():
        done = import_turns(access, turns, project=project_of(name))
        sums = Imported(*(getattr(sums, one.name) + getattr(done, one.name) for one in fields(Imported)))
    return sums


def measure(
    access: Access,
    conversations: tuple[Conversation, ...],
    project_of: Callable[[str], str],
    *,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Measured]:
    """Ask every answerable question in the project of its conversation and count where the answering turns stand."""
    tallies: dict[str, Tally] = {}
    asked = [
        (one, question)
        for one in conversations
        for question in one.questions
        if question.category in ANSWERABLE and question.evidence
    ]
    for number, (conversation, question) in enumerate(asked, start=1):
        relevant = {turn_key(conversation.conversation_id, turn_id) for turn_id in question.evidence}
        packet = answer_query(access, _asked(question.text, project_of(conversation.conversation_id)))
        ranked = [item.fact_key or "" for item in packet.items]
        for group in (f"category {question.category}", "all"):
            tallies.setdefault(group, Tally()).add(ranked, relevant)
        progress(number, len(asked))
    return [Measured(group, tally.questions, tally.figures()) for group, tally in sorted(tallies.items(), reverse=True)]


def _asked(question: str, project: str) -> Question:
    return Question(
        question=question,
        project=project,
        max_candidates=DEPTH * 2,
        max_items=DEPTH,
        budget=Budget(limit=_ROOM),
    )
