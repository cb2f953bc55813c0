"""Who comes along with whom, and who does not: derived views, copies of one source, upkeep of memory, beginnings of a session."""

from __future__ import annotations

import pytest

from apps.core.ids import parse_public_id
from apps.memories.models import MemoryType, Verdict
from apps.memories.proposals import ProposedRelation
from apps.retrieval.models import TraceCandidate
from apps.retrieval.vocabulary import Trigger
from tests.memories.sayings import at

pytestmark = pytest.mark.django_db


def _reasons(world, packet):
    with world.inside():
        rows = TraceCandidate.objects.filter(trace_id=parse_public_id("trc", packet.trace_id))
        return {row.memory_id: row.reason for row in rows}


def _from(*outcomes):
    return tuple(ProposedRelation("derived_from", outcome.memory_id) for outcome in outcomes)


@pytest.mark.requirement("RP-40")
def test_what_is_called_by_name_brings_what_it_was_made_from_and_nothing_further(memories, asking):
    root = memories.say("Oil is bought in barrels")
    base = memories.say("Lamps burn from dusk", relations=_from(root))
    memories.say("Harbour plan for winter", fact_key="plan.winter_harbour", relations=_from(base))
    called = asking.packet("What is the winter harbour?")
    assert [item.content for item in called.items] == ["Harbour plan for winter", "Lamps burn from dusk"]
    assert asking.contents("plan") == ["Harbour plan for winter"], "words alone bring nobody along"


@pytest.mark.requirement("RK-30")
def test_a_view_that_retells_a_phrase_stands_behind_the_record_it_was_made_from(memories, asking):
    canonical = memories.say("The glacier custard incident was solved with salt", valid_from=at("2023-01-01"))
    memories.say(
        "Digest: the glacier custard incident, solved with salt", valid_from=at("2026-01-01"), relations=_from(canonical)
    )
    first, second = asking.packet("glacier custard incident").items
    assert first.memory_id == canonical.memory_id and first.why.spans == second.why.spans == ["glacier custard incident"]


@pytest.mark.requirement("RP-08")
def test_two_records_of_the_same_words_and_source_are_told_once(world, memories, asking):
    source = memories.event("note")
    first = memories.say("The tide gauge is at the pier", source_event_ids=(source,))
    second = memories.say("The  tide gauge is at the pier", source_event_ids=(source,))
    other = memories.say("The tide gauge is at the pier", source_event_ids=(memories.event("another note"),))
    packet = asking.packet("tide gauge pier")
    given = {item.memory_id for item in packet.items}
    assert other.memory_id in given and len(given & {first.memory_id, second.memory_id}) == 1
    assert "same_lineage" in _reasons(world, packet).values()


@pytest.mark.requirement("CP-01", "CP-02", "CP-03", "CP-05")
@pytest.mark.parametrize("family", ["manifest", "maintenance_log", "import_report", "checksum"])
def test_records_of_the_upkeep_of_memory_answer_nobody(world, memories, asking, family):
    made = memories.say("Checksum of the tide table archive", fact_key=f"{family}.tide_table")
    packet = asking.packet("checksum of the tide table archive", fact_keys=(f"{family}.tide_table",))
    assert packet.items == []
    assert _reasons(world, packet) == {memories.memory(made).id: "control_plane"}


@pytest.mark.requirement("CR-01", "CR-02", "RP-13")
def test_a_beginning_lists_standing_rules_then_conclusions_of_the_project(memories, asking):
    said = {"project": "kiosk", "memory_type": MemoryType.FINDING}
    rule = memories.say("Gloves in the lamp room", retrieval_policy="always")
    older = memories.say("Use tablets", project="kiosk", memory_type=MemoryType.DECISION, valid_from=at("2024-01-01"))
    memories.say("Perhaps the cache is stale", verdict=Verdict.PROVISIONAL, **said)
    refuted = memories.say("The shift is the cause", verdict=Verdict.REFUTED, valid_from=at("2024-03-01"), **said)
    memories.say("Soup on Tuesday", project="kiosk", memory_type=MemoryType.EPISODIC)
    memories.say("Mine alone", memory_type=MemoryType.DECISION)
    memories.say("Not yet", project="kiosk", memory_type=MemoryType.DECISION, valid_from=at("2090-01-01"))
    for trigger in (Trigger.SESSION_START, Trigger.COMPACTION):
        packet = asking.packet("", project="kiosk", trigger=trigger)
        assert [item.memory_id for item in packet.items] == [rule.memory_id, older.memory_id, refuted.memory_id]
        assert [item.section for item in packet.items] == ["supported", "supported", "excluded_path"]
        assert packet.outcome == "answered"
    assert [item.memory_id for item in asking.packet("", project="kiosk", trigger=Trigger.TASK_SWITCH).items] == [rule.memory_id]
    assert asking.packet("", project="kiosk").items == []


@pytest.mark.requirement("CR-04")
def test_a_new_task_starts_from_nothing(memories, asking):
    memories.say("The ferry timetable changes in May")
    boiler = memories.say("The boiler is serviced in October")
    asking.packet("ferry timetable")
    packet = asking.packet("", task="plan the boiler service", trigger=Trigger.TASK_SWITCH)
    assert [item.memory_id for item in packet.items] == [boiler.memory_id]
