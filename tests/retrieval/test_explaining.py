"""Why not this memory: the stage and the reason, as recorded or as worked out now, and never a word to who may not read it."""

from __future__ import annotations

import pytest

from apps.audits.models import AuditEntry
from apps.core.errors import NotFound, NotPermitted
from apps.core.ids import parse_public_id
from apps.evidence.models import Content
from apps.memories.models import Memory
from apps.memories.revealing import Purpose
from apps.memories.revision import withdraw_memory
from apps.retrieval.adoptions import Adoption, report_adoptions
from apps.retrieval.explaining import Basis, Finding, Shared, Step, explain
from apps.retrieval.models import RetrievalTrace
from apps.retrieval.triage.vocabulary import Asked
from apps.retrieval.vocabulary import Fate, Reason, Stage
from apps.retrieval.words_asked import reveal_question
from apps.tenants import grants
from apps.tenants.models import AccessPolicy
from tests.memories.sayings import at

pytestmark = pytest.mark.django_db


def why(world, packet, memory, role="auditor", **said):
    name = memory if isinstance(memory, str) else memory.memory_id
    return explain(world.person_access(role), packet.trace_id, name, **said)


def told(found):
    return found.finding, found.basis, found.stage, found.reason


@pytest.fixture
def ferry(memories):
    return memories.say("Berth one is free for the ferry")


# -- as recorded


@pytest.mark.requirement("AU-04", "TC-08")
def test_what_the_trace_names_is_told_from_the_trace(world, memories, asking, ferry):
    past = memories.say("Berth three was free for the ferry", valid_from=at("2021-01-01"), valid_to=at("2021-02-01"))
    packet = asking.packet("berth ferry")
    given, lost = why(world, packet, ferry), why(world, packet, past)
    assert told(given) == (Finding.GIVEN, Basis.RECORDED, None, None)
    assert (given.rank, given.version, given.fate, dict(given.lanes)["lexical"]) == (1, 1, Fate.PACKED, 1)
    assert told(lost) == (Finding.LEFT_OUT, Basis.RECORDED, Stage.AUTHORITY, Reason.EXPIRED)
    assert dict(lost.steps) == {
        **dict.fromkeys((Stage.TRIAGE, Stage.SCOPE, Stage.RECALL), Step.PASSED),
        Stage.AUTHORITY: Step.LOST,
        **dict.fromkeys((Stage.APPLICABILITY, Stage.RELATIONS, Stage.RANKING, Stage.PACKING), Step.NOT_REACHED),
    }
    report_adoptions(world.access("alice"), packet.trace_id, [Adoption(ferry.memory_id, 1, used=False)])
    assert why(world, packet, ferry).fate is Fate.NOT_USED


def test_a_record_stays_what_it_was_although_the_memory_moved_on(world, memories, asking, ferry):
    packet = asking.packet("berth ferry")
    withdraw_memory(world.access("alice"), ferry.memory_id, expected_version=1, reason="storm")
    assert told(why(world, packet, ferry))[:2] == (Finding.GIVEN, Basis.RECORDED)


def test_what_was_written_later_could_not_be_given(world, memories, asking, ferry):
    packet = asking.packet("berth ferry")
    later = memories.say("Berth two is free for the ferry")
    assert told(why(world, packet, later)) == (Finding.WRITTEN_LATER, Basis.RECORDED, None, None)


def test_a_query_that_looked_at_no_memory(world, asking, ferry):
    packet = asking.packet("Hello!", decision=Asked.AUTO)
    assert told(why(world, packet, ferry)) == (Finding.NOT_RETRIEVED, Basis.RECORDED, Stage.TRIAGE, None)


def test_a_memory_outside_of_the_scope(world, memories, asking, ferry):
    other = memories.say("The ferry is late", who="bob", project="lighthouse")
    packet = asking.packet("ferry", who="bob", project="kiosk")
    expected = (Finding.OUT_OF_SCOPE, Basis.RECORDED, Stage.SCOPE, Reason.OUT_OF_SCOPE_PROJECT)
    assert told(why(world, packet, other)) == expected
    assert told(why(world, packet, ferry)) == expected


