"""The merge decision alone: every row of design/03's table, and that the order of arrival decides nothing."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.memories.consolidation import decide
from apps.memories.models import Decision
from apps.memories.reasons import Reason
from tests.memories.lines_model import ALICE, BOB, Record, claim, current_values, day, joined, spans


def record(*claims):
    made = Record()
    for said in claims:
        made.hear(said)
    return made


def state_of(made):
    """When each value holds, and which are current."""
    parts: dict[str, list] = {}
    for one in made.histories:
        for standing in one.line().live:
            start = standing.valid_from if standing.effective else None
            parts.setdefault(standing.proposition, []).append((start, standing.valid_to))
    return {value: joined(found) for value, found in parts.items()}, {one.head.proposition for one in made.current}


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
    assert made.hear(claim("green", 1, 3)).reason is Reason.OPEN_CONFLICT
    assert made.hear(claim("red", 1, 2)).decision is Decision.NO_OP
    assert made.hear(claim("red", 1, 4)).decision is Decision.ATTACH_EVIDENCE
    assert len(made.current) == 3


@pytest.mark.requirement("MG-05", "VH-08", "LN-23")
def test_a_later_word_of_the_same_subject_settles_what_they_contradicted_themself_about():
    made = record(claim("blue", 1, 1), claim("red", 1, 2))
    found = made.hear(claim("green", 9, 3))
    assert (found.decision, len(found.retires)) == (Decision.SUPERSEDE, 1)
    assert made.head.proposition == "green"
    assert state_of(made) == state_of(record(claim("blue", 1, 1), claim("green", 9, 3), claim("red", 1, 2)))


@pytest.mark.requirement("MG-05", "VH-08")
def test_saying_one_of_two_values_again_later_settles_them():
    made = record(claim("blue", 1, 1), claim("red", 1, 2))
    found = made.hear(claim("red", 4, 4))
    assert (found.decision, len(found.retires)) == (Decision.ATTACH_EVIDENCE, 1)
    assert (made.head.proposition, made.value_at(day(5))) == ("red", "red")


@pytest.mark.requirement("VH-08", "ID-29")
def test_a_further_word_of_one_of_two_subjects_ends_their_own_and_not_the_dispute():
    made = record(claim("blue", 1, 1), claim("red", 3, 2, author=BOB))
    found = made.hear(claim("green", 9, 3))
    assert (found.decision, found.reason, found.line) == (Decision.CONFLICT, Reason.OPEN_CONFLICT, 0)
    assert {one.head.proposition for one in made.current} == {"green", "red"}


@pytest.mark.requirement("MG-11", "LN-24")
def test_an_equal_time_in_the_past_leaves_the_head_and_keeps_both():
    made = record(claim("blue", 1, 1), claim("red", 5, 2))
    found = made.hear(claim("green", 1, 3))
    assert (found.decision, found.beside, found.ends) == (Decision.INSERT_HISTORY, True, day(5))
    assert made.head.proposition == "red"
    assert sorted(value for one in made.histories for value in one.values_at(day(3))) == ["blue", "green"]


def test_stronger_evidence_may_supersede_weaker():
    assert record(claim("blue", 1, 1, strength=3)).hear(claim("red", 5, 2)).decision is Decision.SUPERSEDE


def test_a_value_that_came_back_stays_when_the_one_between_arrives_last():
    made = record(claim("blue", 1, 1), claim("blue", 5, 2))
    found = made.hear(claim("red", 3, 3))
    assert found.decision is Decision.INSERT_HISTORY
    assert [one.resumes_at for one in found.closes] == [day(5)]
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
    made.histories[0].standings = [
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
    assert not made.disputed


# Every value is one subject's, on one kind of ground, always dated or never; all else is free. Sources differ.
@st.composite
def claims(draw):
    kinds: dict[str, tuple[object, int, bool]] = {}
    said = []
    for source in range(draw(st.integers(1, 7))):
        value = draw(VALUES)
        if value not in kinds:
            kinds[value] = (
                draw(st.sampled_from([ALICE, ALICE, BOB])),
                draw(st.sampled_from([0, 0, 3])),
                draw(st.integers(0, 4)) > 0,
            )
        author, strength, dated = kinds[value]
        said.append(claim(value, draw(st.integers(0, 6)) if dated else None, source, author=author, strength=strength))
    return said


VALUES = st.sampled_from(["blue", "red", "green", "white"])
IN_SOME_ORDER = claims().flatmap(lambda said: st.tuples(st.just(said), st.permutations([*said, *said[:2]])))


@pytest.mark.requirement("MG-11", "MG-06", "VH-08")
@settings(max_examples=1500, deadline=None)
@given(IN_SOME_ORDER)
def test_the_state_is_what_the_set_of_claims_means_in_every_order(case):
    """Heads, dispute and the time of every value follow from the claims alone; some come twice."""
    said, order = case
    made = record(*order)
    assert state_of(made) == (spans(said), current_values(said))


ANYTHING = st.builds(
    claim,
    VALUES,
    st.one_of(st.none(), st.integers(0, 4)),
    st.one_of(st.none(), st.integers(0, 5)),
    author=st.sampled_from([ALICE, BOB]),
    strength=st.integers(0, 1),
    until=st.one_of(st.none(), st.integers(5, 7)),
)


@pytest.mark.requirement("VH-09", "MG-13")
@settings(max_examples=1000, deadline=None)
@given(st.lists(ANYTHING, max_size=8))
def test_whatever_is_said_there_is_one_head_or_a_dispute_and_a_definite_decision(said):
    made = Record()
    for one in said:
        found = made.hear(one)
        assert found.decision in set(Decision) - {Decision.REJECT}
        assert (found.decision is Decision.CONFLICT) <= (found.reason is not None and made.disputed)
        assert made.current
