"""The merge decision alone: every row of design/03's table, and that the order of arrival decides nothing."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.memories.consolidation import decide
from apps.memories.models import Decision
from apps.memories.reasons import Reason
from tests.memories.lines_model import ALICE, BOB, Record, claim, day


def record(*claims):
    made = Record()
    for said in claims:
        made.hear(said)
    return made


@pytest.mark.requirement("MG-02")
def test_a_new_key_is_added():
    assert decide(claim("blue", 1, 1), []).decision is Decision.ADD


@pytest.mark.requirement("MG-03")
@pytest.mark.parametrize("at", [1, 5, 0, None])
def test_the_same_source_again_changes_nothing_whatever_time_it_names(at):
    assert record(claim("blue", 1, 1)).hear(claim("blue", at, 1)).decision is Decision.NO_OP


@pytest.mark.requirement("MG-03", "LN-16")
def test_the_same_word_without_a_source_changes_nothing():
    assert record(claim("blue", 1)).hear(claim("blue", 1)).decision is Decision.NO_OP


@pytest.mark.requirement("MG-04")
def test_an_independent_source_is_attached():
    made = record(claim("blue", 1, 1))
    assert made.hear(claim("blue", 5, 2)).decision is Decision.ATTACH_EVIDENCE
    assert len(made.head.roots) == 2


@pytest.mark.requirement("MG-05")
def test_a_later_value_supersedes():
    made = record(claim("blue", 1, 1))
    assert made.hear(claim("red", 5, 2)).decision is Decision.SUPERSEDE
    assert (made.value_at(day(3)), made.value_at(day(6))) == ("blue", "red")


@pytest.mark.requirement("MG-05", "MG-11")
def test_an_earlier_value_goes_behind_the_head():
    made = record(claim("red", 5, 2))
    found = made.hear(claim("blue", 1, 1))
    assert (found.decision, found.ends) == (Decision.INSERT_HISTORY, day(5))
    assert (made.value_at(day(3)), made.value_at(day(6))) == ("blue", "red")


@pytest.mark.requirement("MG-06")
@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (claim("blue", 1, 1), claim("red", 1, 2), Reason.EQUAL_TIME),
        (claim("blue", 1, 1), claim("red", None, 2), Reason.NO_EFFECTIVE_TIME),
        (claim("blue", None), claim("red", 2, 2), Reason.NO_EFFECTIVE_TIME),
        (claim("blue", 1, 1), claim("red", 5, 2, author=BOB), Reason.OTHER_SUBJECT),
        (claim("blue", 1, 1), claim("red", 5, 2, strength=3), Reason.WEAKER_FIDELITY),
        (claim("red", 5, 2, strength=3), claim("blue", 1, 1), Reason.WEAKER_FIDELITY),
    ],
)
def test_what_does_not_determine_the_value_is_a_conflict(first, second, reason):
    found = record(first).hear(second)
    assert (found.decision, found.reason) == (Decision.CONFLICT, reason)


@pytest.mark.requirement("VH-08")
def test_a_third_value_joins_an_open_conflict_and_a_repeated_one_does_not():
    made = record(claim("blue", 1, 1), claim("red", 1, 2))
    assert made.hear(claim("green", 9, 3)).reason is Reason.OPEN_CONFLICT
    assert made.hear(claim("red", 1, 2)).decision is Decision.NO_OP
    assert made.hear(claim("red", 4, 4)).decision is Decision.ATTACH_EVIDENCE
    assert len(made.members) == 2


def test_an_equal_time_in_the_past_is_a_conflict_too():
    made = record(claim("blue", 1, 1), claim("red", 5, 2))
    assert made.hear(claim("green", 1, 3)).reason is Reason.EQUAL_TIME


def test_stronger_evidence_may_supersede_weaker():
    assert record(claim("blue", 1, 1, strength=3)).hear(claim("red", 5, 2)).decision is Decision.SUPERSEDE


def test_a_value_that_came_back_stays_when_the_one_between_arrives_last():
    made = record(claim("blue", 1, 1), claim("blue", 5, 2))
    found = made.hear(claim("red", 3, 3))
    assert (found.decision, found.resumes_at) == (Decision.INSERT_HISTORY, day(5))
    assert [made.value_at(day(number)) for number in (2, 4, 6)] == ["blue", "red", "blue"]


def test_the_same_value_heard_earlier_moves_its_start_back():
    made = record(claim("blue", 1, 1), claim("red", 5, 2))
    found = made.hear(claim("red", 3, 3))
    assert (found.decision, found.backdates) == (Decision.ATTACH_EVIDENCE, True)
    assert [made.value_at(day(number)) for number in (2, 4, 6)] == ["blue", "red", "red"]
    assert len(made.head.roots) == 2


def test_another_subjects_evidence_does_not_move_the_start():
    made = record(claim("red", 5, 2))
    assert made.hear(claim("red", 3, 3, author=BOB)).backdates is False
    assert made.head.valid_from == day(5)


def test_a_value_that_ended_and_is_said_again_begins_again():
    made = record(claim("blue", 1, 1, until=3))
    assert made.hear(claim("blue", 5, 2)).decision is Decision.SUPERSEDE
    assert [made.value_at(day(number)) for number in (2, 4, 6)] == ["blue", None, "blue"]


def test_a_corrected_statement_does_not_come_back_from_its_old_source():
    from dataclasses import replace

    made = record(claim("blue", 1, 1))
    wrong = made.head
    made.line = [
        replace(wrong, valid_to=wrong.valid_from, corrected=True, head=False),
        replace(wrong, number=2, proposition="red", roots=frozenset()),
    ]
    assert made.hear(claim("blue", 1, 1)).decision is Decision.NO_OP


@pytest.mark.requirement("MG-11")
@pytest.mark.parametrize("order", list(permutations(range(4))), ids=str)
def test_four_values_give_one_line_in_every_order(order):
    said = [claim(text, number * 2, number) for number, text in enumerate(("blue", "red", "blue", "green"))]
    made = record(*(said[place] for place in order))
    assert [made.value_at(day(number)) for number in (1, 3, 5, 7)] == ["blue", "red", "blue", "green"]
    assert made.members == []


VALUES = st.sampled_from(["blue", "red", "green"])
# One subject, each claim from its own source, no two of them for the same instant: nothing is undecided.
HISTORIES = st.lists(VALUES, min_size=1, max_size=6).flatmap(
    lambda texts: st.tuples(
        st.just([claim(text, place * 2, place) for place, text in enumerate(texts)]), st.permutations(range(len(texts)))
    )
)


@pytest.mark.requirement("MG-11")
@settings(max_examples=600, deadline=None)
@given(HISTORIES)
def test_the_line_does_not_depend_on_the_order_of_arrival(history):
    said, order = history
    straight, mixed = record(*said), record(*(said[place] for place in order))
    for number in range(-1, len(said) * 2 + 1):
        assert mixed.value_at(day(number)) == straight.value_at(day(number))
    assert mixed.members == straight.members == []
    assert mixed.head.proposition == straight.head.proposition == said[-1].proposition


ANYTHING = st.builds(
    claim,
    VALUES,
    st.one_of(st.none(), st.integers(0, 4)),
    st.one_of(st.none(), st.integers(0, 5)),
    author=st.sampled_from([ALICE, BOB]),
    strength=st.integers(0, 1),
)


@pytest.mark.requirement("VH-09", "MG-13")
@settings(max_examples=600, deadline=None)
@given(st.lists(ANYTHING, max_size=8))
def test_whatever_is_said_there_is_one_head_and_a_definite_decision(said):
    made = Record()
    for one in said:
        found = made.hear(one)
        assert found.decision in set(Decision) - {Decision.REJECT}
        if found.decision is Decision.CONFLICT:
            assert found.reason is not None
