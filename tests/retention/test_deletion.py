"""Accepting a deletion (design/05 steps 1, 2, 6)."""

from __future__ import annotations

import threading

import pytest
from django.db import connections

from apps.audits.models import AuditEntry
from apps.core.errors import DeletionRequestConflict, DomainError, NotFound, NotPermitted, Revoked
from apps.core.isolation import tenant_context
from apps.evidence import reads
from apps.evidence.ingestion import accept_event
from apps.evidence.models import Content
from apps.evidence.reads import read_event
from apps.jobs.models import Outbox, ProcessingJob
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.layers import ORDER
from apps.retention.models import DeletionJob, Revocation
from apps.retention.reads import read_deletion
from apps.tenants.models import Namespace
from tests.evidence.drafts import draft
from tests.tenants.world import World, face, problem


def request(kind, target, request_id="del-1", **options):
    return DeletionRequest(deletion_request_id=request_id, kind=kind, target=target, **options)


def find_events(access, event_ids):
    with tenant_context(access.tenant_id):
        return reads.find_events(access, event_ids)


def epoch(world, scope="user", scope_id="alice"):
    return world.namespace(scope, scope_id).deletion_epoch


def count(world):
    with world.inside():
        return (
            DeletionJob.objects.count(),
            Revocation.objects.count(),
            sum(Namespace.objects.values_list("deletion_epoch", flat=True)),
        )


@pytest.mark.requirement("DJ-01", "DJ-02", "DJ-16", "AI-07")
def test_barrier_epoch_job_steps_message_and_audit_are_one_commit(world):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    done = request_deletion(alice, request("event", "e-1", cover_sources=True, reason="my password is hunter-9012-zz"))
    assert (done.status, done.deletion_epoch, done.replayed, done.deletion_request_id) == ("accepted", 1, False, "del-1")
    assert done.job_id.startswith("del_") and done.revision == "rev_1" and epoch(world) == 1
    with world.inside():
        job = DeletionJob.objects.get()
        assert [(step.layer, step.state) for step in job.steps.order_by("position")] == [
            (key, "pending" if key == "sources" else "not_applicable") for key in ORDER
        ]
        assert ProcessingJob.objects.get(kind="deletion").payload == {"deletion": str(job.id)}
        assert Outbox.objects.filter(topic="deletion.accepted", object_id=job.id, version=1).count() == 1
        entry = AuditEntry.objects.get(verb="deletion.accepted")
        assert entry.codes == ["event", "cover_sources"] and entry.object_id == done.job_id and entry.revision == 1
        assert "hunter" not in Content.objects.get(pk=job.reason).text
    with pytest.raises(Revoked) as gone:
        read_event(alice, "e-1")
    assert gone.value.deletion_job_id == done.job_id
    with pytest.raises(Revoked):
        accept_event(alice, draft(event_id="e-1"))


def test_an_accepted_deletion_has_cleared_nothing_yet(world):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    shown = read_deletion(alice, request_deletion(alice, request("event", "e-1")).job_id)
    assert (shown.status, shown.started_at, shown.completed_at, shown.certificate_url) == ("accepted", None, None, None)
    assert (shown.target.kind, shown.target.id) == ("event", "e-1")
    assert {layer.status for layer in shown.layers} == {"pending", "not_applicable"}
    assert shown.remaining_copies == []  # what stays is said by its layer, and none that says so is registered here


# -- the same request


@pytest.mark.requirement("DJ-12", "DJ-15")
def test_the_same_request_is_the_same_job_and_one_epoch_step(world):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    first = request_deletion(alice, request("event", "e-1"))
    again = request_deletion(alice, request("event", "e-1", reason="asked again, for another reason"))
    assert again.replayed and (again.job_id, again.deletion_epoch, again.revision) == (first.job_id, 1, first.revision)
    assert count(world) == (1, 1, 1)


@pytest.mark.requirement("DJ-12")
@pytest.mark.parametrize(
    "other", [{"cover_sources": True}, {"suppress_future": True}, {"target": "e-2"}, {"kind": "session", "target": "s-1"}]
)
def test_a_used_request_id_with_anything_else_is_a_conflict(world, other):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    accept_event(alice, draft(event_id="e-2"))
    request_deletion(alice, request("event", "e-1"))
    with pytest.raises(DeletionRequestConflict):
        request_deletion(alice, request(**{"kind": "event", "target": "e-1", **other}))
    assert count(world) == (1, 1, 1)
    assert read_event(alice, "e-2").event_id == "e-2"


