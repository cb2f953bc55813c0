"""Events that wait are read several at a time: the same candidates and memories as one by one, whatever happens in between."""

from __future__ import annotations

import pytest

from apps.evidence.models import SourceEvent
from apps.jobs.models import ProcessingJob
from apps.jobs.runner import drain
from apps.memories import extraction
from apps.memories.models import Candidate, Memory, MemoryVersion
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.tenants.models import Tenant
from tests.memories.readers import reading_with
from tests.memories.sayings import LABELS, Memories
from tests.tenants.world import World

pytestmark = pytest.mark.django_db(transaction=True)

SAYINGS = [
    ("From now on answer in Chinese by default", "2024-01-01"),
    ("We decided to use offline tablets for the field log because entries must be searchable.", "2024-01-02"),
    ("I mainly write Java", "2024-01-03"),
    ("not Java any more, Kotlin now", "2024-01-05"),
    ("从现在起默认用英文回答", "2024-01-06"),
    ("this report in English", "2024-01-07"),
]


@pytest.fixture
def world(transactional_db) -> World:
    return World("orchard", labels=LABELS)


@pytest.fixture
def memories(world) -> Memories:
    return Memories(world)


def state(world):
    """What is held true, without ids and revisions."""
    with world.inside():
        versions = MemoryVersion.objects.select_related("memory", "content").order_by("memory__fact_key", "valid_from")
        held = [(one.memory.fact_key, one.content.text, one.valid_from, one.valid_to, one.decision) for one in versions]
        candidates = Candidate.objects.order_by("event__occurred_at", "fact_key")
        return held, [(one.status, one.decision, one.reasons, one.fact_key) for one in candidates]


def test_together_and_one_by_one_are_the_same(world, memories):
    for text, on in SAYINGS:
        memories.event(text, on=on)
    drain()
    other = World("basin", labels=LABELS)
    said = Memories(other)
    for text, on in SAYINGS:
        said.event(text, on=on)
        drain()
    assert state(world) == state(other)
    with world.inside():
        assert Tenant.objects.get().revision < len(SAYINGS)  # they went down in fewer commits than events


def test_two_readings_of_one_event_in_one_group_make_one_candidate(world, memories):
    memories.event("From now on answer in Chinese by default")
    with world.inside():
        job = ProcessingJob.objects.get(kind="extract")
        ProcessingJob.objects.create(
            tenant_id=world.tenant_id,
            kind="extract",
            key=job.key + "9",
            payload=job.payload,
            namespaces=job.namespaces,
            max_attempts=8,
            next_try_at=job.next_try_at,
        )
    drain()
    with world.inside():
        assert set(ProcessingJob.objects.filter(kind="extract").values_list("state", flat=True)) == {"done"}
        assert (Candidate.objects.count(), Memory.objects.count()) == (1, 1)


@pytest.mark.requirement("OJ-08")
def test_an_event_that_cannot_be_read_stops_no_other(world, memories):
    class Brittle:
        name, version, outside, sources = "brittle", "1", False, frozenset({"user_message"})

        def extract(self, source):
            if "poison" in source.text:
                raise ValueError
            return extraction.extractors.get("rules").extract(source)

    with reading_with(Brittle()):
        for text in ("From now on answer in Chinese by default", "poison", "I mainly write Java"):
            memories.event(text)
        drain()
    with world.inside():
        jobs = ProcessingJob.objects.filter(kind="extract").order_by("id")
        assert [job.state for job in jobs] == ["done", "retry_wait", "done"]
        assert Memory.objects.count() == 2


@pytest.mark.requirement("VH-13", "DJ-03")
def test_a_deleted_event_among_them_yields_nothing(world, memories):
    kept = memories.event("From now on answer in Chinese by default")
    gone = memories.event("I mainly write Java")
    request_deletion(world.access(), DeletionRequest("del-1", "event", gone))
    drain(kinds=["extract"])
    with world.inside():
        (memory,) = Memory.objects.all()
        links = memory.evidence_links.values_list("evidence__event__event_id", flat=True)
        assert list(links) == [kept]
        assert not SourceEvent.objects.get(event_id=gone).candidates.exists()


@pytest.mark.requirement("EV-16")
def test_a_claim_and_its_results_in_one_group(world, memories):
    claim = memories.event("All tests passed.", project="kiosk", source_type="tool_result")
    memories.event("Ran 214 tests: 214 passed", project="kiosk", source_type="tool_result", derived_from=(claim,))
    drain()
    with world.inside():
        assert Candidate.objects.get(event__event_id=claim).status == "committed"