def test_a_query_that_could_read_nothing(world, asking, ferry):
    packet = asking.packet("lamp")
    with world.inside():
        RetrievalTrace.objects.update(outcome="unavailable")
    assert told(why(world, packet, ferry)) == (
        Finding.UNAVAILABLE,
        Basis.RECORDED,
        Stage.AUTHORITY,
        Reason.AUTHORITY_UNAVAILABLE,
    )


# -- as worked out now


@pytest.mark.requirement("TC-12", "AU-04")
def test_a_memory_that_no_lane_found_shares_no_word(world, memories, asking, ferry):
    lamp = memories.say("The lamp is warm")
    packet = asking.packet("Which berth is free for the ferry?")
    found = why(world, packet, lamp)
    assert told(found) == (Finding.NOT_FOUND, Basis.NOW, Stage.RECALL, None)
    assert found.shared == Shared(asked=3, known=3, held=0) and found.besides is None and found.lacking == ()


def test_what_would_have_kept_it_out_anyway_is_told_as_well(world, memories, asking, ferry):
    past = memories.say("The lamp was warm", valid_from=at("2021-01-01"), valid_to=at("2021-02-01"))
    found = why(world, asking.packet("berth ferry"), past)
    assert (found.finding, found.besides) == (Finding.NOT_FOUND, Reason.EXPIRED)


def test_one_that_shares_words_and_is_outweighed(world, memories, asking, monkeypatch):
    monkeypatch.setattr("apps.retrieval.pipeline.SPARE", 0)
    for number in range(3):
        memories.say(f"Berth {number} of the ferry and the pilot")
    weak = memories.say("A ferry of paper")
    found = why(world, asking.packet("berth ferry pilot", max_candidates=2), weak)
    assert (found.finding, found.stage) == (Finding.OUTWEIGHED, Stage.RECALL)
    assert found.shared == Shared(asked=3, known=3, held=1)


def test_a_memory_that_would_be_found_now_says_so(world, memories, asking, ferry):
    """Its words were other ones then."""
    lamp = memories.say("The lamp is warm")
    packet = asking.packet("berth ferry")
    answer = world.alice.patch(
        f"/memories/{lamp.memory_id}", {"content": "The lamp of the ferry berth", "reason": "typo"}, **{"If-Match": '"v1"'}
    )
    assert answer.status_code == 200
    found = why(world, packet, lamp)
    assert (found.finding, found.basis, found.version) == (Finding.GIVEN, Basis.NOW, 2) and found.rank is not None
    with world.inside():
        Memory.objects.filter(pk=parse_public_id("mem", lamp.memory_id)).update(state=Memory.State.WITHDRAWN)
    assert told(why(world, packet, lamp)) == (Finding.LEFT_OUT, Basis.NOW, Stage.AUTHORITY, Reason.WITHDRAWN)


def test_a_memory_under_a_policy_the_agent_does_not_hold(world, memories, asking, ferry):
    lamp = memories.say("The lamp is warm")
    with world.inside():
        board = AccessPolicy.objects.create(tenant_id=world.tenant_id, key="board")
        Memory.objects.filter(pk=parse_public_id("mem", lamp.memory_id)).update(access_policy=board)
    found = why(world, asking.packet("warm lamp"), lamp)
    assert told(found) == (Finding.LEFT_OUT, Basis.NOW, Stage.AUTHORITY, Reason.POLICY_RESTRICTED)


def test_without_the_words_of_the_question_it_cannot_be_told(world, memories, asking, ferry, monkeypatch):
    past = memories.say("The lamp was warm", valid_from=at("2021-01-01"), valid_to=at("2021-02-01"))
    packet = asking.packet("berth ferry")
    with world.inside():
        request_id = RetrievalTrace.objects.get().request_id
        RetrievalTrace.objects.update(request=None)
        Content.objects.filter(pk=request_id).delete()
    found = why(world, packet, past)
    assert told(found) == (Finding.CANNOT_TELL, Basis.NOW, Stage.RECALL, None) and found.besides is Reason.EXPIRED
    assert dict(found.steps)[Stage.RECALL] is Step.UNKNOWN
    monkeypatch.setattr("apps.retrieval.explaining.barrier_is_whole", lambda: False)
    assert told(why(world, packet, past))[:3] == (Finding.CANNOT_TELL, Basis.NOW, Stage.AUTHORITY)


