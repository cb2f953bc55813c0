"""Events over HTTP (design/06 Events)."""

from __future__ import annotations

import json
import threading

import pytest
from django.db import connections

from apps.evidence.models import SourceEvent
from apps.jobs.models import ProcessingJob
from tests.evidence.drafts import body
from tests.tenants.world import Caller, World, face, problem


@pytest.mark.requirement("EV-15")
def test_an_event_is_accepted_and_read_back(world):
    answer = world.alice.post("/memory-events", body("the ferry leaves at seven", event_id="e-1", session_id="s-1"))
    assert answer.status_code == 202, answer.content
    done = answer.json()
    assert done["status"] == "accepted_for_processing" and done["replayed"] is False and done["job_id"].startswith("job_")
    assert set(done) == {
        "status", "event_id", "sequence", "ingested_at", "content_sha256", "redactions", "deletion_epoch", "job_id", "replayed",
    }  # fmt: skip
    again = world.alice.post("/memory-events", body("the ferry leaves at seven", event_id="e-1", session_id="s-1"))
    assert again.status_code == 200 and again.json() == done | {"replayed": True}
    shown = world.alice.get("/memory-events/e-1")
    assert shown.status_code == 200 and "ferry" not in shown.content.decode()
    event = shown.json()
    assert event["processing"] == {"state": "accepted", "candidates": event["processing"]["candidates"]}
    assert (event["scope"], event["scope_id"], event["subject"], event["trust"]) == ("user", "alice", "alice", "subject")
    full = world.alice.get("/memory-events/e-1?include=content")
    assert full.json()["content"] == "the ferry leaves at seven"


def test_text_needs_the_right_to_raw_text(world):
    world.alice.post("/memory-events", body(event_id="e-1"))
    short = world.caller("alice", operations=("memory:read",))
    problem(short.get("/memory-events/e-1?include=content"), 403, "operation_not_granted")
    assert short.get("/memory-events/e-1").json()["content"] is None


def test_text_of_another_subject_is_shown_to_members_and_audited(world):
    from apps.audits.models import AuditEntry

    world.alice.post("/memory-events", body("for all of us", event_id="e-1", scope="project", scope_id="kiosk"))
    assert world.bob.get("/memory-events/e-1?include=content").json()["content"] == "for all of us"
    assert world.alice.get("/memory-events/e-1?include=content").status_code == 200
    with world.inside():
        assert AuditEntry.objects.filter(verb="content.revealed").count() == 1


@pytest.mark.requirement("ID-09")
def test_absent_and_foreign_events_look_the_same(world, elsewhere):
    world.bob.post("/memory-events", body(event_id="b-1"))
    elsewhere.alice.post("/memory-events", body(event_id="x-1"))
    faces = {face(world.alice.get(f"/memory-events/{event_id}")) for event_id in ("b-1", "x-1", "never", "e 1")}
    assert len(faces) == 1 and faces.pop()[0] == 404


@pytest.mark.parametrize(
    ("fields", "code", "pointer"),
    [
        ({"content": "a" * 65_537}, "max_length", "/content"),
        ({"event_id": "e" * 129}, "max_length", "/event_id"),
        ({"metadata": {"note": "x" * 9000}}, "max_length", "/metadata"),
        ({"topics": ["field_test"] * 33}, "max_length", "/topics"),
        ({"source_type": "webpage"}, "invalid_choice", "/source_type"),
        ({"scope": "tenant"}, "invalid_choice", "/scope"),
        ({"occurred_at": "2024-01-01T10:00:00"}, "timezone_required", "/occurred_at"),
        ({"trust": "subject"}, "unknown_field", "/trust"),
        ({"topics": ["feild_test"]}, "unknown_label", "/topics/0"),
        ({"content": "a\u0000b"}, "invalid_text", "/content"),
        ({"content": None}, "required", "/content"),
        ({"derived_from": [3]}, "invalid_type", "/derived_from/0"),
    ],
    ids=str,
)
def test_wrong_fields_are_named_and_nothing_is_stored(world, fields, code, pointer):
    found = problem(world.alice.post("/memory-events", body(**{"event_id": "e-1", **fields})), 422, code)
    assert pointer in [error["pointer"] for error in found["errors"]]
    with world.inside():
        assert not SourceEvent.objects.exists()


