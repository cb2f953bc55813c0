"""`manage.py reextract`: old events before a new version of an extractor (EV-14, OJ-02)."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.audits.models import AuditEntry
from apps.core.ids import public_id
from apps.evidence.drafts import Draft
from apps.evidence.ingestion import accept_events
from apps.evidence.reads import read_event
from apps.jobs.models import ProcessingJob
from apps.jobs.runner import drain
from apps.memories import rereading
from apps.memories.extractors.base import Extraction, Proposed
from apps.memories.models import Candidate, ConflictSet, Memory
from apps.memories.reads import read_memory
from apps.retention.deletion import DeletionRequest, request_deletion
from tests.memories.readers import reading_with
from tests.memories.sayings import LABELS, Memories, at
from tests.tenants.world import World

pytestmark = pytest.mark.django_db(transaction=True)


class Reader:
    """Takes every text for a fact under the key of its first word."""

    name, outside, sources = "plain", False, frozenset({"user_message"})

    def __init__(self, version: str = "1", ending: str = "") -> None:
        self.version = version
        self.ending = ending

    def extract(self, source):
        said = Proposed(
            memory_type="fact",
            fact_key=source.text.split()[0].lower(),
            content=source.text + self.ending,
            epistemic_status="explicit",
        )
        return Extraction((said,), sentences=1, understood=1)


@pytest.fixture
def world(transactional_db) -> World:
    return World("orchard", labels=LABELS)


@pytest.fixture
def memories(world) -> Memories:
    return Memories(world)


def run(*arguments: str) -> dict[str, object]:
    out = StringIO()
    call_command("reextract", "--tenant", "orchard", "--json", *arguments, stdout=out)
    return json.loads(out.getvalue())


def origins(world: World) -> list[str]:
    with world.inside():
        return sorted(Candidate.objects.values_list("origin", flat=True))


@pytest.mark.requirement("EV-14", "OJ-02")
def test_old_events_are_read_once_by_each_version(memories, world):
    with reading_with(Reader()):
        events = [memories.event(f"Lamp{number} is warm") for number in range(3)]
        drain()
        assert run() == {"extractor": "plain@1", "events": 3, "queued": 0, "present": 3, "withheld": 0}
    with reading_with(Reader("2")):
        assert run() == {"extractor": "plain@2", "events": 3, "queued": 3, "present": 0, "withheld": 0}
        assert run()["present"] == 3  # waiting
        drain()
        assert run()["present"] == 3  # read
    assert origins(world) == ["plain@1"] * 3 + ["plain@2"] * 3
    assert {read_event(world.access(), event).processing.state for event in events} == {"extracted"}
    with world.inside():
        assert Memory.objects.count() == 3
        entries = list(AuditEntry.objects.filter(verb="events.requeued").values_list("object_id", "counts", "actor"))
    assert entries == [("plain@2", {"events": 3}, "reextract")]


@pytest.mark.requirement("MG-03", "MG-06")
def test_the_results_of_the_old_version_give_way_by_the_merge_rules_alone(memories, world):
    """The same statement of the same source is nothing new; another one under the same key and time is a conflict, and both stay."""
    with reading_with(Reader()):
        memories.event("Lamp is warm")
        drain()
    with reading_with(Reader("2")):
        run()
        drain()
    with world.inside():
        assert list(Candidate.objects.order_by("id").values_list("status", "decision")) == [
            ("committed", "ADD"),
            ("no_op", "NO_OP"),
        ]
    with reading_with(Reader("3", ending=" and bright")):
        run()
        drain()
    with world.inside():
        assert Candidate.objects.latest("id").decision == "CONFLICT" and ConflictSet.objects.count() == 1
        shown = [
            read_memory(world.access(), public_id("mem", key)).content for key in Memory.objects.values_list("id", flat=True)
        ]
    assert sorted(shown) == ["Lamp is warm", "Lamp is warm and bright"]


def test_a_project_and_a_time_narrow_it(memories, world):
    with reading_with(Reader()):
        memories.event("Old is old", on="2024-01-01", project="kiosk")
        memories.event("New is new", on="2024-06-01", project="kiosk")
        memories.event("Own is mine", on="2024-06-01")
        drain()
    with reading_with(Reader("2")):
        assert run("--project", "kiosk", "--since", "2024-06-01")["queued"] == 1
        assert run("--project", "Kiosk")["queued"] == 1
        assert run("--since", "2024-06-01T00:00:00Z")["queued"] == 1


def test_stopped_in_the_middle_it_goes_on_where_it_was(memories, world, monkeypatch):
    monkeypatch.setattr(rereading, "AT_ONCE", 2)
    with reading_with(Reader()):
        for number in range(5):
            memories.event(f"Lamp{number} is warm")
        drain()
    with reading_with(Reader("2")):
        stopped = rereading.queue_again(world.command(), rereading.require_extractor("plain"))
        assert next(stopped).queued == 2
        stopped.close()
        assert run() == {"extractor": "plain@2", "events": 5, "queued": 3, "present": 2, "withheld": 0}


@pytest.mark.requirement("DJ-03")
def test_what_was_deleted_is_not_read_again(memories, world):
    with reading_with(Reader()):
        gone, late, _kept = memories.event("Lamp is warm"), memories.event("Stove is hot"), memories.event("Door is shut")
        drain()
        request_deletion(world.access(), DeletionRequest("del-1", "event", gone))
    with reading_with(Reader("2")):
        assert run()["queued"] == 2
        request_deletion(world.access(), DeletionRequest("del-2", "event", late))
        drain()
    with world.inside():
        assert list(Memory.objects.filter(state="active").values_list("fact_key", flat=True)) == ["door"]
        states = set(ProcessingJob.objects.filter(kind="reextract").values_list("state", flat=True))
        # The deletion's layer of queued work may come before the work does: then it is taken out of the queue.
        assert states <= {"done", "discarded"}, states
        assert "done" in states


def test_sources_that_it_does_not_read_are_counted(memories, world):
    with reading_with(Reader()):
        memories.event("Lamp is warm")
        memories.event("Lamp is warm", source_type="web_page")
        drain()
    with reading_with(Reader("2")):
        assert run() == {"extractor": "plain@2", "events": 2, "queued": 1, "present": 0, "withheld": 1}


def test_another_tenants_events_stay_where_they_are(memories, world):
    other = World("harbour", labels=LABELS)
    with reading_with(Reader()):
        Memories(other).event("Lamp is warm")
        drain()
    with reading_with(Reader("2")):
        assert run()["events"] == 0
    assert origins(other) == ["plain@1"]


@pytest.mark.parametrize(
    "arguments",
    [("--tenant", "nowhere"), ("--extractor", "oracle"), ("--project", "attic"), ("--since", "yesterday")],
)
def test_what_was_not_understood_queues_nothing(memories, world, arguments):
    with reading_with(Reader()):
        memories.event("Lamp is warm")
    with reading_with(Reader("2")), pytest.raises(CommandError) as refused:
        run(*arguments)
    assert refused.value.returncode == 2
    with world.inside():
        assert not ProcessingJob.objects.filter(kind="reextract").exists()


def test_new_events_do_not_wait_behind_old_ones(memories, world):
    """Kinds take turns: of a long queue of old events only a part is read before a new one is."""
    order: list[str] = []

    class Watching(Reader):
        def extract(self, source):
            order.append(source.text)
            return super().extract(source)

    with reading_with(Reader()):
        drafts = [
            Draft(
                event_id=f"old-{number}",
                scope="user",
                source_type="user_message",
                occurred_at=at("2024-01-01"),
                content=f"Lamp{number} is warm",
            )
            for number in range(60)
        ]
        accept_events(world.access(), drafts)
    with world.inside():
        ProcessingJob.objects.update(state="done")
    with reading_with(Watching("2")):
        run()
        memories.event("Door is shut")
        drain()
    assert len(order) == 61 and order.index("Door is shut") <= 30
