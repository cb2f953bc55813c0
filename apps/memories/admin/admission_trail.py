"""Which of the seven checks decided about a candidate, told from what is kept of it: its state, decision and reason codes.

The checks run in their order and the first refusal ends them; one that wants somebody to look lets the next ones run. So the
codes say what every check found, except that waiting is not remembered of a candidate that was refused later.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from apps.memories.admin.words import CHECKS, Check
from apps.memories.models import Candidate, Decision

if TYPE_CHECKING:
    from collections.abc import Iterable

_WAITING = (Candidate.Status.PENDING_REVIEW, Candidate.Status.WITHDRAWN)


class Outcome(StrEnum):
    PASSED = "passed"
    REFUSED = "refused"
    WAITS = "waits"
    DECIDED = "decided"  # the last check never refuses: it is the merge decision
    NOT_REACHED = "not_reached"


@dataclass(frozen=True, slots=True)
class Step:
    """One check, its number, and what it found."""

    number: int
    check: Check
    outcome: Outcome
    reasons: tuple[str, ...] = ()


def trail(status: str, decision: str | None, reasons: Iterable[str]) -> tuple[Step, ...]:
    """The seven checks in their order with what each of them found."""
    codes = tuple(reasons)
    if status == Candidate.Status.RECEIVED:
        return tuple(Step(number, check, Outcome.NOT_REACHED) for number, check in enumerate(CHECKS, start=1))
    refused = decision == Decision.REJECT
    steps: list[Step] = []
    for number, check in enumerate(CHECKS[:-1], start=1):
        own = tuple(code for code in codes if code in (check.refuses if refused else check.codes))
        over = any(step.outcome is Outcome.REFUSED for step in steps)
        if refused and own:
            outcome = Outcome.REFUSED
        elif over:
            outcome = Outcome.NOT_REACHED
        else:
            held_back = status in _WAITING and not check.holds_back.isdisjoint(own)
            outcome = Outcome.WAITS if held_back else Outcome.PASSED
        steps.append(Step(number, check, outcome, own))
    placed = {code for step in steps for code in step.reasons}
    rest = tuple(code for code in codes if code not in placed)
    stopped = refused or status in _WAITING
    last = Step(len(CHECKS), CHECKS[-1], Outcome.NOT_REACHED if stopped else Outcome.DECIDED, () if stopped else rest)
    return (*steps, last)


def deciding(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The checks because of which the candidate stands where it stands: the refusal, what waits, or the comparison."""
    found = tuple(steps)
    refusal = next((step for step in found if step.outcome is Outcome.REFUSED), None)
    if refusal is not None:
        return (refusal,)
    return tuple(step for step in found if step.outcome in (Outcome.WAITS, Outcome.DECIDED))