def test_a_request_id_of_somebody_else_tells_nothing_about_their_target(world):
    bob = world.access("bob")
    accept_event(bob, draft(event_id="b-1"))
    request_deletion(bob, request("event", "b-1"))
    alice = world.access("alice")
    accept_event(alice, draft(event_id="a-1"))
    with pytest.raises(NotFound):
        request_deletion(alice, request("event", "b-1"))
    with pytest.raises(DeletionRequestConflict):
        request_deletion(alice, request("event", "a-1"))


def test_another_request_for_what_is_gone_names_the_deletion(world):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    first = request_deletion(alice, request("event", "e-1"))
    with pytest.raises(Revoked) as gone:
        request_deletion(alice, request("event", "e-1", request_id="del-2"))
    assert gone.value.deletion_job_id == first.job_id and count(world) == (1, 1, 1)


@pytest.mark.requirement("DJ-12", "DJ-15")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("distinct", [False, True])
def test_parallel_requests_step_the_epoch_once_for_each_deletion(distinct):
    world = World("orchard")
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    start, results = threading.Barrier(4), []

    def ask(number):
        try:
            start.wait()
            results.append(request_deletion(alice, request("event", "e-1", request_id=f"del-{number if distinct else 0}")))
        except DomainError as error:
            results.append(error)
        finally:
            connections["default"].close()

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count(world) == (1, 1, 1) and epoch(world) == 1
    if distinct:
        assert sum(isinstance(one, Revoked) for one in results) == 3, results
    else:
        assert sorted(one.replayed for one in results) == [False, True, True, True]
        assert len({(one.job_id, one.deletion_epoch) for one in results}) == 1


# -- who may


@pytest.mark.requirement("DJ-01", "ID-09")
@pytest.mark.parametrize("kind", ["memory", "event", "session", "subject", "namespace"])
def test_absent_and_unreadable_targets_look_the_same_and_leave_nothing(world, elsewhere, kind):
    accept_event(world.access("bob", session="s-bob"), draft(event_id="b-1"))
    accept_event(elsewhere.access("bob", session="s-far"), draft(event_id="f-1"))
    names = {
        "memory": ["mem_0000000000000000000000000a", "mem_x"],
        "event": ["b-1", "f-1"],
        "session": ["s-bob", "s-far"],
        "subject": ["bob", "nobody"],
        "namespace": ["user/bob", "project/lighthouse", "organization/basin", "user", "everything/x"],
    }[kind]
    before = count(world)
    faces = {
        face(world.alice.post("/memory-deletions", {"deletion_request_id": f"d-{n}", "target": {"kind": kind, "id": name}}))
        for n, name in enumerate([*names, "never"])
    }
    assert len(faces) == 1 and faces.pop()[0] == 404
    assert count(world) == before


def test_what_is_readable_but_not_erasable_is_not_permitted(world):
    accept_event(world.access("bob"), draft(event_id="b-1", scope="project", scope_id="kiosk"))
    alice = world.access("alice")
    for kind, target in (("event", "b-1"), ("namespace", "project/kiosk")):
        with pytest.raises(NotPermitted):
            request_deletion(alice, request(kind, target))
    assert count(world) == (0, 0, 0)


def test_ones_own_event_in_a_project_may_be_erased_and_steps_that_project(world):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="a-1", scope="project", scope_id="kiosk"))
    request_deletion(alice, request("event", "a-1"))
    assert epoch(world, "project", "kiosk") == 1 and epoch(world) == 0


def test_a_session_belongs_to_its_subject(world):
    alice, bob = world.access("alice", session="shared"), world.access("bob", session="shared")
    accept_event(alice, draft(event_id="a-1"))
    accept_event(alice, draft(event_id="a-2", scope="project", scope_id="kiosk"))
    accept_event(bob, draft(event_id="b-1"))
    accept_event(world.access("alice", session="other"), draft(event_id="a-3"))
    request_deletion(world.access("alice", session="other"), request("session", "shared"))
    for event_id in ("a-1", "a-2"):
        with pytest.raises(Revoked):
            find_events(alice, [event_id])
    assert find_events(alice, ["a-3"]) and find_events(bob, ["b-1"])
    assert epoch(world) == epoch(world, "project", "kiosk") == 1 and epoch(world, "user", "bob") == 0


def test_a_subject_takes_what_they_said_everywhere_and_nobody_else(world):
    alice, bob = world.access("alice"), world.access("bob")
    for access, name in ((alice, "a"), (bob, "b")):
        accept_event(access, draft(event_id=f"{name}-1"))
        accept_event(access, draft(event_id=f"{name}-2", scope="project", scope_id="kiosk"))
    request_deletion(alice, request("subject", "alice"))
    for event_id in ("a-1", "a-2"):
        with pytest.raises(Revoked):
            find_events(alice, [event_id])
    assert len(find_events(bob, ["b-1", "b-2"])) == 2


