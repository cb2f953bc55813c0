"""From an event to what is remembered, through the real worker (design/03 steps 2 to 4; OJ-*, CA-21)."""

from __future__ import annotations

import pytest

from apps.evidence.drafts import Draft
from apps.evidence.ingestion import accept_event
from apps.evidence.reads import read_event
from apps.jobs.models import ProcessingJob
from apps.jobs.runner import drain
from apps.memories.extractors import get
from apps.memories.extractors.base import Extraction, Proposed
from apps.memories.models import Candidate, Memory
from apps.memories.reads import read_memory
from apps.retention.deletion import DeletionRequest, request_deletion
from tests.memories.readers import reading_with
from tests.memories.sayings import LABELS, Memories, at
from tests.tenants.world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db) -> World:
    return World("orchard", labels=LABELS)


@pytest.fixture
def memories(world) -> Memories:
    return Memories(world)


def candidates(world, event):
    shown = read_event(world.access(), event)
    assert shown.processing.state == "extracted"
    with world.inside():
        rows = {row.candidate_id: row for row in Candidate.objects.all()}
    return [rows[name] for name in shown.processing.candidates]


@pytest.mark.requirement("CA-11")
@pytest.mark.parametrize("text", ["以后默认用中文回答", "from now on answer in Chinese by default"])
def test_a_preference_is_remembered_with_its_source(memories, world, text):
    event = memories.event(text)
    drain()
    (candidate,) = candidates(world, event)
    assert (candidate.status, candidate.origin) == ("committed", f"rules@{get('rules').version}")
    with world.inside():
        memory = Memory.objects.get()
    from apps.core.ids import public_id

    shown = read_memory(world.access(), public_id("mem", memory.id))
    assert (shown.fact_key, shown.source_refs, shown.valid_from) == ("assistant.reply_language", [event], at("2024-01-01"))


@pytest.mark.requirement("CA-12")
def test_a_task_parameter_leaves_the_default_alone(memories, world):
    memories.event("以后默认用中文回答", on="2024-01-01")
    task = memories.event("这次报告用英文", on="2024-01-02")
    drain()
    (refused,) = candidates(world, task)
    assert (refused.status, refused.reasons, refused.memory_id) == ("rejected", ["task_scoped"], None)
    with world.inside():
        assert list(Memory.objects.values_list("version", flat=True)) == [1]


@pytest.mark.requirement("EV-16")
def test_a_claim_of_success_waits(memories, world):
    event = memories.event("所有测试通过", project="kiosk", source_type="tool_result")
    drain()
    (waiting,) = candidates(world, event)
    assert (waiting.status, waiting.reasons) == ("pending_review", ["needs_evidence"])
    assert memories.count() == 0


@pytest.mark.requirement("OJ-02")
def test_a_second_run_makes_no_doubles(memories, world):
    memories.event("以后默认用中文回答")
    drain()
    with world.inside():
        ProcessingJob.objects.filter(kind="extract").update(state=ProcessingJob.State.QUEUED, finished_at=None)
    drain()
    with world.inside():
        assert (Candidate.objects.count(), Memory.objects.count()) == (1, 1)
        assert ProcessingJob.objects.get(kind="extract").state == ProcessingJob.State.DONE


@pytest.mark.requirement("VH-13", "DJ-03", "DJ-04")
def test_a_deleted_event_yields_nothing(memories, world):
    event = memories.event("以后默认用中文回答")
    request_deletion(world.access(), DeletionRequest("del-1", "event", event))
    drain(kinds=["extract"])
    assert memories.count() == 0
    drain()
    with world.inside():
        assert not Candidate.objects.filter(status="committed").exists()


@pytest.mark.requirement("DJ-03", "EV-14")
def test_another_deletion_does_not_stop_the_work(memories, world):
    made = memories.say("The lamp is warm")
    memories.event("以后默认用中文回答")
    request_deletion(world.access(), DeletionRequest("del-1", "memory", made.memory_id))
    drain()
    with world.inside():
        assert Memory.objects.filter(state="active").count() == 1


def test_a_bad_proposal_does_not_poison_the_event(memories, world):
    class Odd:
        name, version, outside, sources = "odd", "1", False, frozenset({"user_message"})

        def extract(self, source):
            good = Proposed(memory_type="fact", fact_key="lamp", content="The lamp is warm", epistemic_status="explicit")
            bad = Proposed(memory_type="fact", fact_key="stove", content="x", epistemic_status="explicit", topics=("nowhere",))
            return Extraction((bad, good), sentences=2, understood=2)

    with reading_with(Odd()):
        event = memories.event("whatever")
        drain()
    (candidate,) = candidates(world, event)
    assert (candidate.fact_key, candidate.status) == ("lamp", "committed")


