"""The same question at the same as_of: the same packet while nothing moved, and every difference by its name when something did."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from apps.audits.models import AuditEntry
from apps.core import clock
from apps.core.errors import NotFound, NotPermitted
from apps.core.ids import parse_public_id, public_id
from apps.evidence.models import Content
from apps.memories.models import Memory, MemoryType
from apps.memories.revision import Change as Edit
from apps.memories.revision import revise_memory
from apps.retrieval.comparing import Change, Compared, Place, Verdict, compare
from apps.retrieval.context import Budget, Turn
from apps.retrieval.models import RetrievalTrace, TraceAdoption, TraceCandidate
from apps.retrieval.question import Question
from apps.retrieval.replay import replay_trace
from apps.retrieval.triage.vocabulary import Asked
from apps.retrieval.vocabulary import BudgetUnit, Mode, Style, Trigger
from apps.tenants.models import AccessPolicy, User
from apps.tenants.people import end_project_member
from tests.memories.sayings import at

pytestmark = pytest.mark.django_db


def again(world, packet, role="auditor"):
    return replay_trace(world.person_access(role), packet.trace_id)


def changes(found) -> dict[str, list[str]]:
    return {public_id("mem", row.memory): [one.value for one in row.changes] for row in found.changed}


def circumstances(found) -> dict[str, tuple[str, str]]:
    return {one.name: (one.then, one.now) for one in found.circumstances if one.changed}


@pytest.fixture
def berths(memories):
    """Two that are given, one that is over, and one about something else."""
    return {
        "one": memories.say("Berth one is free for the ferry"),
        "two": memories.say("Berth two is kept free for the ferry and the pilot boat"),
        "past": memories.say("Berth three was free for the ferry", valid_from=at("2021-01-01"), valid_to=at("2021-02-01")),
        "lamp": memories.say("The lamp is warm"),
    }


# -- nothing has moved


ASKED: tuple[dict[str, Any], ...] = (
    {"question": "Which berth is free for the ferry?"},
    {"question": "berth ferry", "max_items": 1, "style": Style.SLOTS, "budget": Budget(limit=90, unit=BudgetUnit.CODEPOINTS)},
    {"question": "berth ferry", "max_candidates": 1},
    {"question": "berth ferry", "types": (MemoryType.DECISION,)},
    {"question": "which berth was free?", "mode": Mode.HISTORY, "as_of": at("2021-01-15")},
    {"question": "which berth is free?", "as_of": at("2024-06-01")},
    {"question": "Is it free?", "window": (Turn(role="user", content="I talk about the berth of the ferry."),)},
    {"question": "Hello!", "decision": Asked.AUTO},
    {"question": "the field test", "topics": ("deploys",)},
    {"task": "Plan the landing of the ferry", "environment": {"branch": "main"}},
    {"question": "", "fact_keys": ("key.one",)},
    {"question": "", "trigger": Trigger.SESSION_START, "project": "kiosk"},
    {"question": "ferry"},
)


@pytest.mark.requirement("TR-21", "EL-05")
def test_an_unchanged_world_gives_the_identical_packet(world, memories, asking, berths):
    memories.say("Knock before you enter", retrieval_policy="always", memory_type=MemoryType.CONSTRAINT)
    memories.say("The landing is lit", fact_key="key.one", topics=("deploys",))
    memories.say("The field test uses tablets on the ferry", project="kiosk", memory_type=MemoryType.DECISION)
    outcomes = set()
    for fields in ASKED:
        packet = asking.packet(**{"question": "", **fields})
        found = again(world, packet)
        assert (found.verdict, found.changed, circumstances(found), found.assumed) == (Verdict.SAME, (), {}, False), fields
        given = sorted((row.now.rank, public_id("mem", row.memory), row.now.version) for row in found.memories if row.now.rank)
        assert given == [(rank, item.memory_id, item.version) for rank, item in enumerate(packet.items, start=1)], fields
        outcomes.add((packet.outcome, len(packet.items)))
    assert len(outcomes) > 5  # the questions are not all alike


def test_what_is_written_elsewhere_changes_nothing(world, memories, asking, berths):
    packet = asking.packet("berth ferry")
    memories.say("Berth nine is free for the ferry", who="bob")
    found = again(world, packet)
    assert found.verdict is Verdict.SAME and circumstances(found).keys() == {"revision"}


@pytest.mark.requirement("OJ-08")
def test_what_held_then_is_given_again_although_it_was_replaced_since(world, memories, asking, berths):
    """The packet of then, from the versions of then: they are history by now."""
    packet = asking.packet("berth ferry")
    memory = memories.memory(berths["one"])
    edit = Edit(content="Berth one is closed to every ferry", valid_from=clock.now())
    revise_memory(world.access("alice"), berths["one"].memory_id, expected_version=memory.version, change=edit, reason="storm")
    found = again(world, packet)
    assert found.verdict is Verdict.SAME
    assert circumstances(found).keys() == {"revision", "budget_used"}  # its line says now until when it held
    (one,) = [row for row in found.memories if row.memory == memory.id]
    assert one.then.version == one.now.version == 1


# -- something has moved


def test_a_new_record_about_the_time_of_then_is_named(world, memories, asking, berths):
    packet = asking.packet("berth ferry")
    new = memories.say("Berth four: ferry", valid_from=at("2025-01-01"))
    found = again(world, packet)
    assert found.verdict is Verdict.CHANGED
    assert changes(found)[new.memory_id] == ["new"]
    (row,) = [row for row in found.changed if public_id("mem", row.memory) == new.memory_id]
    assert row.then is None and row.now.rank == 1
    assert all(kinds == ["rank_moved"] for name, kinds in changes(found).items() if name != new.memory_id)


def test_a_correction_of_what_held_then_is_a_version_that_moved(world, memories, asking, berths):
    packet = asking.packet("berth ferry")
    memory = memories.memory(berths["one"])
    edit = Edit(content="Berth one is free for the ferry at noon")  # keeps its valid_from: the first version never held
    revise_memory(world.access("alice"), berths["one"].memory_id, expected_version=memory.version, change=edit, reason="typo")
    found = again(world, packet)
    assert "version_moved" in changes(found)[berths["one"].memory_id] and found.verdict is Verdict.CHANGED
    (row,) = [row for row in found.changed if row.memory == memory.id]
    assert (row.then.version, row.now.version) == (1, 2)


def test_one_that_is_left_out_now_says_with_which_reason(world, memories, asking, berths):
    packet = asking.packet("berth ferry")
    with world.inside():
        Memory.objects.filter(pk=parse_public_id("mem", berths["two"].memory_id)).update(state=Memory.State.WITHDRAWN)
    found = again(world, packet)
    assert changes(found) == {berths["two"].memory_id: ["not_given"]}
    assert (found.changed[0].now.stage, found.changed[0].now.reason) == ("authority", "withdrawn")


def test_a_memory_under_a_policy_of_others_is_out_of_the_agents_reach(world, memories, asking, berths):
    packet = asking.packet("berth ferry")
    with world.inside():
        board = AccessPolicy.objects.create(tenant_id=world.tenant_id, key="board")
        Memory.objects.filter(pk=parse_public_id("mem", berths["one"].memory_id)).update(access_policy=board)
    assert changes(again(world, packet))[berths["one"].memory_id] == ["out_of_reach"]


def test_a_project_that_was_left_is_not_read_again(world, memories, asking):
    made = memories.say("The ferry sails from the kiosk", project="kiosk")
    packet = asking.packet("ferry kiosk", project="kiosk")
    assert [item.memory_id for item in packet.items] == [made.memory_id]
    end_project_member(world.command(), project="kiosk", subject="alice")
    found = again(world, packet)
    assert found.verdict is Verdict.CHANGED and changes(found) == {made.memory_id: ["out_of_reach"]}
    assert circumstances(found)["namespaces"] == ("3", "2") and circumstances(found)["outcome"] == ("answered", "no_match")


def test_an_agent_that_was_switched_off_reaches_nothing(world, memories, asking, berths):
    packet = asking.packet("berth ferry")
    User.objects.filter(username__contains="assistant").update(is_active=False)
    found = again(world, packet)
    assert {kind for kinds in changes(found).values() for kind in kinds} == {"out_of_reach"}
    assert circumstances(found)["namespaces"][1] == "0"


def test_other_rules_are_named_even_if_the_packet_is_the_same(world, asking, berths):
    packet = asking.packet("berth ferry")
    with world.inside():
        RetrievalTrace.objects.update(rule_version="r0")
    found = again(world, packet)
    assert found.verdict is Verdict.SAME and circumstances(found)["rule_version"][0] == "r0"


@pytest.mark.requirement("TR-22")
def test_a_trace_of_before_its_parameters_were_kept_replays_with_the_defaults_and_says_so(world, asking, berths):
    packet = asking.packet("berth ferry")
    with world.inside():
        RetrievalTrace.objects.update(asked={})
    found = again(world, packet)
    assert found.verdict is Verdict.SAME and found.assumed


# -- deleted


@pytest.mark.requirement("DJ-10")
def test_what_was_deleted_is_named_as_that_from_its_acceptance_on(world, memories, asking, berths):
    packet = asking.packet("berth ferry")
    assert world.alice.delete(f"/memories/{berths['one'].memory_id}?deletion_request_id=del-1").status_code == 202
    found = again(world, packet)
    assert changes(found)[berths["one"].memory_id][0] == "deleted"
    assert all(row.now is None for row in found.changed if public_id("mem", row.memory) == berths["one"].memory_id)


def test_a_question_whose_words_were_erased_is_not_asked_again(world, asking, berths):
    packet = asking.packet("berth ferry")
    with world.inside():
        request_id = RetrievalTrace.objects.get().request_id
        RetrievalTrace.objects.update(request=None)
        Content.objects.filter(pk=request_id).delete()
    found = again(world, packet)
    assert (found.verdict, found.memories, found.circumstances) == (Verdict.WORDS_GONE, (), ())


def test_while_the_barrier_cannot_be_read_nothing_is_asked_again(world, asking, berths, monkeypatch):
    packet = asking.packet("berth ferry")
    monkeypatch.setattr("apps.retrieval.replay.barrier_is_whole", lambda: False)
    assert again(world, packet).verdict is Verdict.UNREADABLE


# -- for whom, and what it leaves


@pytest.mark.requirement("ID-35")
def test_a_replay_is_an_audit_entry_and_nothing_else(world, asking, berths):
    packet = asking.packet("berth ferry")

    def counted():
        with world.inside():
            return [model.objects.count() for model in (RetrievalTrace, TraceCandidate, TraceAdoption, Content)]

    before = counted()
    again(world, packet)
    assert counted() == before
    with world.inside():
        (entry,) = AuditEntry.objects.filter(verb="trace.replayed")
    assert (entry.actor, entry.object_id, entry.codes) == ("auditor_orchard", packet.trace_id, ["same"])


def test_for_whom(world, elsewhere, asking, berths):
    packet = asking.packet("berth ferry")
    for role in ("owner", "compliance", "auditor"):
        assert again(world, packet, role).verdict is Verdict.SAME, role
    for role in ("reviewer", "operator"):
        with pytest.raises(NotPermitted):
            again(world, packet, role)
    with pytest.raises(NotPermitted):
        replay_trace(world.access("alice"), packet.trace_id)
    for name in ("trc_00000000000000000000000000", "nonsense", packet.trace_id):
        with pytest.raises(NotFound):
            replay_trace(elsewhere.person_access("owner"), name)


def test_nothing_of_a_replay_is_text(world, asking, memories):
    memories.say("The heron sleeps on the lighthouse")
    found = again(world, asking.packet("heron lighthouse"))
    assert found.memories and "heron" not in repr(found).lower()


# -- the comparison


ONE, TWO = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize(
    ("then", "now", "expected"),
    [
        (Place(ONE, 1, 1), Place(ONE, 1, 1), ()),
        (Place(ONE, 1, 1), Place(ONE, 1, 2), (Change.RANK_MOVED,)),
        (Place(ONE, 1, 1), Place(ONE, 2, 1), (Change.VERSION_MOVED,)),
        (Place(ONE, 1, 1), Place(ONE, 2, None, "packing", "over_budget"), (Change.VERSION_MOVED, Change.NOT_GIVEN)),
        (Place(ONE, 1, None, "packing", "over_budget"), Place(ONE, 1, 3), (Change.NOW_GIVEN,)),
        (Place(ONE, 1, None, "recall", "below_relevance"), Place(ONE, 1, None, "authority", "expired"), (Change.REASON_CHANGED,)),
        (None, Place(ONE, 1, 1), (Change.NEW,)),
        (Place(ONE, 1, 1), None, (Change.DELETED,)),
    ],
)
def test_every_change_has_its_name(then, now, expected):
    rows = compare([then] if then else [], [now] if now else [], lambda _: Change.DELETED)
    assert rows == (Compared(ONE, then, now, expected),)


def test_two_versions_of_one_memory_are_compared_each_with_itself():
    then, now = [Place(ONE, 3, 1), Place(ONE, 2, 2)], [Place(ONE, 2, 2), Place(ONE, 3, 1), Place(TWO, 1, 3)]
    found = compare(then, now, lambda _: Change.NOT_FOUND)
    assert [(row.memory, row.changes) for row in found] == [(TWO, (Change.NEW,)), (ONE, ()), (ONE, ())]


def test_only_what_is_given_touches_the_packet():
    lost = Place(ONE, 1, None, "recall", "below_relevance")
    assert not Compared(ONE, lost, None, (Change.NOT_FOUND,)).touches_packet
    assert Compared(ONE, Place(ONE, 1, 1), lost, (Change.NOT_GIVEN,)).touches_packet
    assert not Compared(ONE, Place(ONE, 1, 1), Place(ONE, 1, 1), ()).touches_packet


def test_the_moment_of_a_trace_is_no_part_of_what_is_replayed(world, asking, berths, monkeypatch):
    """An hour later, with nothing written since."""
    packet = asking.packet("berth ferry")
    later = clock.now() + timedelta(hours=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert again(world, packet).verdict is Verdict.SAME


def test_defaults_of_a_replay_are_those_of_a_question():
    assert (Question().max_candidates, Question().max_items) == (20, 5)