# -- for whom


@pytest.mark.requirement("ID-28", "ID-35")
def test_foreign_absent_deleted_and_nonsense_are_one_answer(world, elsewhere, memories, asking, ferry):
    lamp = memories.say("The lamp is warm")
    packet = asking.packet("berth ferry")
    theirs = type(memories)(elsewhere).say("The ferry is theirs")
    assert world.alice.delete(f"/memories/{lamp.memory_id}?deletion_request_id=del-1").status_code == 202
    assert world.alice.delete(f"/memories/{ferry.memory_id}?deletion_request_id=del-2").status_code == 202
    names = [theirs.memory_id, lamp.memory_id, ferry.memory_id, "mem_00000000000000000000000000", "berth", "", "x" * 300]
    answers = {repr(why(world, packet, name)) for name in names}
    assert len(answers) == 1 and why(world, packet, "berth").finding is Finding.NOTHING
    assert dict(why(world, packet, "berth").steps) == dict.fromkeys(Stage, Step.NOT_REACHED)


def test_who_may_ask(world, elsewhere, asking, ferry):
    packet = asking.packet("berth ferry")
    for role in ("reviewer", "operator"):
        with pytest.raises(NotPermitted):
            why(world, packet, ferry, role)
        with pytest.raises(NotPermitted):
            reveal_question(world.person_access(role), packet.trace_id, purpose=Purpose.INCIDENT)
    with pytest.raises(NotFound):
        explain(elsewhere.person_access("owner"), packet.trace_id, ferry.memory_id)
    with world.inside():
        assert not AuditEntry.objects.filter(verb__in=["trace.explained", "content.revealed"]).exists()


@pytest.mark.requirement("ID-35", "TC-11")
def test_terms_are_named_to_who_may_read_question_and_memory_for_a_purpose_only(world, memories, asking):
    lamp = memories.say("The lamp is warm", project="kiosk")
    packet = asking.packet("which berth suits the ferry?", project="kiosk")
    assert why(world, packet, lamp, "owner", purpose=Purpose.INCIDENT).lacking == ()  # the question is alice's alone
    with pytest.raises(NotPermitted):
        reveal_question(world.person_access("owner"), packet.trace_id, purpose=Purpose.INCIDENT)
    with world.inside():
        for role in ("owner", "auditor"):
            grants.grant_on_namespaces(world.person(role), [world.namespace("user", "alice").id], "read")
    assert why(world, packet, lamp, "owner").lacking == ()
    assert set(why(world, packet, lamp, "owner", purpose=Purpose.INCIDENT).lacking) == {"berth", "suits", "ferry"}
    assert why(world, packet, lamp, "auditor", purpose=Purpose.INCIDENT).lacking == ()  # never, whatever was granted
    with pytest.raises(NotPermitted):
        reveal_question(world.person_access("auditor"), packet.trace_id, purpose=Purpose.INCIDENT)
    words = reveal_question(world.person_access("owner"), packet.trace_id, purpose=Purpose.SUBJECT_REQUEST)
    assert words.question == "which berth suits the ferry?" and not words.erased
    with world.inside():
        entries = AuditEntry.objects.filter(verb="content.revealed").order_by("id").values_list("actor", "object_id", "codes")
        assert list(entries) == [
            ("owner_orchard", packet.trace_id, ["incident", "lacking_terms"]),
            ("owner_orchard", packet.trace_id, ["subject_request"]),
        ]
        explained = AuditEntry.objects.filter(verb="trace.explained").order_by("id").first()
        assert explained.codes == ["not_found", "now", lamp.memory_id]


def test_a_question_that_was_erased_shows_nothing(world, asking, ferry):
    packet = asking.packet("berth ferry")
    with world.inside():
        grants.grant_on_namespaces(world.person("owner"), [world.namespace("user", "alice").id], "read")
        RetrievalTrace.objects.update(request=None)
    with pytest.raises(NotPermitted):  # where nothing is kept there is nobody who may read it
        reveal_question(world.person_access("owner"), packet.trace_id, purpose=Purpose.INCIDENT)
