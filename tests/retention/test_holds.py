"""Legal holds win over deletions; lifting them lets a deletion go on from its checkpoint (DJ-18..21)."""

from __future__ import annotations

import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from apps.audits.models import AuditEntry
from apps.core import clock
from apps.core.errors import NotFound, NotPermitted, ValidationFailed
from apps.evidence import layers as evidence_layers
from apps.evidence.ingestion import accept_event, accept_events
from apps.evidence.models import Content
from apps.jobs.models import ProcessingJob
from apps.jobs.runner import drain
from apps.retention import erasure
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.holds import lift_hold, place_hold
from apps.retention.models import DeletionJob, LegalHold
from apps.retention.reads import read_deletion
from apps.retention.resumption import resume_deletion
from tests.evidence.drafts import draft
from tests.tenants.world import World, problem

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db) -> World:
    return World("orchard")


def hold(world, kind="subject", target="alice", days=30):
    until = clock.now() + timedelta(days=days)
    return place_hold(world.command(), kind, target, reason_code="litigation", until=until)


def erase(world, kind="subject", target="alice", request_id="del-1"):
    done = request_deletion(world.access("alice"), DeletionRequest(deletion_request_id=request_id, kind=kind, target=target))
    drain(kinds=["deletion"])
    return done.job_id


def status(world, job_id):
    return read_deletion(world.access("alice"), job_id).status


def texts(world):
    with world.inside():
        return Content.objects.count()


@pytest.mark.requirement("DJ-18", "DJ-20", "DJ-21")
def test_what_is_held_stays_until_the_hold_is_lifted_and_stays_unreadable(world):
    accept_events(world.access("alice"), [draft(f"n {n}", event_id=f"e-{n}") for n in range(3)])
    held = hold(world)
    job_id = erase(world)
    shown = read_deletion(world.access("alice"), job_id)
    [step] = [one for one in shown.layers if one.layer == "sources"]
    assert (shown.status, shown.completed_at, step.status, step.detail) == (
        "blocked_by_retention",
        None,
        "blocked",
        "legal_hold",
    )
    assert shown.certificate_url is None and texts(world) == 3
    problem(world.alice.get("/memory-events/e-1"), 410, "revoked")
    drain(kinds=["deletion"])
    assert status(world, job_id) == "blocked_by_retention"  # nothing tries again by itself
    assert lift_hold(world.command(), held.id) == 1
    drain(kinds=["deletion"])
    assert status(world, job_id) == "completed" and texts(world) == 0
    with world.inside():
        verbs = list(AuditEntry.objects.filter(verb__startswith="hold.").order_by("id").values_list("verb", flat=True))
        assert verbs == ["hold.placed", "hold.lifted"]
        assert AuditEntry.objects.filter(verb="deletion.blocked").count() == 1
        assert DeletionJob.objects.get().epoch == 1
    assert lift_hold(world.command(), held.id) == 0


@pytest.mark.parametrize(
    ("kind", "target", "blocked"),
    [
        ("event", "e-1", {"event e-1", "session s-1", "subject alice", "namespace user/alice"}),
        ("subject", "alice", {"event e-1", "event e-2", "session s-1", "subject alice", "namespace user/alice"}),
        ("namespace", "user/alice", {"event e-1", "event e-2", "session s-1", "subject alice", "namespace user/alice"}),
        ("subject", "bob", set()),
        ("namespace", "project/kiosk", set()),
    ],
)
def test_a_hold_reaches_what_a_deletion_would_take_of_it_and_nothing_else(world, kind, target, blocked):
    accept_events(world.access("alice"), [draft("one", event_id="e-1"), draft("two", event_id="e-2")])
    hold(world, kind, target)
    found = set()
    for number, (what, name) in enumerate(
        [("event", "e-1"), ("event", "e-2"), ("session", "s-1"), ("subject", "alice"), ("namespace", "user/alice")]
    ):
        job_id = erase(world, what, name, f"del-{number}")
        if status(world, job_id) == "blocked_by_retention":
            found.add(f"{what} {name}")
    assert found == blocked


