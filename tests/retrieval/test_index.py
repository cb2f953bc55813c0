"""Postings and statistics follow what memory says, and a rebuild changes no answer."""

from __future__ import annotations

import pytest

from apps.jobs.runner import drain
from apps.memories.revision import Change, revise_memory, withdraw_memory
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retrieval.rebuild import rebuild_namespace
from apps.tenants.console_access import command_access
from tests.memories.sayings import at


def _life(world, memories):
    """One memory of every fate."""
    access = world.access("alice")
    memories.say("The lamp is warm", fact_key="lamp", valid_from=at("2024-01-01"))
    memories.say("The lamp is cold", fact_key="lamp", valid_from=at("2024-06-01"))
    memories.say("The lamp will be blue", fact_key="lamp", valid_from=at("2099-01-01"))
    revised = memories.say("The pump is green")
    revise_memory(access, revised.memory_id, expected_version=1, change=Change(content="The pump is red"), reason="x")
    withdrawn = memories.say("The stove is cold")
    withdraw_memory(access, withdrawn.memory_id, expected_version=1, reason="x")
    return memories.say("The ferry is late")


@pytest.mark.django_db
@pytest.mark.requirement("OJ-10", "RP-06")
def test_statistics_are_what_the_postings_say(world, memories, asking):
    _life(world, memories)
    _, statistics, states = asking.index()
    counted, documents = asking.counted()
    assert statistics == counted
    assert {key: value for key, value in states.items() if value != (0, 0)} == documents


@pytest.mark.django_db
@pytest.mark.requirement("TM-02", "SP-10")
def test_a_planned_head_leaves_what_holds_now_in_the_current_layer(world, memories, asking):
    _life(world, memories)
    assert asking.contents("lamp cold") == ["The lamp is cold"]
    assert asking.contents("warm") == []
    assert asking.contents("lamp blue", as_of=at("2099-06-01")) == ["The lamp will be blue"]


@pytest.mark.django_db
@pytest.mark.requirement("OJ-11")
def test_a_rebuild_says_the_same_and_leaves_one_generation(world, memories, asking):
    _life(world, memories)
    before = asking.index()
    answers = [asking.contents(words) for words in ("lamp", "pump", "ferry", "stove")]
    access = command_access(world.tenant_id)
    for grant in access.namespaces:
        rebuild_namespace(access, grant.id)
    postings, statistics, states = asking.index()
    assert (postings, statistics) == before[:2]
    assert {k: v for k, v in states.items() if v != (0, 0)} == {k: v for k, v in before[2].items() if v != (0, 0)}
    assert [asking.contents(words) for words in ("lamp", "pump", "ferry", "stove")] == answers


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("DJ-05")
def test_a_deletion_takes_postings_and_their_share_of_the_statistics(world, memories, asking):
    memory = memories.memory(_life(world, memories))
    request_deletion(
        world.access("alice"), DeletionRequest(deletion_request_id="d1", kind="memory", target=f"mem_{_public(memory.id)}")
    )
    drain(kinds=["deletion"])
    postings, statistics, _ = asking.index()
    assert memory.id not in {posting[3] for posting in postings}
    assert statistics == asking.counted()[0]


def _public(key):
    from apps.core.ids import public_id

    return public_id("mem", key).removeprefix("mem_")