def test_compliance_may_erase_a_namespace(world):
    accept_event(world.access("alice"), draft(event_id="a-1", scope="project", scope_id="kiosk"))
    dpo = world.person_access("compliance")
    done = request_deletion(dpo, request("namespace", "project/Kiosk"))
    assert read_deletion(dpo, done.job_id).target.id == "project/kiosk"
    with pytest.raises(Revoked):
        find_events(world.access("alice"), ["a-1"])


def test_a_deletion_is_seen_by_its_subject_and_by_overseers_only(world):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="a-1", scope="project", scope_id="kiosk"))
    job_id = request_deletion(alice, request("event", "a-1")).job_id
    for role in ("owner", "compliance", "auditor"):
        assert read_deletion(world.person_access(role), job_id).job_id == job_id
    for access in (world.access("bob"), world.person_access("operator")):
        with pytest.raises(NotFound):
            read_deletion(access, job_id)
    unknown = face(world.bob.get("/memory-deletions/del_unknown"))
    assert face(world.bob.get(f"/memory-deletions/{job_id}")) == unknown


# -- derived and kept


@pytest.mark.requirement("DJ-09", "LN-04")
def test_what_was_made_from_an_event_alone_goes_with_it(world):
    alice = world.access("alice")
    for event_id, origins in (
        ("e-1", ()), ("e-2", ()), ("alone", ("e-1",)), ("retold", ("alone",)), ("both", ("e-1", "e-2")), ("mixed", ("retold", "both")),
    ):  # fmt: skip
        accept_event(alice, draft(event_id=event_id, derived_from=origins))
    request_deletion(alice, request("event", "e-1"))
    for event_id in ("e-1", "alone", "retold"):
        with pytest.raises(Revoked):
            find_events(alice, [event_id])
    assert len(find_events(alice, ["e-2", "both", "mixed"])) == 3
    request_deletion(alice, request("event", "e-2", request_id="del-2"))
    for event_id in ("both", "mixed"):
        with pytest.raises(Revoked):
            find_events(alice, [event_id])


def test_what_another_subject_made_from_a_session_alone_goes_too(world):
    accept_event(world.access("alice"), draft(event_id="a-1", scope="project", scope_id="kiosk"))
    accept_event(
        world.access("bob", session="s-bob"),
        draft("a summary", event_id="b-1", scope="project", scope_id="kiosk", derived_from=("a-1",)),
    )
    request_deletion(world.access("alice"), request("session", "s-1"))
    with pytest.raises(Revoked):
        find_events(world.access("bob"), ["b-1"])


def test_nothing_can_be_made_from_what_is_gone(world):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    request_deletion(alice, request("event", "e-1"))
    with pytest.raises(Revoked):
        accept_event(alice, draft(derived_from=("e-1",)))


# -- over HTTP


@pytest.mark.parametrize(
    "target",
    [{}, None, {"kind": "memory"}, {"id": "x"}, {"kind": "memory", "id": ""}, {"kind": "all", "id": "*"}, {"kind": "subject", "id": "*", "extra": 1}, {"kind": ["memory"], "id": "x"}, "mem_x", [], {"kind": "memory", "id": ["a"]}],
    ids=str,
)  # fmt: skip
def test_an_empty_or_ambiguous_target_does_nothing(world, target):
    answer = world.alice.post("/memory-deletions", {"deletion_request_id": "d", "target": target})
    assert answer.status_code == 422, answer.content
    assert count(world) == (0, 0, 0)


def test_asking_and_looking_over_http(world):
    accept_event(world.access("alice"), draft(event_id="e-1"))
    sent = {
        "deletion_request_id": "d-1",
        "target": {"kind": "event", "id": "e-1"},
        "cover_sources": True,
        "reason": "no longer wanted",
    }
    first, again = world.alice.post("/memory-deletions", sent), world.alice.post("/memory-deletions", sent)
    assert (first.status_code, again.status_code) == (202, 200), first.content
    assert again.json() == first.json() | {"replayed": True}
    job = world.alice.get(f"/memory-deletions/{first.json()['job_id']}").json()
    assert set(job) == {
        "job_id", "deletion_request_id", "target", "status", "deletion_epoch", "accepted_at", "started_at", "completed_at", "layers",
        "remaining_copies", "exposures", "certificate_url",
    }  # fmt: skip
    assert set(job["layers"][0]) == {
        "layer",
        "status",
        "found",
        "cleared",
        "remaining",
        "attempts",
        "checkpoint",
        "verified_at",
        "detail",
    }
    problem(world.caller("alice", operations=("events:write",)).post("/memory-deletions", sent), 403, "operation_not_granted")
    gone = problem(world.alice.get("/memory-events/e-1"), 410, "revoked")
    assert gone["deletion_job_id"] == first.json()["job_id"]
