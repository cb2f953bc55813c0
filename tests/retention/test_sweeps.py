"""The retention sweep: what has reached its end, what is kept, and what a dry run says (RT-01..06, LN-10..13)."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command

from apps.audits.models import AuditEntry
from apps.core import clock
from apps.core.ids import parse_public_id
from apps.evidence.models import Content, Evidence, SourceEvent
from apps.memories.models import Candidate, Memory
from apps.retention import sweeps
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.holds import place_hold
from apps.retention.models import RetentionClass
from apps.retention.periods import add_months
from apps.retention.sweeps import due, sweep_everything, sweep_tenant
from apps.retrieval.models import RetrievalTrace
from tests.tenants.world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db) -> World:
    return World("orchard")


def later(days):
    at = clock.now() + timedelta(days=days)
    return clock.set_clock(lambda: at)


def say(world, event_id="e-1", text="The lamp is warm", **more):
    body = {
        "event_id": event_id,
        "scope": "user",
        "source_type": "user_message",
        "occurred_at": clock.now().isoformat(),
        "content": text,
        **more,
    }
    assert world.alice.post("/memory-events", body).status_code == 202


def remember(world, candidate_id="c-1", **more):
    body = {
        "candidate_id": candidate_id,
        "scope": "user",
        "memory_type": "fact",
        "fact_key": f"lamp.{candidate_id}",
        "content": "The lamp is warm",
        "epistemic_status": "explicit",
        **more,
    }
    answer = world.alice.post("/memory-candidates", body)
    assert answer.status_code == 201, answer.content
    return answer.json()


def state_of(world, memory_id):
    with world.inside():
        return Memory.objects.get(pk=parse_public_id("mem", memory_id)).state


def change_class(world, key, **days):
    with world.inside():
        assert RetentionClass.objects.filter(key=key).update(**days) == 1


@pytest.mark.requirement("RT-06", "LN-12", "LN-13")
def test_an_events_words_end_and_what_rested_on_them_alone_is_reviewed(world):
    change_class(world, "conversation", content_days=10)
    say(world, "e-1")
    say(world, "e-2", "It was warm on Monday as well")
    alone = remember(world, "c-1", source_event_ids=["e-1"])["memory_id"]
    say(world, "e-3", "Kept for longer", retention_class="engineering_knowledge")
    both = remember(world, "c-2", source_event_ids=["e-2", "e-3"])["memory_id"]
    with later(11):
        assert due(world.tenant_id)["event_texts"] == 2
        assert sweep_tenant(world.tenant_id)["event_texts"] == 2
        assert (state_of(world, alone), state_of(world, both)) == ("needs_review", "active")
        assert due(world.tenant_id)["event_texts"] == 0
    with world.inside():
        row = SourceEvent.objects.get(event_id="e-1")
        assert (row.content_id, row.content_sha256, row.fingerprint, row.erased_at) == (None, "", "", None)
        assert Evidence.objects.get(event=row).availability == Evidence.Availability.UNAVAILABLE
        assert not Content.objects.filter(text__contains="on Monday").exists()
        assert AuditEntry.objects.filter(verb="retention.swept", object_id="event_texts").get().counts == {"rows": 2}
    assert world.alice.get("/memory-events/e-1").status_code == 200


@pytest.mark.requirement("RT-02")
def test_a_proposal_that_waits_for_too_long_is_rejected_and_forgotten(world):
    change_class(world, "engineering_knowledge", candidate_days=5)
    say(world, "e-1")
    waiting = remember(world, "c-1", scope="organization", source_event_ids=["e-1"])
    assert waiting["status"] == "pending_review"
    kept = remember(world, "c-2")["memory_id"]
    with later(6):
        assert due(world.tenant_id)["candidates"] == 1
        sweep_tenant(world.tenant_id)
        assert due(world.tenant_id)["candidates"] == 0
    with world.inside():
        row = Candidate.objects.get(candidate_id="c-1")
        assert (row.status, row.reasons, row.content_id, row.fact_key) == ("rejected", ["expired"], None, "")
        assert Candidate.objects.get(candidate_id="c-2").memory_id is not None
    assert state_of(world, kept) == "active"


@pytest.mark.requirement("RT-02", "RT-04")
def test_knowledge_is_put_up_for_review_when_its_class_says_so_however_often_it_was_read(world):
    made = remember(world, "c-1", retention_class="engineering_knowledge")["memory_id"]
    for _ in range(3):
        world.alice.post("/memory-query", {"question": "lamp warm"})
    with world.inside():
        memory = Memory.objects.get()
        assert memory.review_after == add_months(memory.created_at, 6)
    with later(150):
        assert due(world.tenant_id)["reviews"] == 0
    with later(190):
        assert sweep_tenant(world.tenant_id)["reviews"] == 1
        assert state_of(world, made) == "needs_review"
        with world.inside():
            assert Memory.objects.get().updated_revision > memory.updated_revision


@pytest.mark.requirement("RT-06")
def test_a_trace_goes_with_its_words(world):
    assert world.alice.post("/memory-query", {"question": "a private question"}).status_code == 200
    with later(31):
        assert due(world.tenant_id)["traces"] == 1
        sweep_tenant(world.tenant_id)
    with world.inside():
        assert not RetrievalTrace.objects.exists() and not Content.objects.filter(text__contains="private question").exists()


@pytest.mark.parametrize(("kind", "target"), [("subject", "alice"), ("namespace", "user/alice"), ("event", "e-1")])
def test_a_hold_wins_over_the_sweep(world, kind, target):
    change_class(world, "conversation", content_days=10)
    say(world, "e-1")
    place_hold(world.command(), kind, target, reason_code="x", until=clock.now() + timedelta(days=20))
    with later(11):
        assert due(world.tenant_id)["event_texts"] == 0 and sweep_tenant(world.tenant_id)["event_texts"] == 0
    with later(21):
        assert sweep_tenant(world.tenant_id)["event_texts"] == 1


@pytest.mark.requirement("DJ-21")
def test_a_deletion_goes_on_when_its_hold_has_ended(world):
    from apps.jobs.runner import drain

    say(world, "e-1")
    place_hold(world.command(), "event", "e-1", reason_code="x", until=clock.now() + timedelta(days=1))
    request_deletion(world.access("alice"), DeletionRequest(deletion_request_id="d", kind="event", target="e-1"))
    drain(kinds=["deletion"])
    assert sweep_tenant(world.tenant_id)["deletions_resumed"] == 0
    with later(2):
        assert sweep_tenant(world.tenant_id)["deletions_resumed"] == 1


def test_more_than_one_chunk_of_every_tenant(world, monkeypatch):
    from apps.evidence import sweeps as of_events

    monkeypatch.setattr(sweeps, "CHUNK", 2)
    monkeypatch.setattr(of_events, "CHUNK", 2)
    other = World("basin")
    for number in range(5):
        say(world, f"e-{number}")
    say(other, "e-1")
    with later(366):
        assert sweep_everything() >= 6
        assert due(world.tenant_id)["event_texts"] == due(other.tenant_id)["event_texts"] == 0


def run(*arguments):
    out = io.StringIO()
    call_command("retention_sweep", *arguments, stdout=out)
    return out.getvalue()


def test_the_dry_run_says_what_would_end_and_changes_nothing(world):
    say(world, "e-1")
    with later(366):
        before = json.loads(run("--dry-run", "--json"))
        assert before == {
            "dry_run": True,
            "backups": 0,
            "tenants": {"orchard": {**before["tenants"]["orchard"], "event_texts": 1}},
        }
        assert "would end" in run("--dry-run")
        assert json.loads(run("--json", "--tenant", "orchard"))["tenants"]["orchard"]["event_texts"] == 1
        assert json.loads(run("--dry-run", "--json"))["tenants"]["orchard"]["event_texts"] == 0
    with pytest.raises(CommandError) as refused:
        run("--tenant", "nobody")
    assert refused.value.returncode == 2


@pytest.mark.requirement("RT-02")
@pytest.mark.parametrize(
    ("start", "months", "end"),
    [
        ((2024, 2, 29), 12, (2025, 2, 28)),
        ((2023, 2, 28), 12, (2024, 2, 28)),
        ((2026, 1, 31), 1, (2026, 2, 28)),
        ((2028, 1, 31), 1, (2028, 2, 29)),
        ((2026, 11, 30), 3, (2027, 2, 28)),
        ((2026, 12, 15), 1, (2027, 1, 15)),
        ((2026, 8, 31), 6, (2027, 2, 28)),
        ((2024, 2, 29), 48, (2028, 2, 29)),
    ],
)
def test_months_are_those_of_the_calendar(start, months, end):
    assert add_months(datetime(*start, 23, 59, tzinfo=UTC), months) == datetime(*end, 23, 59, tzinfo=UTC)