def test_a_hold_that_comes_between_two_chunks_stops_the_third(world, monkeypatch):
    monkeypatch.setattr(evidence_layers, "CHUNK", 1)
    accept_events(world.access("alice"), [draft(f"n {n}") for n in range(4)])
    real = erasure._clear_chunk
    chunks = []

    def clear_chunk(*arguments):
        chunks.append(1)
        if len(chunks) == 3:
            hold(world)
        return real(*arguments)

    monkeypatch.setattr(erasure, "_clear_chunk", clear_chunk)
    job_id = erase(world)
    assert status(world, job_id) == "blocked_by_retention" and texts(world) == 2
    monkeypatch.undo()
    with world.inside():
        LegalHold.objects.update(lifted_at=clock.now())
    resume_deletion(world.access("alice"), job_id)
    drain(kinds=["deletion"])
    shown = read_deletion(world.access("alice"), job_id)
    assert shown.status == "completed" and texts(world) == 0
    assert next(one for one in shown.layers if one.layer == "sources").cleared == 4


def test_a_hold_ends_by_itself(world):
    accept_event(world.access("alice"), draft("one", event_id="e-1"))
    hold(world, days=1)
    later = clock.now() + timedelta(days=2)
    with clock.set_clock(lambda: later):
        access = world.command()
        job = request_deletion(access, DeletionRequest(deletion_request_id="d", kind="namespace", target="user/alice"))
        drain(kinds=["deletion"])
        assert read_deletion(access, job.job_id).status == "completed"


def test_only_compliance_and_owners_hold(world):
    until = clock.now() + timedelta(days=1)
    for role in ("reviewer", "auditor", "operator"):
        with pytest.raises(NotPermitted):
            place_hold(world.person_access(role), "subject", "alice", reason_code="x", until=until)
    with pytest.raises(NotPermitted):
        place_hold(world.access("alice"), "subject", "alice", reason_code="x", until=until)
    with pytest.raises(NotFound):
        place_hold(world.command(), "subject", "nobody", reason_code="x", until=until)
    assert place_hold(world.person_access("compliance"), "subject", "alice", reason_code="x", until=until).until == until


@pytest.mark.requirement("RT-03")
@pytest.mark.parametrize("days", [0, -1, 3654])
def test_no_hold_is_for_ever(world, days):
    with pytest.raises(ValidationFailed):
        hold(world, days=days)
    with pytest.raises(ValidationFailed):
        place_hold(world.command(), "subject", "alice", reason_code="some words", until=clock.now() + timedelta(days=1))


# -- resume


def test_resume_goes_on_with_what_failed_and_leaves_the_rest_alone(world, monkeypatch):
    accept_event(world.access("alice"), draft("one", event_id="e-1"))
    monkeypatch.setattr(evidence_layers.Sources, "verify", lambda _self, _target: 1)
    job_id = request_deletion(world.access("alice"), DeletionRequest(deletion_request_id="d", kind="event", target="e-1")).job_id
    with world.inside():
        ProcessingJob.objects.filter(kind="deletion").update(max_attempts=1)
    drain(kinds=["deletion"])
    assert status(world, job_id) == "failed_requires_action"
    monkeypatch.undo()
    answer = world.alice.post(f"/memory-deletions/{job_id}/resume", {})
    assert answer.status_code == 202 and answer.json()["job_id"] == job_id
    again = world.alice.post(f"/memory-deletions/{job_id}/resume", {})
    assert again.status_code == 202
    with world.inside():
        assert ProcessingJob.objects.filter(kind="deletion").count() == 2  # the second call found work waiting
    drain(kinds=["deletion"])
    assert status(world, job_id) == "completed"
    assert world.alice.post(f"/memory-deletions/{job_id}/resume", {}).json()["status"] == "completed"
    problem(world.bob.post(f"/memory-deletions/{job_id}/resume", {}), 404, "not_found")
    without = world.caller("alice", operations=["memory:read", "memory:delete"])
    problem(without.post(f"/memory-deletions/{job_id}/resume", {}), 403, "operation_not_granted")


# -- the command


def run(*arguments):
    out = io.StringIO()
    call_command("legal_holds", "--tenant", "orchard", "--json", *arguments, stdout=out)
    return json.loads(out.getvalue())


def test_the_command_places_lists_and_lifts(world):
    day = (clock.now() + timedelta(days=9)).date().isoformat()
    [placed] = run("place", "subject", "alice", "--reason", "litigation.1", "--until", day)["holds"]
    assert run("list")["holds"] == [placed] and placed["target"] == "alice"
    assert run("lift", placed["hold"]) == {"resumed": 0} and run("list")["holds"] == []
    for arguments, code in (
        (("place", "subject", "nobody", "--reason", "x", "--until", day), 1),
        (("place", "subject", "alice", "--reason", "x", "--until", "someday"), 2),
        (("lift", "00000000-0000-7000-8000-000000000000"), 1),
    ):
        with pytest.raises(CommandError) as refused:
            run(*arguments)
        assert refused.value.returncode == code
