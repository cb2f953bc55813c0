"""Queued work about what is to be forgotten waits for nobody any more (deletion layer ``pending_work``)."""

from __future__ import annotations

import pytest

from apps.evidence import pending
from apps.evidence.ingestion import accept_event, accept_events
from apps.evidence.pending import PendingWork
from apps.jobs.models import ProcessingJob
from apps.jobs.runner import drain
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.models import DeletionJob
from apps.retention.reads import read_deletion
from apps.retention.targets import target_of
from tests.evidence.drafts import draft
from tests.tenants.world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db) -> World:
    return World("orchard")


def extraction_states(world):
    with world.inside():
        return sorted(ProcessingJob.objects.filter(kind="extract").values_list("state", flat=True))


@pytest.mark.requirement("DJ-04")
def test_queued_retried_and_dead_work_of_the_target_is_put_away(world, monkeypatch):
    monkeypatch.setattr(pending, "CHUNK", 2)
    alice, bob = world.access("alice"), world.access("bob")
    accept_events(alice, [draft(f"n {n}", event_id=f"e-{n}") for n in range(3)])
    accept_event(bob, draft("bob's", event_id="b-1"))
    with world.inside():
        rows = list(ProcessingJob.objects.filter(kind="extract").order_by("id"))
        ProcessingJob.objects.filter(pk=rows[0].pk).update(state=ProcessingJob.State.RETRY_WAIT)
        ProcessingJob.objects.filter(pk=rows[1].pk).update(state=ProcessingJob.State.DEAD)
    job_id = request_deletion(alice, DeletionRequest(deletion_request_id="d", kind="subject", target="alice")).job_id
    with world.inside():
        target = target_of(DeletionJob.objects.select_related("revocation", "namespace").get())
        assert PendingWork().verify(target) == PendingWork().discover(target) == 3
    drain(kinds=["deletion"])
    assert extraction_states(world) == ["discarded", "discarded", "discarded", "queued"]
    shown = read_deletion(alice, job_id)
    [step] = [one for one in shown.layers if one.layer == "pending_work"]
    assert (shown.status, step.status, step.found, step.cleared, step.remaining) == ("completed", "cleared", 3, 3, 0)
    with world.inside():
        assert set(ProcessingJob.objects.filter(state="discarded").values_list("last_error", flat=True)) == {"revoked"}
