"""An earlier decision that arrives after its successor: it becomes the predecessor, whoever is the authority (SP-01..10, MG-11)."""

from __future__ import annotations

import pytest

from apps.core.ids import parse_public_id
from apps.memories import timeline
from apps.memories.models import Decision, Memory, MemoryType
from apps.memories.proposals import ProposedRelation
from apps.memories.reads import read_memory
from tests.memories.sayings import at
from tests.retrieval.asking import Asking

pytestmark = pytest.mark.django_db

PAPER = {"en": ("Use paper for the field log.", "paper needs no battery"), "zh": ("现场日志用纸本记录。", "纸本不需要电池")}
TABLETS = {
    "en": ("Use tablets for the field log.", "entries must be searchable"),
    "zh": ("现场日志用平板记录。", "记录需要可搜索"),
}
VOICE = {"en": ("Use voice notes for the field log.", "hands are free"), "zh": ("现场日志用语音记录。", "双手空着")}
QUESTION = {"en": "What do we use for the field log, paper or tablets?", "zh": "现场日志用什么记录，纸本还是平板？"}

BY_DATE = [(VOICE, "2023-01-01"), (PAPER, "2024-01-01"), (TABLETS, "2024-03-01")]


@pytest.fixture(params=["en", "zh"])
def language(request) -> str:
    return request.param


def decide(memories, what, language, since, **fields):
    content, rationale = what[language]
    return memories.say(
        content,
        rationale=rationale,
        project="kiosk",
        memory_type=MemoryType.DECISION,
        fact_key="field_log.medium",
        valid_from=at(since),
        **fields,
    )


@pytest.mark.requirement("SP-01", "SP-02", "MG-11", "EV-08")
@pytest.mark.parametrize("order", [(2, 1, 0), (2, 0, 1), (0, 2, 1), (1, 2, 0)], ids=str)
def test_the_direct_predecessor_is_the_one_before_in_time_not_in_arrival(world, memories, language, order):
    made = [decide(memories, BY_DATE[place][0], language, BY_DATE[place][1]) for place in order]
    assert {one.memory_id for one in made} == {made[0].memory_id}
    last = made[order.index(2)]
    memory = memories.memory(last)
    assert memory.head.valid_from == at("2024-03-01")
    with world.inside():
        heads = timeline.heads(world.tenant_id, [memory.id])
        before = timeline.direct_predecessors(world.tenant_id, heads.values())
        text = timeline.texts_of(world.tenant_id, before.values())
    (predecessor,) = before.values()
    assert text[predecessor.id].content == PAPER[language][0]
    assert (predecessor.valid_from, predecessor.valid_to) == (at("2024-01-01"), at("2024-03-01"))


@pytest.mark.requirement("SP-02", "SP-05", "SP-07", "PK-12")
def test_a_packet_puts_the_late_predecessor_right_behind_its_successor(world, memories, language):
    decide(memories, TABLETS, language, "2024-03-01")
    late = decide(memories, PAPER, language, "2024-01-01")
    assert late.decision == Decision.INSERT_HISTORY
    packet = Asking(world).packet(QUESTION[language], project="kiosk")
    given = [item.content for item in packet.items]
    assert given == [TABLETS[language][0], PAPER[language][0]]
    current, earlier = packet.items
    assert (current.version, earlier.version) == (1, 2)
    assert earlier.memory_id == current.memory_id


@pytest.mark.requirement("VH-10", "MG-12", "ID-29")
def test_the_late_one_may_name_its_successor_and_still_does_not_end_it(world, memories, language):
    """Its relation says what it is to the other record; which of them holds is a matter of time and of who may say so."""
    successor = decide(memories, TABLETS, language, "2024-03-01")
    named = (ProposedRelation("supersedes", successor.memory_id),)
    late = decide(memories, PAPER, language, "2024-01-01", relations=named)
    assert (late.decision, late.memory_id) == (Decision.INSERT_HISTORY, successor.memory_id)
    memory = memories.memory(successor)
    assert (memory.state, memory.version) == ("active", successor.version)
    assert read_memory(world.access(), successor.memory_id).content == TABLETS[language][0]


@pytest.mark.requirement("ID-29", "MG-06")
def test_another_subjects_earlier_decision_is_no_predecessor(world, memories, language):
    """Bob's word is not alice's history: it is kept beside hers, and both are shown as in dispute."""
    successor = decide(memories, TABLETS, language, "2024-03-01")
    late = decide(memories, PAPER, language, "2024-01-01", who="bob")
    assert (late.status, late.reasons) == ("conflict", ["other_subject"])
    with world.inside():
        keys = [parse_public_id("mem", one.memory_id) for one in (successor, late)]
        heads = timeline.heads(world.tenant_id, keys)
        assert timeline.direct_predecessors(world.tenant_id, heads.values()) == {}
        assert Memory.objects.filter(state="active").exclude(conflict_set=None).count() == 2


@pytest.mark.requirement("CA-19", "VH-10")
def test_a_late_decision_for_git_waits_and_the_successor_is_untouched(memories, language):
    from apps.memories.models import Authority

    successor = decide(memories, TABLETS, language, "2024-03-01")
    late = decide(memories, PAPER, language, "2024-01-01", authority=Authority.GIT)
    assert (late.status, late.decision, late.reasons) == ("pending_review", None, ["git_authority"])
    assert [version.version for version in memories.versions(successor)] == [1]
