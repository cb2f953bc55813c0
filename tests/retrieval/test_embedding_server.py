"""The embedder behind a server: what it is sent and when, and what of its answers is believed (C16, RK-08)."""

from __future__ import annotations

import pytest

from apps.audits.models import AuditEntry
from apps.jobs.runner import drain
from apps.retrieval.models import Vector
from apps.retrieval.semantic import checks
from apps.retrieval.semantic.embedders import EmbedderError
from apps.retrieval.semantic.remote import EmbeddingServer, RemoteEmbedder
from tests.memories.model_server import KEY, answers, hangs, model_server
from tests.memories.sayings import LABELS, Memories
from tests.retrieval.asking import Asking
from tests.retrieval.embedding import Fake, using, with_pgvector
from tests.tenants.world import World


@pytest.fixture
def server():
    with model_server() as made:
        yield made


def embedder(server, **fields) -> RemoteEmbedder:
    return RemoteEmbedder(EmbeddingServer(**{"url": server.url, "model": "m", "dimension": 2, "near": 200, "key": KEY, **fields}))


def vectors(*rows: object, **changes: object) -> object:
    return answers({"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)], **changes})


def test_texts_go_out_as_the_interface_says_and_come_back_in_their_order(server):
    server.does(answers({"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}]}))
    assert embedder(server).passages(["one", "two"]) == [[0.6, 0.8], [0.0, 1.0]]
    [asked] = server.asked
    assert asked.line == "POST /v1/embeddings HTTP/1.1" and asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {"model": "m", "input": ["one", "two"], "encoding_format": "float"}
    assert embedder(server).passages([]) == [] and len(server.asked) == 1


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (vectors([1, 0]), "answer_wrong_count"),
        (vectors([1, 0], [1, 0, 0]), "answer_wrong_dimension"),
        (vectors([1, 0], [0, 0]), "answer_no_vector"),
        (vectors([1, 0], ["1", 0]), "answer_no_vector"),
        (vectors([1, 0], "AAAA"), "answer_wrong_form"),
        (answers({"data": [{"index": 0, "embedding": [1, 0]}] * 2}), "answer_wrong_form"),
        (answers({"data": [{"index": 0, "embedding": [1, 0]}, {"index": 7, "embedding": [1, 0]}]}), "answer_wrong_form"),
        (answers(b'{"data": [{"index": 0, "embedding": [NaN, 0]}]}'), "answer_wrong_form"),
        (answers({"error": "no"}), "answer_wrong_form"),
        (answers(b"x" * 200_000), "answer_too_large"),
        (answers({}, "429 Too Many Requests"), "server_busy"),
        (answers({}, "302 Found", {"Location": "http://127.0.0.1:1/"}), "server_declined"),
        (answers({}, "500 Oops"), "server_declined"),
    ],
)
def test_what_is_no_vector_for_each_text_is_refused(server, behaviour, code):
    server.does(behaviour)
    with pytest.raises(EmbedderError) as refused:
        embedder(server).passages(["one", "two"])
    assert refused.value.code == code and len(server.asked) == 1


def test_a_question_ends_in_its_time(server):
    server.does(hangs)
    with pytest.raises(EmbedderError) as late:
        embedder(server).question("what", seconds=0.2).result(10)
    assert late.value.code == "server_timeout"


def test_another_model_or_address_is_another_embedder(server):
    names = {embedder(server).name, embedder(server, model="n").name, embedder(server, dimension=3).name}
    assert len(names) == 3 and all(name.startswith("openai_compatible@") for name in names)
    assert embedder(server, key="other").name == embedder(server).name


@pytest.mark.django_db
@pytest.mark.requirement("C16", "EL-16")
def test_words_leave_the_machine_only_where_the_tenant_says_so_of_their_scope(database_server):
    with_pgvector(database_server)
    fake = Fake("outside@1")
    fake.outside = True
    with using(fake):
        shut = World("shut", labels=LABELS, semantic_recall=["project", "user"])
        part = World("part", labels=LABELS, semantic_recall=["project", "user"], external_embedding=["project"])
        both = World("both", labels=LABELS, semantic_recall=["project"], external_embedding=["project", "user"])
        for world in (shut, part, both):
            Memories(world).say(f"The kitten of alice in {world.key}")
            Memories(world).say(f"The kitten of the kiosk in {world.key}", project="kiosk")
        drain(kinds=["embed"])
        assert sorted(text for text in fake.read if "kitten" in text) == [
            f"The kitten of the kiosk in {key}" for key in ("both", "part")
        ]
        assert Asking(shut).contents("feline") == [] == Asking(part).contents("feline") and fake.asked == []
        assert Asking(both).contents("feline") == ["The kitten of the kiosk in both"] and fake.asked == ["feline"]
        with both.inside():
            entry = AuditEntry.objects.filter(verb="embedding.sent_outside").first()
            assert entry is not None and entry.counts["texts"] >= 1
        with shut.inside():
            assert not Vector.objects.exists()


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        ("", {}, []),
        ("word2vec", {}, ["SEMANTIC_EMBEDDER names 'word2vec'"]),
        ("openai_compatible", {}, []),
        ("openai_compatible", {"url": ""}, ["EMBEDDINGS_URL must be an http(s) address"]),
        ("openai_compatible", {"url": "http://far.example/v1"}, ["EMBEDDINGS_URL would send private text"]),
        ("openai_compatible", {"model": ""}, ["EMBEDDINGS_MODEL must name"]),
        ("openai_compatible", {"dimension": 4000}, ["EMBEDDINGS_DIMENSION"]),
        ("openai_compatible", {"near": -1}, ["EMBEDDINGS_NEAR"]),
    ],
)
def test_faults_of_the_settings_are_told_to_the_operator(kind, changes, said):
    described = {"url": "https://models.example.org/v1", "model": "m", "dimension": 2, "near": 0, **changes}
    found = [error.msg for error in checks.faults(kind, described, 400)]
    assert len(found) == len(said) and all(text.startswith(start) for text, start in zip(found, said, strict=True))
    assert len(list(checks.faults(kind, described, 5))) == len(said) + (kind != "")
