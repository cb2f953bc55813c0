"""Trouble is told, never guessed around: index, authority, barrier and revisions that are not there (FF-01..06, RY-04)."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from apps.core.errors import RevisionUnavailable
from apps.core.ids import parse_public_id
from apps.jobs.models import ProcessingJob
from apps.jobs.runner import drain
from apps.memories.models import Label
from apps.retention import readiness
from apps.retrieval import authority, pipeline
from apps.retrieval.context import Budget
from apps.retrieval.models import IndexState, RetrievalTrace, TraceCandidate
from apps.retrieval.vocabulary import PacketFormat, Trigger
from tests.memories.sayings import at

pytestmark = pytest.mark.django_db


def _spoil(world):
    with world.inside():
        IndexState.objects.update(analysis_version="0")


@pytest.fixture
def broken(world):
    """The table of the index is gone."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE retrieval_posting RENAME TO retrieval_posting_elsewhere")
    yield
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE retrieval_posting_elsewhere RENAME TO retrieval_posting")


def _fill(memories):
    memories.say("The ferry leaves at seven", fact_key="ferry.morning_ship", aliases=("Grey Goose",))
    memories.say("The ferry is late", who="bob")
    memories.say("The ferry of the kiosk is blue", project="kiosk", topics=("deploys",))
    memories.say("The ferry of the lighthouse is red", who="bob", project="lighthouse")
    memories.say("The ferry left at six", valid_from=at("2021-01-01"), valid_to=at("2021-02-01"))
    memories.say("Lamps need oil")


@pytest.mark.requirement("FF-03", "EL-12", "LB-06")
@pytest.mark.parametrize("how", ["outdated", "missing", "gone"])
def test_without_the_index_the_same_scope_is_read_and_never_a_wider_one(world, memories, asking, how, request):
    _fill(memories)
    questions = [
        {"question": "When does the ferry leave?"},
        {"question": "grey goose"},
        {"question": "lamp oil"},
        {"question": "anything", "topics": ("deploys",)},
        {"question": "zebra"},
        {"question": "ferry", "fact_keys": ("ferry.morning_ship",)},
    ]
    before = [{item.content for item in asking.packet(**one, project="kiosk").items} for one in questions]
    history = {item.content for item in asking.packet("ferry", mode="history", as_of=at("2021-01-15")).items}
    if how == "outdated":
        _spoil(world)
    elif how == "missing":
        with world.inside():
            IndexState.objects.all().delete()
    else:
        request.getfixturevalue("broken")
    packets = [asking.packet(**one, project="kiosk") for one in questions]
    assert [{item.content for item in packet.items} for packet in packets] == before
    assert all([warning.code for warning in packet.warnings] == ["index_fallback"] for packet in packets)
    past = asking.packet("ferry", mode="history", as_of=at("2021-01-15"))
    assert {item.content for item in past.items} == history == {"The ferry left at six"}
    with world.inside():
        trace = RetrievalTrace.objects.get(pk=parse_public_id("trc", packets[0].trace_id))
        assert trace.warnings == ["index_fallback"] and trace.outcome == packets[0].outcome


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("FF-03")
def test_an_index_of_another_analysis_is_rebuilt_without_being_asked_for(world, memories, asking):
    _fill(memories)
    _spoil(world)
    for _ in range(3):
        assert [warning.code for warning in asking.packet("ferry").warnings] == ["index_fallback"]
    drain(kinds=["rebuild_index"])
    packet = asking.packet("ferry")
    assert packet.warnings == [] and packet.items
    with world.inside():
        jobs = ProcessingJob.objects.filter(kind="rebuild_index")
        assert {job.state for job in jobs} == {"done"} and len({job.key for job in jobs}) == len(jobs)


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("LB-01", "LB-04", "LB-05", "LB-06")
def test_labels_that_are_none_keep_the_old_index(world, memories, asking, capsys):
    made = memories.say("Tablets for everyone", topics=("deploys",))
    with world.inside():
        generations = dict(IndexState.objects.values_list("namespace_id", "generation"))
        Label.objects.filter(key="deploys").delete()
    with pytest.raises(CommandError) as refused:
        call_command("rebuild_index", tenant=world.key)
    assert refused.value.returncode == 1
    assert f"{made.memory_id} v1 /topics/0: deploys" in capsys.readouterr().err
    with world.inside():
        after = dict(IndexState.objects.values_list("namespace_id", "generation"))
        namespace = memories.memory(made).namespace_id
    assert after[namespace] == generations[namespace]
    packet = asking.packet("tablets")
    assert packet.items == []
    with world.inside():
        [row] = TraceCandidate.objects.filter(trace_id=parse_public_id("trc", packet.trace_id))
        assert row.reason == "label_invalid"


