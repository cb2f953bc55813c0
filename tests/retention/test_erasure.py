"""Working a deletion off: layers, checkpoints, proof (design/05 step 3; DJ-13..23)."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connections

from apps.audits.models import AuditEntry
from apps.core import clock
from apps.core.errors import Revoked
from apps.evidence import layers as evidence_layers
from apps.evidence.ingestion import accept_event, accept_events
from apps.evidence.lineage import ensure_evidence
from apps.evidence.models import Content, Derivation, Evidence, SourceEvent
from apps.jobs.models import Outbox, ProcessingJob
from apps.jobs.runner import drain
from apps.retention import layers
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.layers import Cleared, Layer
from apps.retention.models import DeletionJob, DeletionStep
from apps.retention.reads import read_deletion
from tests.evidence.drafts import LONG_AGO, draft
from tests.tenants.world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db) -> World:
    return World("orchard")


def erase(access, kind, target, request_id="del-1", **options):
    return request_deletion(access, DeletionRequest(deletion_request_id=request_id, kind=kind, target=target, **options)).job_id


def work_off():
    drain(kinds=["deletion"])


def texts(world):
    with world.inside():
        return sorted(Content.objects.values_list("text", flat=True))


def step(shown, layer="sources"):
    return next(one for one in shown.layers if one.layer == layer)


@pytest.mark.requirement("DJ-05", "DJ-07", "DJ-22", "DJ-23", "DJ-25", "AI-08")
def test_an_erased_event_leaves_its_id_and_nothing_it_said(world):
    alice = world.access("alice")
    accept_event(alice, draft("the harbour cat", event_id="e-1", metadata={"a": "secret note"}))
    accept_event(alice, draft("the harbour dog", event_id="e-2"))
    accept_event(alice, draft("a summary", event_id="e-3", derived_from=("e-1",)))
    with world.inside():
        row = SourceEvent.objects.get(event_id="e-1")
        evidence = ensure_evidence(alice, [row])[row.id]
    job_id = erase(alice, "event", "e-1", reason="wrong person")
    assert "wrong person" in texts(world)
    work_off()
    assert texts(world) == ["the harbour dog"]
    with world.inside():
        row = SourceEvent.objects.get(event_id="e-1")
        assert row.erased_at and (row.content_sha256, row.fingerprint, row.content_id, row.metadata_id) == ("", "", None, None)
        evidence.refresh_from_db()
        assert evidence.availability == Evidence.Availability.ERASED
        assert not Derivation.objects.exists()
        entry = AuditEntry.objects.get(verb="deletion.completed")
        assert entry.counts == {"sources": 2} and entry.object_id == job_id
        assert Outbox.objects.filter(topic="deletion.completed").count() == 1
        assert DeletionJob.objects.get().reason is None
    shown = read_deletion(alice, job_id)
    assert shown.status == "completed" and shown.accepted_at <= shown.started_at <= shown.completed_at
    found = step(shown)
    assert (found.status, found.found, found.cleared, found.remaining, found.attempts) == ("cleared", 2, 2, 0, 1)
    assert found.verified_at and found.detail is None
    with pytest.raises(Revoked) as gone:
        accept_event(alice, draft("the harbour cat", event_id="e-1"))
    assert gone.value.deletion_job_id == job_id
    assert world.alice.get("/memory-events/e-3").status_code == 410


def test_a_deletion_without_its_text_is_harmless_to_others(world):
    alice, bob = world.access("alice"), world.access("bob")
    accept_events(alice, [draft(f"alice {n}") for n in range(7)])
    accept_events(bob, [draft(f"bob {n}") for n in range(3)])
    accept_event(alice, draft("alice in kiosk", scope="project", scope_id="kiosk"))
    erase(alice, "subject", "alice")
    work_off()
    assert texts(world) == ["bob 0", "bob 1", "bob 2"]


def test_more_than_one_chunk_is_cleared_in_order(world, monkeypatch):
    monkeypatch.setattr(evidence_layers, "CHUNK", 3)
    alice = world.access("alice")
    accept_events(alice, [draft(f"n {n}") for n in range(10)])
    job_id = erase(alice, "namespace", "user/alice")
    work_off()
    assert texts(world) == []
    found = step(read_deletion(alice, job_id))
    assert (found.found, found.cleared, found.checkpoint) == (10, 10, {"cursor": None})


# -- what happened before and arrives after


@pytest.mark.requirement("DJ-03", "EV-14")
def test_what_happened_before_and_arrives_during_the_deletion_is_noted_and_cleared_by_it(world):
    alice = world.access("alice")
    job_id = erase(alice, "subject", "alice")
    early = accept_event(alice, draft("said long ago", event_id="early"))
    late = accept_event(alice, draft("said now", event_id="late", occurred_at=clock.now() + timedelta(seconds=60)))
    assert early.job_id is None and late.job_id is not None and late.deletion_epoch == 1
    assert texts(world) == ["said now"]
    assert accept_event(alice, draft("said long ago", event_id="early")).replayed
    with world.inside():
        assert SourceEvent.objects.get(event_id="early").covered and not SourceEvent.objects.get(event_id="early").erased_at
        assert ProcessingJob.objects.filter(kind="extract").count() == 1
    work_off()
    with world.inside():
        assert SourceEvent.objects.get(event_id="early").erased_at
    assert step(read_deletion(alice, job_id)).found == 1
    assert texts(world) == ["said now"]


@pytest.mark.parametrize("target", [("subject", "alice"), ("session", "s-1"), ("namespace", "user/alice")])
def test_after_the_deletion_only_the_taken_id_is_kept(world, target):
    alice = world.access("alice")
    accept_event(alice, draft())
    erase(alice, *target)
    work_off()
    done = accept_event(alice, draft("said long ago", event_id="early", topics=()))
    assert done.job_id is None and done.content_sha256
    with world.inside():
        row = SourceEvent.objects.get(event_id="early")
        assert row.erased_at and (row.content_sha256, row.fingerprint) == ("", "")
    assert texts(world) == []
    with pytest.raises(Revoked):
        accept_event(alice, draft("said long ago", event_id="early"))


def test_an_event_that_races_the_proof_of_the_layer_is_counted_or_erased_at_once(world):
    alice = world.access("alice")
    accept_events(alice, [draft(f"n {n}") for n in range(20)])
    erase(alice, "session", "s-1")
    stop = threading.Event()

    def keep_sending():
        try:
            while not stop.is_set():
                accept_events(alice, [draft(f"late {n}") for n in range(5)])
        finally:
            connections["default"].close()

    sender = threading.Thread(target=keep_sending)
    sender.start()
    try:
        for _ in range(20):
            work_off()
    finally:
        stop.set()
        sender.join()
    drain_all(world)
    with world.inside():
        assert DeletionJob.objects.get().state == "completed"
        assert not SourceEvent.objects.filter(erased_at=None).exists() and not Content.objects.exists()


def drain_all(world):
    """Hours later, twice: leases of the dead are over, and then the wait that follows them."""
    for hours in (1, 2):
        with clock.set_clock(lambda hours=hours: datetime.now(UTC) + timedelta(hours=hours)):
            work_off()


# -- failure and going on


class Fragile(Layer):
    key = "versions"
    left = 0
    text = "a message with private text"

    def discover(self, target):
        return 1

    def clear(self, target, cursor):
        if self.left > 0:
            type(self).left -= 1
            raise ConnectionError(self.text)
        return Cleared(1, None)

    def verify(self, target):
        return 0


@pytest.fixture
def fragile(monkeypatch):
    monkeypatch.setitem(layers._layers, "versions", Fragile())
    monkeypatch.setattr(Fragile, "left", 1)
    return Fragile


@pytest.mark.requirement("DJ-17")
def test_a_temporary_failure_waits_and_goes_on(world, fragile):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    job_id = erase(alice, "event", "e-1")
    work_off()
    shown = read_deletion(alice, job_id)
    assert shown.status == "retry_wait" and step(shown, "versions").status == "retry_wait"
    assert step(shown, "versions").detail == "ConnectionError" and step(shown, "versions").attempts == 1
    assert step(shown).status == "pending"
    drain_all(world)
    shown = read_deletion(alice, job_id)
    assert shown.status == "completed" and step(shown, "versions").attempts == 2 and step(shown, "versions").detail is None


@pytest.mark.requirement("DJ-19", "DJ-20", "DJ-21")
def test_a_failure_that_stays_needs_action_and_then_goes_on_from_its_checkpoint(world, fragile, monkeypatch):
    from apps.core.ids import public_id
    from apps.jobs.dead_letters import retry_job

    monkeypatch.setattr(Fragile, "left", 1000)
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    job_id = erase(alice, "event", "e-1")
    with world.inside():
        ProcessingJob.objects.filter(kind="deletion").update(max_attempts=1)
    work_off()
    shown = read_deletion(alice, job_id)
    assert shown.status == "failed_requires_action" and step(shown, "versions").status == "failed" and shown.completed_at is None
    with world.inside():
        assert AuditEntry.objects.get(verb="deletion.stalled").codes == ["failed_requires_action"]
        processing = ProcessingJob.objects.get(kind="deletion")
        assert processing.state == "dead"
    monkeypatch.setattr(Fragile, "left", 0)
    retry_job(world.person_access("compliance"), public_id("job", processing.id))
    work_off()
    assert read_deletion(alice, job_id).status == "completed"


def test_a_layer_that_never_gets_empty_is_not_called_cleared(world, monkeypatch):
    class Leaky(Fragile):
        left = 0

        def verify(self, target):
            return 3

    monkeypatch.setitem(layers._layers, "versions", Leaky())
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    job_id = erase(alice, "event", "e-1")
    work_off()
    shown = read_deletion(alice, job_id)
    assert shown.status == "retry_wait"
    assert (step(shown, "versions").remaining, step(shown, "versions").verified_at) == (3, None)


def test_a_worker_that_dies_for_good_is_said_to_need_action(world):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    job_id = erase(alice, "event", "e-1")
    with world.inside():
        ProcessingJob.objects.filter(kind="deletion").update(state="dead")
        DeletionJob.objects.update(state="running")
    assert read_deletion(alice, job_id).status == "failed_requires_action"


def test_a_long_deletion_lets_others_have_their_turn(world, monkeypatch):
    from apps.retention import erasure

    monkeypatch.setattr(erasure, "PATIENCE", timedelta(0))
    monkeypatch.setattr(evidence_layers, "CHUNK", 2)
    alice = world.access("alice")
    accept_events(alice, [draft(f"n {n}") for n in range(7)])
    job_id = erase(alice, "subject", "alice")
    work_off()
    shown = read_deletion(alice, job_id)
    assert shown.status == "completed" and step(shown).cleared == 7 and step(shown).attempts > 1


@pytest.mark.requirement("DJ-13", "OJ-07")
def test_two_workers_share_the_work(world):
    alice = world.access("alice")
    jobs = []
    for n in range(4):
        accept_event(alice, draft(event_id=f"e-{n}", occurred_at=LONG_AGO))
        jobs.append(erase(alice, "event", f"e-{n}", request_id=f"del-{n}"))

    def work():
        try:
            work_off()
        finally:
            connections["default"].close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drain_all(world)
    shown = [read_deletion(alice, job_id) for job_id in jobs]
    assert [one.status for one in shown] == ["completed"] * 4 and [one.deletion_epoch for one in shown] == [1, 2, 3, 4]
    with world.inside():
        assert DeletionStep.objects.filter(layer="sources", attempts=1).count() == 4
