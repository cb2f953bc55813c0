"""The rules for Chinese. Traditional characters are read as their simplified ones, so that every pattern is written
once; offsets stay the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.memories.extractors.chinese.frame import RETRACTED, clauses, plain, withheld
from apps.memories.extractors.chinese.person import about_the_speaker, correction, noted
from apps.memories.extractors.chinese.preferences import liking, reply_preference, task_parameter
from apps.memories.extractors.chinese.standing import dated_state, lead, progress
from apps.memories.extractors.chinese.work import constraint, decision, goal

if TYPE_CHECKING:
    from collections.abc import Callable

    from apps.memories.extractors.concepts import Reading
    from apps.memories.extractors.sentences import Sentence

__all__ = ["RETRACTED", "RULES", "clauses", "correction", "noted", "plain", "withheld"]

# In this order; the first that understands the sentence has it.
RULES: tuple[Callable[[Sentence], Reading | None], ...] = (
    task_parameter,
    correction,
    about_the_speaker,
    reply_preference,
    liking,
    decision,
    goal,
    dated_state,
    constraint,
    progress,
    lead,
)