@pytest.mark.requirement("FF-01", "FF-02", "FF-05", "FF-06", "TC-08")
def test_without_the_authority_nothing_is_given_out_and_the_trace_says_so(world, memories, asking, monkeypatch):
    made = memories.say("The ferry leaves at seven")

    def away(*_args, **_options):
        raise OperationalError

    monkeypatch.setattr(authority, "readable_heads", away)
    packet = asking.packet("ferry", budget=Budget(limit=100), format=PacketFormat.TEXT)
    assert (packet.outcome, packet.items, packet.text, packet.decision) == ("unavailable", [], "", "RETRIEVE")
    with world.inside():
        [row] = TraceCandidate.objects.filter(trace_id=parse_public_id("trc", packet.trace_id))
        assert (row.memory_id, row.reason, row.chosen) == (memories.memory(made).id, "authority_unavailable", False)


@pytest.mark.requirement("FF-01", "FF-04")
def test_without_the_database_there_is_an_answer_and_no_trace(memories, asking, monkeypatch):
    memories.say("The ferry leaves at seven")

    def away(_access):
        raise OperationalError

    for module in (pipeline, pipeline.unavailable.__globals__):
        namespace = module if isinstance(module, dict) else vars(module)
        monkeypatch.setitem(namespace, "tenant_transaction", away)
    packet = asking.packet("ferry")
    assert (packet.outcome, packet.items, packet.trace_id, packet.snapshot_revision) == ("unavailable", [], None, None)


@pytest.mark.requirement("FF-01", "DJ-10")
@pytest.mark.parametrize("answer", [False, OSError("the ledger cannot be read")], ids=str)
def test_a_barrier_that_cannot_be_read_gives_nothing_out(memories, asking, monkeypatch, answer):
    memories.say("The ferry leaves at seven", retrieval_policy="always")

    def check():
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(readiness, "_checks", [lambda: True, check])
    for trigger in Trigger:
        packet = asking.packet("ferry", trigger=trigger)
        assert (packet.outcome, packet.items) == ("unavailable", [])
    monkeypatch.setattr(readiness, "_checks", [])
    readiness.register_barrier_check(lambda: True)
    assert asking.packet("ferry").items


@pytest.mark.requirement("RY-04")
def test_a_revision_that_never_comes_is_refused_after_the_wait(memories, asking, monkeypatch):
    made = memories.say("The ferry leaves at seven")
    number = int(made.revision.removeprefix("rev_"))
    waited = []
    monkeypatch.setattr("apps.core.clock.pause", waited.append)
    monkeypatch.setattr("apps.core.clock.monotonic", lambda: sum(waited))
    with pytest.raises(RevisionUnavailable):
        asking.packet("ferry", min_revision=number + 1, wait_ms=500)
    assert sum(waited) == pytest.approx(0.5)
    with pytest.raises(RevisionUnavailable):
        asking.packet("ferry", min_revision=number + 1, wait_ms=0)


@pytest.mark.requirement("RY-04", "RY-02")
def test_a_revision_that_comes_in_time_is_waited_for(memories, asking, monkeypatch):
    made = memories.say("The ferry leaves at seven")
    number = int(made.revision.removeprefix("rev_"))
    monkeypatch.setattr("apps.core.clock.pause", lambda _: memories.say("The ferry is blue"))
    assert len(asking.packet("ferry", min_revision=number + 1, wait_ms=2000).items) == 2
