"""Settling conflicts: what a reviewer decides, and what cannot be decided over his head (MG-13, VH-08, LN-23)."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.audits.models import AuditEntry
from apps.core.ids import public_id
from apps.evidence.models import Content
from apps.memories.layers import Relations
from apps.memories.models import ConflictSet, Memory, Relation
from apps.memories.precedence import Ground, Rule, weigh
from apps.retention.models import DeletionJob
from apps.retention.targets import target_of
from tests.memories.sayings import at
from tests.tenants.world import problem

State = Memory.State


@pytest.fixture
def dispute(memories):
    """Alice and bob say different things about one fact of the project."""
    first = memories.say("The gate opens at nine", project="kiosk", fact_key="gate.opens")
    second = memories.say("The gate opens at ten", who="bob", project="kiosk", fact_key="gate.opens", valid_from=at("2024-02-01"))
    assert second.status == "conflict"
    return second.conflict_id, first.memory_id, second.memory_id


def settle(caller, conflict, **body):
    return caller.post(f"/memory-conflicts/{conflict}/resolutions", {"reason": "asked the warden", **body})


def asked(caller):
    return caller.post("/memory-query", {"question": "When does the gate open?", "project": "kiosk"}).json()


@pytest.mark.requirement("MG-13", "VH-08")
def test_a_winner_is_the_value_and_the_other_is_superseded(world, memories, dispute):
    conflict, first, second = dispute
    assert asked(world.alice)["conflicts"]
    answer = settle(world.bob, conflict, winner=second, expected_members=[first, {"memory_id": second, "version": 1}])
    body = answer.json()
    assert answer.status_code == 200 and body["status"] == "resolved" and body["outcome"] == "winner", body
    packet = asked(world.alice)
    assert packet["conflicts"] == []
    assert [item["memory_id"] for item in packet["items"]] == [second]
    loser, winner = memories.memory(first), memories.memory(second)
    assert (loser.state, winner.state, winner.version) == (State.SUPERSEDED, State.ACTIVE, 2)
    with world.inside():
        relation = Relation.objects.get(type="supersedes")
        assert (relation.source_id, relation.target_id) == (winner.id, loser.id)
        # It was the value until the other one began.
        assert memories.versions(first)[0].valid_to == at("2024-02-01")
        row = ConflictSet.objects.get()
        assert (row.status, row.winner_id, set(row.last_members)) == ("resolved", winner.id, {winner.id, loser.id})
        verbs = list(AuditEntry.objects.filter(revision=winner.updated_revision).values_list("verb", flat=True))
        assert sorted(verbs) == ["conflict.resolved", "memory.settled", "memory.settled"]
        assert Content.objects.filter(text="asked the warden").count() == 1
        assert not AuditEntry.objects.filter(codes__contains=["asked"]).exists()
    problem(settle(world.bob, conflict, winner=second, expected_members=[first, second]), 409, "conflict_settled")


def test_values_hold_under_conditions_that_tell_them_apart(world, memories, dispute):
    conflict, first, second = dispute
    both = {"outcome": "keep_both_conditional", "expected_members": [first, second]}
    problem(settle(world.bob, conflict, **both), 422, "validation_failed")
    for wrong in ({first: {}}, {first: {"day": "monday"}, second: {"day": "monday"}}, {"mem_0": {"day": "monday"}}):
        problem(settle(world.bob, conflict, **both, conditions=wrong), 422, "validation_failed")
    answer = settle(world.bob, conflict, **both, conditions={first: {"season": "summer"}, second: {"season": "winter"}})
    assert answer.status_code == 200, answer.content
    for name, season in ((first, "summer"), (second, "winter")):
        memory = memories.memory(name)
        assert memory.state == State.ACTIVE and memory.conflict_set_id is None
        with world.inside():
            assert memories.versions(name)[-1].conditions == {"season": season}
    # Each is a key of its own now: the next statement under it has one rival.
    third = memories.say("The gate opens at eight", who="bob", project="kiosk", fact_key="gate.opens",
                         conditions={"season": "winter"}, valid_from=at("2024-03-01"))  # fmt: skip
    assert (third.status, third.memory_id) == ("committed", second)


def test_all_are_withdrawn_and_the_key_is_free(world, memories, dispute):
    conflict, first, second = dispute
    answer = settle(world.bob, conflict, outcome="withdraw_all", expected_members=[first, second])
    assert {one["state"] for one in answer.json()["members"]} == {"withdrawn"}
    assert asked(world.alice)["items"] == []
    assert memories.say("The gate opens at noon", project="kiosk", fact_key="gate.opens").decision == "ADD"


@pytest.mark.requirement("VH-11")
def test_nothing_is_settled_that_was_not_looked_at(world, memories, dispute):
    conflict, first, second = dispute
    stale = [{"memory_id": first, "version": 1}, {"memory_id": second, "version": 1}]
    assert world.alice.patch(f"/memories/{first}", {"content": "The gate opens at 9", "reason": "x", "expected_version": 1})
    problem(settle(world.bob, conflict, winner=first, expected_members=stale), 409, "conflict_changed")
    for members in ([first], [first, second, public_id("mem", UUID(int=1))]):
        problem(settle(world.bob, conflict, winner=first, expected_members=members), 409, "conflict_changed")
    assert world.alice.get(f"/memory-conflicts/{conflict}").json()["status"] == "open"
    assert world.alice.delete(f"/memories/{first}?deletion_request_id=d1").status_code == 202
    problem(settle(world.bob, conflict, winner=first, expected_members=[first, second]), 409, "conflict_settled")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"winner": "mem_1", "outcome": "withdraw_all"},
        {"outcome": "winner"},
        {"outcome": "coin"},
        {"winner": "mem_1", "conditions": {"mem_1": {}}},
        {"winner": "mem_1"},
        {"outcome": "withdraw_all", "expected_members": []},
        {"outcome": "withdraw_all", "expected_members": [{"memory_id": "mem_1", "seen": 1}]},
        {"outcome": "withdraw_all", "expected_members": [7]},
        {"outcome": "withdraw_all", "reason": ""},
        {"outcome": "withdraw_all", "reason": "the key is sk-proj-abcdefghijklmnopqrstuvwx1234567890ABCDEFGH"},
    ],
)
def test_a_settlement_is_checked_whole(world, dispute, body):
    conflict, first, second = dispute
    expected = {} if body == {"winner": "mem_1"} else {"expected_members": [first, second]}
    assert settle(world.bob, conflict, **{**expected, **body}).status_code == 422


@pytest.mark.requirement("ID-09")
def test_a_key_makes_a_settlement_once_and_readers_without_the_right_are_refused(world, dispute):
    conflict, first, second = dispute
    body = {"winner": first, "expected_members": [first, second], "reason": "x"}
    path = f"/memory-conflicts/{conflict}/resolutions"
    problem(world.caller("bob", operations=["memory:read"]).post(path, body), 403, "operation_not_granted")
    answers = [world.bob.post(path, body, **{"Idempotency-Key": "k-1"}) for _ in range(2)]
    assert [one.status_code for one in answers] == [200, 200] and answers[0].json() == answers[1].json()


@pytest.mark.requirement("LN-23")
def test_what_speaks_for_a_value_is_explained_in_its_order(world, dispute):
    conflict, _first, second = dispute
    body = world.alice.get(f"/memory-conflicts/{conflict}").json()
    assert [one["rule"] for one in body["precedence"]] == [rule.value for rule in Rule]
    assert body["precedence"][0]["favours"] == []  # both are direct words
    assert body["precedence"][1]["favours"] == [second] and body["favoured"] == second
    assert {one["epistemic_status"] for one in body["members"]} == {"explicit"}


grounds = st.lists(
    st.builds(
        Ground,
        memory=st.uuids(),
        primary=st.booleans(),
        explicit=st.booleans(),
        dated_at=st.sampled_from([None, at("2024-01-01"), at("2024-01-02")]),
        fidelity_rank=st.integers(0, 4),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one.memory,
)


@given(grounds)
def test_rules_only_look_at_what_is_left_and_favour_one_value_or_none(found):
    findings, favoured = weigh(found)
    left = {one.memory for one in found}
    for finding in findings:
        assert set(finding.favoured) <= left
        assert not finding.favoured or len(finding.favoured) < len(left)
        left = set(finding.favoured) or left
    assert favoured == (next(iter(left)) if len(left) == 1 < len(found) else None)


@pytest.mark.requirement("DJ-04")
def test_a_deletion_of_a_former_member_takes_the_key_of_the_conflict(world, memories, dispute):
    conflict, first, second = dispute
    assert settle(world.bob, conflict, winner=second, expected_members=[first, second]).status_code == 200
    assert world.alice.delete(f"/memories/{first}?deletion_request_id=del-1").status_code == 202
    layer = Relations()
    with world.inside():
        target = target_of(DeletionJob.objects.select_related("revocation", "namespace").get())
        assert layer.verify(target) > 0
        while layer.clear(target, None).count:
            pass
        assert (layer.discover(target), layer.verify(target)) == (0, 0)
        row = ConflictSet.objects.get()
        assert (row.fact_key, row.conditions_hash, row.status) == ("", "", "resolved")
