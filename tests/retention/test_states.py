"""The states of a deletion are a table, and a function of its steps."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retention.deletion_states import (
    DONE,
    STEP_TRANSITIONS,
    TRANSITIONS,
    State,
    Step,
    sources_of,
    state_of,
    step_sources_of,
)

pytestmark = pytest.mark.requirement("DJ-16", "DJ-17", "DJ-18", "DJ-19", "DJ-20", "DJ-22")


def test_every_state_stands_in_the_table():
    assert set(TRANSITIONS) == set(State) and set(STEP_TRANSITIONS) == set(Step)


def test_completed_is_the_end_and_everything_else_leads_there():
    assert TRANSITIONS[State.COMPLETED] == frozenset()
    reached = {State.COMPLETED}
    while new := {before for before, after in TRANSITIONS.items() if after & reached} - reached:
        reached |= new
    assert reached == set(State)


def test_sources_are_the_table_read_backwards():
    for before, after in itertools.product(State, State):
        assert (before in sources_of(after)) == (after in TRANSITIONS[before])
    for before, after in itertools.product(Step, Step):
        assert (before in step_sources_of(after)) == (after in STEP_TRANSITIONS[before])


@given(st.lists(st.sampled_from(list(Step)), min_size=1, max_size=15))
def test_the_worst_step_speaks_for_the_job(steps):
    state = state_of(steps)
    if state == State.COMPLETED:
        assert set(steps) <= DONE
    if Step.FAILED in steps:
        assert state == State.FAILED_REQUIRES_ACTION
    elif Step.BLOCKED in steps:
        assert state == State.BLOCKED_BY_RETENTION
    elif Step.RETRY_WAIT in steps:
        assert state == State.RETRY_WAIT
    if set(steps) & {Step.PENDING, Step.RUNNING}:
        assert state != State.COMPLETED
