"""What an agent says it used: kept beside the trace, apart from what was found and what was packed."""

from __future__ import annotations

import pytest

from apps.core.ids import new_id, public_id
from apps.evidence.models import Content
from apps.retention.layers import Target
from apps.retrieval.adoptions import Adoption, report_adoptions
from apps.retrieval.layers import TracesLayer
from apps.retrieval.models import RetrievalTrace, TraceAdoption, TraceCandidate
from apps.retrieval.traces import get_trace
from tests.memories.sayings import at
from tests.tenants.world import problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def packed(world, memories, asking):
    """A packet of two, and a third memory that was found and is not in it."""
    made = {name: memories.say(f"Berth {name} is free for the ferry") for name in ("one", "two")}
    made["past"] = memories.say("Berth three was free for the ferry", valid_from=at("2021-01-01"), valid_to=at("2021-02-01"))
    packet = asking.packet("berth ferry free")
    assert {item.memory_id for item in packet.items} == {made["one"].memory_id, made["two"].memory_id}
    return packet, made


def report(world, packet, *said, who="alice"):
    return report_adoptions(world.access(who), packet.trace_id, [Adoption(*one) for one in said])


def fates(world, packet) -> dict[str, str]:
    return {row["memory_id"]: row["fate"] for row in get_trace(world.access("alice"), packet.trace_id).candidates}


@pytest.mark.requirement("AU-01", "AU-04")
def test_not_found_not_packed_and_not_used_are_three_things(world, memories, packed):
    packet, made = packed
    unseen = memories.say("The lamp is warm")
    report(world, packet, (made["one"].memory_id, 1, True), (made["two"].memory_id, 1, False, "not needed"))
    seen = fates(world, packet)
    assert seen == {made["one"].memory_id: "used", made["two"].memory_id: "not_used", made["past"].memory_id: "not_packed"}
    assert unseen.memory_id not in seen


def test_what_nobody_reported_stays_open(world, packed):
    packet, made = packed
    assert fates(world, packet)[made["one"].memory_id] == "packed"


@pytest.mark.requirement("AU-02", "TC-10")
def test_the_reason_is_private_text(world, packed):
    packet, made = packed
    report(world, packet, (made["one"].memory_id, 1, False, "the zebra said no"))
    (shown,) = get_trace(world.access("alice"), packet.trace_id).adoptions
    assert (shown["memory_id"], shown["used"], shown["reason"]) == (made["one"].memory_id, False, "the zebra said no")
    with world.inside():
        row = TraceAdoption.objects.get()
        assert "zebra" not in str(vars(row)) and Content.objects.get(pk=row.reason_id).text == "the zebra said no"


def test_the_same_report_again_changes_nothing_and_the_last_word_counts(world, packed):
    packet, made = packed
    said = (made["one"].memory_id, 1, False, "too old")
    report(world, packet, said)
    with world.inside():
        before = TraceAdoption.objects.values().get()
    report(world, packet, said)
    with world.inside():
        assert TraceAdoption.objects.values().get() == before
    report(world, packet, (made["one"].memory_id, 1, True))
    with world.inside():
        after = TraceAdoption.objects.get()
        assert after.used and after.reason_id is None
        assert not Content.objects.filter(pk=before["reason_id"]).exists()


def test_only_what_the_packet_held_can_be_adopted(world, packed):
    packet, made = packed
    cases = {
        public_id("mem", new_id()): "not_in_trace",
        "nonsense": "not_in_trace",
        made["past"].memory_id: "not_packed",
    }
    for memory_id, code in cases.items():
        answer = world.alice.post(
            f"/memory-traces/{packet.trace_id}/adoptions",
            {"adopted": [{"memory_id": made["one"].memory_id, "version": 1, "used": True}, named(memory_id)]},
        )
        found = problem(answer, 422, code)
        assert [error["pointer"] for error in found["errors"]] == ["/adopted/1/memory_id"]
    problem(
        world.alice.post(f"/memory-traces/{packet.trace_id}/adoptions", {"adopted": [named(made["one"].memory_id, 7)]}),
        422,
        "not_in_trace",
    )
    twice = {"adopted": [named(made["one"].memory_id), named(made["one"].memory_id)]}
    problem(world.alice.post(f"/memory-traces/{packet.trace_id}/adoptions", twice), 422, "duplicate_item")
    with world.inside():
        assert not TraceAdoption.objects.exists()


def named(memory_id: str, version: int = 1) -> dict:
    return {"memory_id": memory_id, "version": version, "used": True}


def test_a_key_makes_the_report_once(world, packed):
    packet, made = packed
    path = f"/memory-traces/{packet.trace_id}/adoptions"
    body = {"adopted": [named(made["one"].memory_id)]}
    first, again = (world.alice.post(path, body, **{"Idempotency-Key": "k1"}) for _ in range(2))
    assert (
        (first.status_code, first.json())
        == (200, again.json())
        == (200, {"trace_id": packet.trace_id, "adopted": body["adopted"]})
    )
    problem(
        world.alice.post(path, {"adopted": [named(made["two"].memory_id)]}, **{"Idempotency-Key": "k1"}),
        409,
        "idempotency_key_reuse",
    )


@pytest.mark.requirement("AU-03")
def test_the_trace_names_version_and_authority_of_what_was_packed(world, memories, asking):
    made = memories.say("The crane stands on pier two")
    packet = asking.packet("crane pier")
    with world.inside():
        TraceCandidate.objects.update(authority_revision="0862527")
    (chosen,) = get_trace(world.access("alice"), packet.trace_id).chosen
    assert chosen == {"memory_id": made.memory_id, "version": 1, "authority_revision": "0862527"}


@pytest.mark.requirement("DJ-04")
def test_the_deletion_layer_takes_reports_with_their_reasons(world, memories, packed):
    """The reason about the neighbour goes too: it stands in a trace that looked at the target and may speak of it."""
    packet, made = packed
    report(world, packet, (made["one"].memory_id, 1, True, "good"), (made["two"].memory_id, 1, False, "bad"))
    layer, target = TracesLayer(), target_of(world, memories.memory(made["one"]))
    with world.inside():
        texts = Content.objects.count()
        assert layer.discover(target) == 1 + 2 + 1 + 1  # the question, two reasons, one report, one candidate
        cursor: str | None = ""
        while cursor is not None:
            cursor = layer.clear(target, cursor).cursor
        assert layer.verify(target) == layer.discover(target) == 0
        left = TraceAdoption.objects.get()
        assert left.memory_id == memories.memory(made["two"]).id and left.reason_id is None
        assert Content.objects.count() == texts - 3
        assert RetrievalTrace.objects.get().request_id is None


def target_of(world, memory) -> Target:
    return Target(
        tenant_id=world.tenant_id,
        job_id=new_id(),
        kind="memory",
        target_id=str(memory.id),
        namespace_id=memory.namespace_id,
        epoch=1,
        accepted_at=at("2026-01-01"),
        cover_sources=False,
        reason_content_id=None,
        keys=(memory.id,),
    )
