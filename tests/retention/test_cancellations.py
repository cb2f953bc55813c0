"""Asking hosts to stop: recorded, and shown beside what cannot be recalled (RY-06, RY-07)."""

from __future__ import annotations

import pytest

from apps.audits.models import AuditEntry
from apps.jobs.models import Outbox
from apps.retention.models import Cancellation
from tests.tenants.world import World, problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(db) -> World:
    return World("orchard")


def handed_out(world, caller=None):
    """A memory, and the trace that packed it."""
    caller = caller or world.alice
    body = {
        "candidate_id": "c-1",
        "scope": "user",
        "memory_type": "fact",
        "fact_key": "lamp",
        "content": "The lamp is warm",
        "epistemic_status": "explicit",
    }
    memory = caller.post("/memory-candidates", body).json()["memory_id"]
    packet = caller.post("/memory-query", {"question": "lamp warm"}).json()
    assert [item["memory_id"] for item in packet["items"]] == [memory]
    return memory, packet["trace_id"]


@pytest.mark.requirement("RY-07")
def test_a_trace_and_a_session_are_cancelled_and_recorded(world):
    _, trace = handed_out(world)
    nothing = world.alice.post("/memory-query", {"question": "bicycle"}).json()["trace_id"]
    one = world.alice.post("/memory-cancellations", {"trace_id": trace})
    assert one.status_code == 202, one.content
    shown = one.json()
    assert (shown["status"], shown["trace_id"], shown["session_id"]) == ("recorded", trace, None)
    assert [row["trace_id"] for row in shown["exposures"]] == [trace] and shown["exposures"][0]["agent"]
    session = world.alice.post("/memory-cancellations", {"session_id": "s-1"}).json()
    assert [row["trace_id"] for row in session["exposures"]] == [trace]
    assert world.alice.post("/memory-cancellations", {"trace_id": nothing}).json()["exposures"] == []
    with world.inside():
        assert Cancellation.objects.count() == 3
        assert Outbox.objects.filter(topic="cancellation.requested").count() == 3
        entry = AuditEntry.objects.filter(verb="cancellation.requested").order_by("id").first()
        assert (entry.object_type, entry.object_id, entry.counts) == ("trace", trace, {"traces": 1, "exposures": 1})


@pytest.mark.requirement("RY-06")
def test_a_deletion_shows_what_was_asked_to_be_stopped(world):
    memory, trace = handed_out(world)
    job = world.alice.delete(f"/memories/{memory}").json()["job_id"]
    [before] = world.alice.get(f"/memory-deletions/{job}").json()["exposures"]
    assert (before["trace_id"], before["cancellation_requested_at"]) == (trace, None)
    asked = world.alice.post("/memory-cancellations", {"trace_id": trace}).json()["requested_at"]
    world.alice.post("/memory-cancellations", {"session_id": "s-1"})
    [after] = world.alice.get(f"/memory-deletions/{job}").json()["exposures"]
    assert after["cancellation_requested_at"] == asked


def test_what_is_not_the_callers_own_is_not_found(world):
    _, trace = handed_out(world)
    problem(world.bob.post("/memory-cancellations", {"trace_id": trace}), 404, "not_found")
    problem(world.alice.post("/memory-cancellations", {"trace_id": "trc_unknown"}), 404, "not_found")
    problem(world.alice.post("/memory-cancellations", {"session_id": "never-was"}), 404, "not_found")
    # A session of the same name is another subject's own, and holds nothing of alice's.
    assert world.bob.post("/memory-cancellations", {"session_id": "s-1"}).json()["exposures"] == []


@pytest.mark.parametrize(
    ("body", "code"),
    [({}, "required"), ({"trace_id": None}, "required"), ({"trace_id": 5}, "invalid_type"), ({"trace": "x"}, "unknown_field")],
)
def test_one_of_the_two_is_needed(world, body, code):
    problem(world.alice.post("/memory-cancellations", body), 422, code)
    problem(world.alice.post("/memory-cancellations", {"trace_id": "trc_1", "session_id": "s"}), 422, "ambiguous_target")
