"""The pipeline on the real database: what is found, what is not, and what the trace keeps."""

from __future__ import annotations

import pytest

from apps.core.errors import NotFound, RevisionUnavailable
from apps.core.ids import parse_public_id
from apps.evidence.models import Content
from apps.memories import timeline
from apps.memories.door import readable_memories
from apps.memories.heads import held_at, readable_heads, readable_ids
from apps.memories.models import Memory
from apps.memories.revision import Change, revise_memory, withdraw_memory
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retrieval.context import Budget
from apps.retrieval.models import RetrievalTrace
from apps.retrieval.traces import get_trace
from apps.retrieval.vocabulary import BudgetUnit, Reason
from tests.memories.sayings import at

pytestmark = pytest.mark.django_db


@pytest.mark.requirement("RP-05", "RP-09", "ID-05")
def test_user_and_project_memories_are_found_inside_the_scope_only(memories, asking):
    memories.say("Prefers short release notes")
    memories.say("Release notes go out on Friday", project="kiosk")
    memories.say("Release notes of the lamp room", who="bob", project="lighthouse")
    packet = asking.packet("release notes", project="kiosk")
    assert {item.scope for item in packet.items} == {"user", "project"}
    assert not any("lamp room" in item.content for item in packet.items)


@pytest.mark.requirement("ID-09")
def test_a_project_out_of_reach_is_not_found(asking):
    for project in ("lighthouse", "nowhere"):
        with pytest.raises(NotFound):
            asking.packet("lamp", project=project)


@pytest.mark.requirement("RP-19", "C21")
def test_filtered_by_scope_is_said_for_ones_own_projects_only(memories, asking):
    memories.say("The foghorn battery is on the upper shelf", who="bob", project="lighthouse")
    assert asking.packet("foghorn battery shelf", who="bob", project="kiosk").outcome == "filtered_by_scope"
    assert asking.packet("foghorn battery shelf", project="kiosk").outcome == "no_match"


@pytest.mark.requirement("OJ-11", "RP-06")
def test_what_the_authority_took_back_is_not_given_out(world, memories, asking):
    revised = memories.say("The pump is green")
    revise_memory(
        world.access("alice"), revised.memory_id, expected_version=1, change=Change(content="The pump is red"), reason="x"
    )
    withdrawn = memories.say("The pump is loud")
    withdraw_memory(world.access("alice"), withdrawn.memory_id, expected_version=1, reason="x")
    gone = memories.say("The pump is old")
    request_deletion(world.access("alice"), DeletionRequest(deletion_request_id="d1", kind="memory", target=gone.memory_id))
    assert asking.contents("pump") == ["The pump is red"]
    assert asking.contents("green") == []


@pytest.mark.requirement("RY-02")
def test_a_revision_that_is_not_there_yet_is_refused(memories, asking):
    made = memories.say("The lamp is warm")
    number = int(made.revision.removeprefix("rev_"))
    assert asking.packet("lamp", min_revision=number).items
    with pytest.raises(RevisionUnavailable):
        asking.packet("lamp", min_revision=number + 1)


@pytest.mark.requirement("RP-24", "RP-28")
def test_refused_rows_do_not_use_up_the_places(world, memories, asking):
    memories.say("Crane oil is in shed four", valid_from=at("2020-01-01"))
    for number in range(12):
        expired = memories.say(f"Crane oil crane oil {number}", valid_from=at("2021-01-01"), valid_to=at("2021-02-01"))
        assert expired.status == "committed"
    assert asking.contents("crane oil", max_candidates=2, max_items=1) == ["Crane oil is in shed four"]


@pytest.mark.requirement("TC-01", "TC-08", "TC-10")
def test_the_trace_names_every_candidate_and_holds_no_text(world, memories, asking):
    kept = memories.say("The zebra lamp is warm")
    memories.say("The zebra lamp was cold", valid_from=at("2021-01-01"), valid_to=at("2021-02-01"))
    packet = asking.packet("zebra lamp")
    seen = get_trace(world.access("alice"), packet.trace_id)
    reasons = {row["memory_id"]: row["reason"] for row in seen.candidates}
    assert reasons[kept.memory_id] is None and set(reasons.values()) == {None, "expired"}
    assert seen.lanes["lexical"]
    with world.inside():
        row = RetrievalTrace.objects.get(pk=parse_public_id("trc", packet.trace_id))
        assert "zebra" not in str(vars(row))
        assert "zebra" in Content.objects.get(pk=row.request_id).text
    with pytest.raises(NotFound):
        get_trace(world.access("bob"), packet.trace_id)


@pytest.mark.requirement("BU-02", "BU-19")
def test_the_budget_holds_in_both_units(memories, asking):
    for number in range(6):
        memories.say(f"Berth {number} is free for the night ferry")
    for unit in BudgetUnit:
        for limit in (0, 30, 90, 400):
            packet = asking.packet("berth ferry", budget=Budget(limit=limit, unit=unit))
            assert packet.budget.used <= limit
            assert packet.truncated_by_budget is any(one.reason == Reason.OVER_BUDGET for one in packet.omitted)
            assert len(packet.items) == 5 or packet.truncated_by_budget


@pytest.mark.requirement("ID-24")
def test_the_statement_of_queries_is_the_door_of_every_read(world, memories):
    made = [memories.say("One"), memories.say("Two", who="bob"), memories.say("Three", project="kiosk")]
    made.append(memories.say("Four", who="bob", project="lighthouse"))
    gone = memories.say("Five")
    request_deletion(world.access("alice"), DeletionRequest(deletion_request_id="d2", kind="memory", target=gone.memory_id))
    with world.inside():
        every = list(Memory.objects.values_list("id", flat=True))
        for who in ("alice", "bob"):
            access = world.access(who)
            by_statement = {row.id for row in readable_heads(access, every, access.readable)}
            assert by_statement == set(readable_memories(access).values_list("id", flat=True)) == readable_ids(access, every)
            assert by_statement


def test_a_query_costs_the_same_number_of_statements_whatever_is_there(memories, asking, django_assert_max_num_queries):
    for number in range(3):
        memories.say(f"Berth {number} is free")
    with django_assert_max_num_queries(24):
        asking.packet("berth free")
    for number in range(3, 30):
        memories.say(f"Berth {number} is free")
    with django_assert_max_num_queries(24):
        asking.packet("berth free")


@pytest.mark.requirement("TM-11", "TM-02")
def test_the_statement_of_queries_knows_what_held_when(world, memories):
    access = world.access("alice")
    made = memories.say("Two", fact_key="price", valid_from=at("2022-01-01"), valid_to=at("2023-01-01"))
    changed = memories.say("Three", fact_key="fare", valid_from=at("2022-01-01"))
    memories.say("Four", fact_key="fare", valid_from=at("2022-06-01"))
    memories.say("Five", fact_key="fare", valid_from=at("2090-01-01"))
    revise_memory(access, made.memory_id, expected_version=1, change=Change(content="Two and a half"), reason="x")
    ids = [memories.memory(made).id, memories.memory(changed).id]
    with world.inside():
        for day in (
            "2021-01-01",
            "2022-01-01",
            "2022-05-31",
            "2022-06-01",
            "2022-12-31",
            "2023-01-01",
            "2089-01-01",
            "2091-01-01",
        ):
            expected = timeline.in_force(world.tenant_id, ids, at(day))
            found = held_at(world.tenant_id, ids, at(day))
            assert {key: row.id for key, row in found.items()} == {key: row.id for key, row in expected.items()}, day
        assert len(held_at(world.tenant_id, ids, at("2022-05-31"))) == 2