def test_a_batch_answers_for_each_item(world):
    world.alice.post("/memory-events", body("oak", event_id="known"))
    sent = [
        body(event_id="a"),
        {"event_id": "b", "nonsense": 1},
        7,
        body("steel", event_id="known"),
        body(event_id="c", scope="project", scope_id="lighthouse"),
        body(event_id="d", occurred_at="2024-01-01T10:00:00"),
    ]
    answer = world.alice.post("/memory-events/batch", {"events": sent})
    assert answer.status_code == 200, answer.content
    found = [(one["event_id"], one["status"], one["code"]) for one in answer.json()["results"]]
    assert found[0] == ("a", "accepted_for_processing", None)
    assert [(event_id, code) for event_id, _, code in found[2:]] == [
        (None, "invalid_type"), ("known", "event_id_conflict"), ("c", "not_found"), ("d", "timezone_required"),
    ]  # fmt: skip
    assert found[1][0] == "b" and found[1][1] == "rejected" and found[1][2]


@pytest.mark.parametrize("events", [[], [{}] * 501, {}, None])
def test_a_batch_has_one_to_five_hundred_items(world, events):
    assert world.alice.post("/memory-events/batch", {"events": events}).status_code == 422


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ("queued", "accepted"),
        ("running", "extracting"),
        ("retry_wait", "retry_wait"),
        ("done", "extracted"),
        ("dead", "dead"),
        ("discarded", "dead"),
    ],
)
def test_processing_follows_the_newest_extraction(world, state, shown):
    world.alice.post("/memory-events", body(event_id="e-1"))
    with world.inside():
        ProcessingJob.objects.update(state=state)
    assert world.alice.get("/memory-events/e-1").json()["processing"]["state"] == shown


@pytest.mark.requirement("EV-12", "EV-13", "OJ-01")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("size", [1, 40])
def test_parallel_retries_make_one_record(size):
    world = World("orchard")
    token = world.token("alice")
    bodies = [body(event_id=f"e-{n}") for n in range(size)]
    start = threading.Barrier(5)
    answers = []

    def send(order):
        try:
            caller = Caller(token)
            start.wait()
            if size == 1:
                answers.append(caller.post("/memory-events", bodies[0]))
            else:
                answers.append(caller.post("/memory-events/batch", {"events": bodies[::order]}))
        finally:
            connections["default"].close()

    threads = [threading.Thread(target=send, args=(1 if n % 2 else -1,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with world.inside():
        assert SourceEvent.objects.count() == size == ProcessingJob.objects.filter(kind="extract").count()
    if size == 1:
        assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 200, 202], [a.content for a in answers]
        assert len({(answer.json()["sequence"], answer.json()["job_id"]) for answer in answers}) == 1
    else:
        results = [one for answer in answers for one in answer.json()["results"]]
        assert sum(not one["replayed"] for one in results) == size and all(one["code"] is None for one in results)


@pytest.mark.requirement("EV-12")
def test_keys_in_another_order_and_more_white_space_are_a_replay(world):
    sent = body(event_id="e-1", metadata={"a": {"b": 1.0, "c": [1, 2]}})
    world.alice.post("/memory-events", sent)
    other = sent | {"metadata": {"a": {"c": [1, 2], "b": 1}}}
    raw = json.dumps(dict(reversed(other.items())), indent=3)
    answer = world.alice.client.generic(
        "POST",
        "/api/v1/memory-events",
        raw,
        content_type="application/json",
        headers={"Authorization": f"Bearer {world.alice.token}"},
    )
    assert answer.status_code == 200, answer.content
