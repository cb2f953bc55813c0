"""The life of a job: one table of allowed moves. Every move is a conditional UPDATE whose row count is looked at."""

from __future__ import annotations

from apps.jobs.models import ProcessingJob

State = ProcessingJob.State

TRANSITIONS: dict[State, frozenset[State]] = {
    State.QUEUED: frozenset({State.RUNNING}),
    # Back to QUEUED: the handler asked to be called again, or the worker was told to stop.
    State.RUNNING: frozenset({State.DONE, State.RETRY_WAIT, State.QUEUED, State.DEAD}),
    State.RETRY_WAIT: frozenset({State.RUNNING}),
    State.DEAD: frozenset({State.QUEUED, State.DISCARDED}),  # both only by a person
    State.DONE: frozenset(),
    State.DISCARDED: frozenset(),
}

WAITING = (State.QUEUED, State.RETRY_WAIT)


def sources(target: State) -> list[State]:
    """The states from which a job may move to ``target``."""
    return [state for state, targets in TRANSITIONS.items() if target in targets]