@pytest.mark.requirement("ID-16")
def test_what_somebody_says_about_themself_in_company_waits(memories, world):
    event = memories.event("以后默认用中文回答", project="kiosk")
    drain()
    for candidate in candidates(world, event):
        assert (candidate.status, candidate.reasons) == ("pending_review", ["not_authorised"])
    assert memories.count() == 0


@pytest.mark.requirement("EV-11", "CA-06")
@pytest.mark.parametrize("text", ["请记住，我的密码是 {}", "please remember, my password is {}"])
def test_a_secret_is_never_remembered(memories, world, text):
    secret = "hunter-Zq7uR4Lmw9"
    draft = Draft(
        event_id="evt-s", scope="user", source_type="user_message", occurred_at=at("2024-01-01"), content=text.format(secret)
    )
    accept_event(world.access(), draft)
    drain()
    for candidate in candidates(world, "evt-s"):
        assert (candidate.status, candidate.reasons) == ("rejected", ["forbidden_material"])
    assert memories.count() == 0


@pytest.mark.requirement("MG-11")
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_correction_wins_in_any_order(memories, world, order):
    said = [("I mainly write Java", "2024-01-01"), ("not Java any more, Kotlin now", "2024-06-01")]
    for place in order:
        memories.event(said[place][0], on=said[place][1])
        drain()
    with world.inside():
        memory = Memory.objects.get()
    from apps.core.ids import public_id

    assert "Kotlin" in read_memory(world.access(), public_id("mem", memory.id)).content


@pytest.mark.requirement("OJ-08")
def test_a_poisoned_event_never_blocks_the_others_of_its_batch(memories, world):
    """An extractor that falls over one text: that event alone waits and ends as a dead letter, the others are read."""

    class Brittle:
        name, version, outside, sources = "brittle", "1", False, frozenset({"user_message"})

        def extract(self, source):
            if "poison" in source.text:
                raise ZeroDivisionError
            said = Proposed(memory_type="fact", fact_key=source.text, content=source.text, epistemic_status="explicit")
            return Extraction((said,), sentences=1, understood=1)

    with reading_with(Brittle()):
        texts = [f"note {number}" for number in range(6)]
        poisoned = [memories.event(text) for text in (*texts[:3], "poison", *texts[3:])][3]
        for _ in range(9):
            drain()
            with world.inside():
                ProcessingJob.objects.filter(state="retry_wait").update(next_try_at=at("2024-01-01"))
    assert read_event(world.access(), poisoned).processing.state == "dead"
    with world.inside():
        assert sorted(Memory.objects.values_list("fact_key", flat=True)) == texts
        job = ProcessingJob.objects.get(state="dead")
        assert (job.attempts, job.last_error, ProcessingJob.objects.filter(state="done").count()) == (8, "ZeroDivisionError", 6)


# -- what releases a claim that waits


def claim(memories, text="所有测试通过"):
    event = memories.event(text, project="kiosk", source_type="tool_result")
    drain()
    return event


@pytest.mark.requirement("EV-16")
@pytest.mark.parametrize("text", ["所有测试通过", "all tests passed"])
def test_the_results_release_the_claim(memories, world, text):
    event = claim(memories, text)
    results = memories.event("42 collected, 42 ok, 0 failed", project="kiosk", source_type="tool_result", derived_from=(event,))
    drain()
    (released,) = candidates(world, event)
    assert (released.status, released.decision, released.reasons, released.content) == ("committed", "ADD", [], None)
    assert len(released.source_events) == 2
    from apps.core.ids import public_id

    shown = read_memory(world.access(), public_id("mem", released.memory_id))
    assert shown.content == text
    assert set(shown.source_refs) == {event, results}
    assert shown.independent_evidence_count == 1


@pytest.mark.requirement("EV-16", "LN-05")
@pytest.mark.parametrize(
    ("text", "source_type"),
    [("As I said, the tests are fine.", "assistant_message"), ("all tests passed", "tool_result"), ("Fine!", "user_message")],
)
def test_a_retelling_of_the_claim_is_no_result(memories, world, text, source_type):
    event = claim(memories)
    memories.event(text, project="kiosk", source_type=source_type, derived_from=(event,))
    drain()
    (waiting,) = candidates(world, event)
    assert (waiting.status, waiting.reasons) == ("pending_review", ["needs_evidence"])


def test_results_of_something_else_release_nothing(memories, world):
    event = claim(memories)
    memories.event("42 collected, 42 ok", project="kiosk", source_type="tool_result")
    drain()
    assert candidates(world, event)[0].status == "pending_review"


@pytest.mark.requirement("OJ-02")
def test_a_second_run_in_a_project_finds_what_the_first_one_wrote(memories, world):
    event = claim(memories)
    with world.inside():
        ProcessingJob.objects.filter(kind="extract").update(state=ProcessingJob.State.QUEUED, finished_at=None)
    drain()
    assert len(candidates(world, event)) == 1
