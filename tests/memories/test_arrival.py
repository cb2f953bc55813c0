"""The merge table in every order of arrival, on the database: what is held true follows from what was said alone (MG-11).

The expectation is made from the design's words by lines_model.py, which knows neither versions nor order. Every value is one
subject's, on one kind of ground, dated or not; a retelling comes after what it retells, because it brings less than that.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.memories.consolidation import Claim
from apps.memories.models import ConflictSet, Memory
from apps.memories.proposals import conditions_hash
from tests.memories.arrivals import LANGUAGES, STRONG, VALUES, WEAK, Said, Speaker, State, gathered, instant, state_of
from tests.memories.lines_model import ALICE, BOB, current_values, joined, spans

pytestmark = pytest.mark.django_db

NO_CONDITIONS = conditions_hash({})
_keys = iter(range(10_000))


def expected(said: list[Said], speaker: Speaker) -> State:
    """What the design makes of these statements under one set of conditions."""
    claims = [
        Claim(
            proposition=one.value,
            roots=frozenset({speaker.roots[one.source]}),
            effective_at=None if one.day is None else instant(one.day),
            author=ALICE if one.who == "alice" else BOB,
            strength=0 if one.ground == STRONG else 1,
            valid_to=None if one.until is None else instant(one.until),
        )
        for one in said
    ]
    held = spans(claims)
    roots: dict[str, list[tuple[object, frozenset[UUID]]]] = defaultdict(list)
    for one in claims:
        roots[one.proposition].append((one.effective_at, one.roots))
    current = frozenset(current_values(claims))
    return State(held, gathered(held, roots), current, len(current) > 1)


def left_by(memories, language: str, order: list[Said], *, together: bool) -> tuple[State, Speaker]:
    speaker = Speaker(memories, language, f"gate.{next(_keys)}")
    if together:
        speaker.say_together(order)
    else:
        for one in order:
            speaker.say(one)
    return state_of(memories, speaker, conditions_hash=NO_CONDITIONS), speaker


# -- sets of statements that between them go through every row of the table

SETS = {
    "the same from the same source": [Said("eight", 1, 1), Said("eight", 1, 1, respelled=True)],
    "the same from an independent source": [Said("eight", 1, 1), Said("eight", 3, 2), Said("eight", 2, 3)],
    "later values": [Said("eight", 1, 1), Said("nine", 3, 2), Said("ten", 5, 3)],
    "a value that comes back": [Said("eight", 1, 1), Said("nine", 3, 2), Said("eight", 5, 3)],
    "equal times": [Said("eight", 1, 1), Said("nine", 1, 2)],
    "equal times, settled by a later word": [Said("eight", 1, 1), Said("nine", 1, 2), Said("ten", 4, 3)],
    "equal times behind a later word and a third": [
        Said("eight", 2, 1),
        Said("nine", 2, 2),
        Said("ten", 1, 3),
        Said("noon", 4, 4),
    ],
    "nobody says since when": [Said("eight", 1, 1), Said("nine", None, 2), Said("ten", 3, 3)],
    "another subject": [Said("eight", 1, 1), Said("nine", 3, 2, who="bob"), Said("ten", 5, 3)],
    "each subject has a history": [
        Said("eight", 1, 1),
        Said("nine", 2, 2, who="bob"),
        Said("ten", 5, 3),
        Said("noon", 6, 4, who="bob"),
    ],
    "weaker ground": [Said("eight", 1, 1), Said("nine", 3, 2, ground=WEAK)],
    "weaker ground, then a word of the subject": [Said("eight", 1, 1), Said("nine", 3, 2, ground=WEAK), Said("ten", 5, 3)],
    "a value that ends by itself": [Said("eight", 1, 1, until=2), Said("nine", 4, 2)],
}


@pytest.mark.requirement("MG-02", "MG-03", "MG-04", "MG-05", "MG-06", "MG-11", "VH-08", "LN-04")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("said", SETS.values(), ids=SETS.keys())
def test_every_order_of_every_row_leaves_the_same(memories, said, language):
    for number, order in enumerate(permutations(said)):
        # Half of the orders one by one, half in one request; which half differs between the languages.
        together = number % 2 == LANGUAGES.index(language)
        found, speaker = left_by(memories, language, [*order, order[0]], together=together)
        assert found == expected(said, speaker), [(one.value, one.day) for one in order]


@pytest.mark.requirement("CA-26", "VH-07")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_other_conditions_stand_apart_in_every_order(memories, world, language, order):
    said = [
        Said("eight", 1, 1, conditions=(("season", "summer"),)),
        Said("nine", 1, 2, conditions=(("season", "winter"),)),
        Said("ten", 4, 3, conditions=(("season", "summer"),)),
    ]
    speaker = Speaker(memories, language, "gate.opens")
    for place in order:
        speaker.say(said[place])
    for season, current in (("summer", {"ten"}), ("winter", {"nine"})):
        assert state_of(memories, speaker, conditions_hash=conditions_hash({"season": season})).current == current
    with world.inside():
        assert not ConflictSet.objects.exists()
        assert Memory.objects.count() == 2


# -- any set, in any order, with repetitions


@st.composite
def statements(draw) -> list[Said]:
    kinds: dict[str, tuple[str, str, bool]] = {}
    said = []
    for source in range(draw(st.integers(1, 6))):
        value = draw(st.sampled_from(sorted(VALUES)))
        if value not in kinds:
            kinds[value] = (
                draw(st.sampled_from(["alice", "alice", "bob"])),
                draw(st.sampled_from([STRONG, STRONG, WEAK])),
                draw(st.integers(0, 4)) > 0,
            )
        who, ground, dated = kinds[value]
        # What has no event has no page either: an undated one rests on a document.
        said.append(Said(value, draw(st.integers(0, 5)) if dated else None, source, who, ground if dated else STRONG))
    return said


@st.composite
def arrivals(draw) -> tuple[list[Said], list[Said]]:
    """A set of statements, and an order of them in which some come again: as they were, respelled, or retold."""
    said = draw(statements())
    order = draw(st.permutations(said))
    for again in draw(st.lists(st.sampled_from(said), max_size=3)):
        change = draw(st.sampled_from([{}, {"respelled": True}, {"retold": True}] if again.day is not None else [{}]))
        at = draw(st.integers(order.index(again) + 1, len(order)))
        order.insert(at, Said(**{**again.__dict__, **change}))
    return said, order


@pytest.mark.requirement("MG-11", "MG-03", "MG-10", "LN-04", "VH-08", "VH-09")
@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(case=arrivals(), together=st.booleans())
def test_any_set_leaves_the_same_in_any_order(memories, language, case, together):
    said, order = case
    found, speaker = left_by(memories, language, order, together=together)
    assert found == expected(said, speaker)


def test_the_expectation_can_be_missed():
    """The comparison sees a lost end, a lost origin and a lost dispute."""
    said = [Said("eight", 1, 1), Said("nine", 3, 2)]
    speaker = Speaker(None, "en", "k")
    speaker.roots = {1: UUID(int=1), 2: UUID(int=2)}
    right = expected(said, speaker)
    assert right.spans == {"eight": [(instant(1), instant(3))], "nine": [(instant(3), None)]}
    assert right != expected(said[:1], speaker)
    assert right.current == {"nine"}
    assert expected([said[0], Said("nine", 1, 2)], speaker).disputed
    assert joined([(instant(1), instant(2)), (instant(2), None)]) == [(instant(1), None)]
