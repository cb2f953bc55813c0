"""How a deletion moves: one table of transitions, and the state of a job as a function of its steps (DJ-16..22)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.retention.models import DeletionJob, DeletionStep

if TYPE_CHECKING:
    from collections.abc import Iterable

State = DeletionJob.State
Step = DeletionStep.State

TRANSITIONS: dict[State, frozenset[State]] = {
    State.ACCEPTED: frozenset({State.RUNNING}),
    State.RUNNING: frozenset({State.COMPLETED, State.RETRY_WAIT, State.BLOCKED_BY_RETENTION, State.FAILED_REQUIRES_ACTION}),
    State.RETRY_WAIT: frozenset({State.RUNNING}),
    State.BLOCKED_BY_RETENTION: frozenset({State.RUNNING}),
    State.FAILED_REQUIRES_ACTION: frozenset({State.RUNNING}),
    State.COMPLETED: frozenset(),
}

STEP_TRANSITIONS: dict[Step, frozenset[Step]] = {
    Step.PENDING: frozenset({Step.RUNNING}),
    # Running again: the worker died, and the next one takes the step up where its checkpoint stands.
    Step.RUNNING: frozenset({Step.RUNNING, Step.CLEARED, Step.RETRY_WAIT, Step.BLOCKED, Step.FAILED}),
    Step.RETRY_WAIT: frozenset({Step.RUNNING}),
    Step.BLOCKED: frozenset({Step.RUNNING}),
    Step.FAILED: frozenset({Step.RUNNING}),
    Step.CLEARED: frozenset(),
    Step.NOT_APPLICABLE: frozenset(),
}

DONE = frozenset({Step.CLEARED, Step.NOT_APPLICABLE})

# The worst step speaks for the job.
_WORST_FIRST = (
    (Step.FAILED, State.FAILED_REQUIRES_ACTION),
    (Step.BLOCKED, State.BLOCKED_BY_RETENTION),
    (Step.RETRY_WAIT, State.RETRY_WAIT),
)


def sources_of(state: State) -> list[State]:
    """The states from which a job may come into this one: the condition of the guarded UPDATE."""
    return [before for before, after in TRANSITIONS.items() if state in after]


def step_sources_of(state: Step) -> list[Step]:
    """The same for a step."""
    return [before for before, after in STEP_TRANSITIONS.items() if state in after]


def state_of(steps: Iterable[str]) -> State:
    """What the steps say about their job. Only when every layer is cleared or does not apply is anything completed."""
    found = set(steps)
    for step, state in _WORST_FIRST:
        if step in found:
            return state
    if found <= DONE:
        return State.COMPLETED
    return State.RUNNING if found & {Step.RUNNING, Step.CLEARED} else State.ACCEPTED
