"""The lanes on the real index: exact against a brute-force reference, inside the scope, and kept right by every change."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from apps.jobs.runner import drain
from apps.memories.models import RetrievalPolicy
from apps.memories.revision import Change, revise_memory, withdraw_memory
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retrieval import lexical, recall
from apps.retrieval.analysis import ANALYSIS_VERSION
from apps.retrieval.context import QueryContext
from apps.retrieval.fusion import term_weight
from apps.retrieval.models import IndexState, Posting, TermStat
from apps.retrieval.rebuild import rebuild_namespace
from apps.retrieval.vocabulary import Profile
from apps.tenants.console_access import command_access
from tests.memories.sayings import at

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 6, 1, tzinfo=UTC)


class Shelf:
    """Namespaces full of made-up documents, written as the index holds them: namespace → (memory, version) → terms."""

    def __init__(self, tenant_id: UUID, seed: int, *, size: int = 300) -> None:
        self.tenant_id = tenant_id
        chance = random.Random(seed)
        self.terms = [chance.getrandbits(63) for _ in range(40)]
        weights = [1 / (rank + 1) for rank in range(len(self.terms))]
        self.held: dict[UUID, dict[tuple[UUID, int], set[int]]] = {}
        for namespace in (uuid4(), uuid4(), uuid4()):
            documents = {
                (UUID(int=chance.getrandbits(128)), chance.randint(1, 3)): set(
                    chance.choices(self.terms, weights, k=chance.randint(1, 6))
                )
                for _ in range(chance.randint(1, size))
            }
            self.held[namespace] = documents
            self._write(namespace, documents)

    def _write(self, namespace, documents):
        counts = Counter(term for terms in documents.values() for term in terms)
        place = {"tenant_id": self.tenant_id, "generation": 1, "namespace_id": namespace, "layer": 0}
        Posting.objects.bulk_create(
            Posting(**place, term=term, memory_id=memory_id, version=version)
            for (memory_id, version), terms in documents.items()
            for term in terms
        )
        TermStat.objects.bulk_create(TermStat(**place, term=term, documents=count) for term, count in counts.items())
        IndexState.objects.create(
            tenant_id=self.tenant_id, namespace_id=namespace, analysis_version=str(ANALYSIS_VERSION), documents=len(documents)
        )

    def best(self, namespaces, question, profile, limit):
        """What a reader of every document would give."""
        documents = {key: terms for namespace in namespaces for key, terms in self.held[namespace].items()}
        counts = Counter(term for terms in documents.values() for term in terms)
        weights = {term: term_weight(profile, counts[term], len(documents)) for term in question if counts[term]}
        rows = [
            (sum(weights[term] for term in shared), key, len(shared))
            for key, terms in documents.items()
            if (shared := terms & weights.keys())
        ]
        rows.sort(key=lambda row: (row[0], row[1][0].int, row[1][1]), reverse=True)
        return [(key[0], key[1], matched, weight) for weight, key, matched in rows[:limit]]


def _asked(tenant_id, namespaces, profile):
    return QueryContext(tenant_id=tenant_id, namespaces=frozenset(namespaces), as_of=NOW, asked_at=NOW, profile=profile)


def _hits(context, question, limit):
    figures = lexical.statistics(context, [0], question)
    weights = figures.weights(context, dict.fromkeys(question, 1))
    found = lexical.best_hits(context, [0], weights, figures.frequencies, limit=limit) if weights else []
    return [(hit.memory_id, hit.version, hit.matched, hit.weight) for hit in found]


@pytest.mark.requirement("RK-13", "RK-16", "RP-09", "ID-24")
@pytest.mark.parametrize("seed", range(12))
def test_the_best_are_those_of_a_reader_of_every_document(world, seed):
    with world.inside():
        shelf = Shelf(world.tenant_id, seed)
        chance = random.Random(seed)
        for _ in range(12):
            namespaces = chance.sample(sorted(shelf.held), chance.randint(1, 2))
            question = chance.sample(shelf.terms, chance.randint(1, 9))
            profile, limit = chance.choice(list(Profile)), chance.choice([1, 3, 10, 25])
            found = _hits(_asked(world.tenant_id, namespaces, profile), question, limit)
            assert found == shelf.best(namespaces, question, profile, limit)


def test_terms_that_cannot_bring_in_a_winner_do_not_drive():
    weights, counts = {1: 90, 2: 50, 3: 30, 4: 10}, {1: 2, 2: 30, 3: 400, 4: 5000}
    assert lexical.split(weights, counts, 25) == ([1, 2], [3, 4])
    assert lexical.split(weights, counts, 100) == ([1, 2, 3], [4])
    assert lexical.split(weights, counts, 9000) == ([1, 2, 3, 4], [])
    assert lexical.split({4: 10}, {4: 500_000}, 25) == ([4], [])


@pytest.mark.parametrize("seed", range(4))
def test_a_bound_on_rows_loses_old_documents_of_common_words_and_nothing_else(world, monkeypatch, seed):
    monkeypatch.setattr(lexical, "DRIVEN", 40)
    with world.inside():
        shelf = Shelf(world.tenant_id, seed)
        namespaces = sorted(shelf.held)[:2]
        question = shelf.terms[:3]
        context = _asked(world.tenant_id, namespaces, Profile.IDF)
        found = _hits(context, question, 10)
        everything = {row[:2]: row[2:] for row in shelf.best(namespaces, question, Profile.IDF, 10_000)}
        assert len(found) == min(10, len(everything))
        assert all(everything[row[:2]] == row[2:] for row in found), "whoever is found has the whole weight"


# -- names


def _lanes(packet, memory_id):
    return next((item.why.lanes for item in packet.items if item.memory_id == memory_id), None)


@pytest.mark.requirement("RK-35", "LB-02")
def test_a_name_finds_what_the_words_do_not(memories, asking):
    made = memories.say("Rope and tar, forty metres", fact_key="store.mooring_line", aliases=("Big Blue", "老蓝本"))
    memories.say("Line of sight to the harbour", fact_key="view.line")
    for question in ("Where is the mooring line?", "is big blue dry", "老蓝本在哪", "the moorign line", "which moooring line"):
        packet = asking.packet(question)
        assert "named" in _lanes(packet, made.memory_id), question
        assert packet.items[0].evidence_labels == ["structured_context"]
    assert asking.packet("blue").items == []


@pytest.mark.requirement("ID-24", "RP-09")
def test_a_name_is_called_in_its_scope_only(memories, asking):
    memories.say("Rope and tar", who="bob", aliases=("Big Blue",))
    memories.say("Tar and rope", who="bob", project="lighthouse", aliases=("Big Blue",))
    assert asking.packet("big blue", project="kiosk").items == []
    assert len(asking.packet("big blue", who="bob", project="lighthouse").items) == 2


@pytest.mark.requirement("OJ-10", "OJ-11", "TM-15")
def test_names_follow_versions_states_and_rebuilds(world, memories, asking):
    access = world.access("alice")
    made = memories.say("Rope and tar", fact_key="store.mooring_line", aliases=("Big Blue",), valid_from=at("2024-01-01"))
    renamed = revise_memory(access, made.memory_id, expected_version=1, change=Change(aliases=("Old Red",)), reason="x")
    gone = memories.say("Hemp", aliases=("Grey Goose",))
    withdraw_memory(access, gone.memory_id, expected_version=1, reason="x")
    for _ in range(2):
        assert asking.contents("big blue") == [] == asking.contents("grey goose")
        assert asking.contents("old red") == ["Rope and tar"] == asking.contents("the mooring line")
        for grant in command_access(world.tenant_id).namespaces:
            rebuild_namespace(command_access(world.tenant_id), grant.id)
    assert renamed.version == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("DJ-05", "RY-05")
def test_a_deletion_takes_the_names_along(world, memories, asking):
    made = memories.say("Rope and tar", fact_key="store.mooring_line", aliases=("Big Blue",), topics=("deploys",))
    memory = memories.memory(made)
    request_deletion(world.access("alice"), DeletionRequest(deletion_request_id="d1", kind="memory", target=made.memory_id))
    assert asking.packet("big blue mooring line").items == []
    drain(kinds=["deletion"])
    with world.inside():
        assert not Posting.objects.filter(memory_id=memory.id).exists()


@pytest.mark.requirement("RP-40", "BU-20")
def test_a_name_of_everybody_finds_nobody_but_counts_where_words_do(memories, asking):
    for number in range(recall.NAMED_CAP + 1):
        memories.say(f"Crate {number} holds tea", aliases=("Cargo",))
    assert asking.packet("cargo").items == []
    packet = asking.packet("Which cargo is in crate 7 tea")
    assert "named" in packet.items[0].why.lanes and "lexical" in packet.items[0].why.lanes


@pytest.mark.requirement("RK-41", "LB-09", "LB-13")
def test_a_label_calls_its_records_by_key_by_alias_and_as_a_hint(memories, asking):
    made = memories.say("Tablets for everyone", topics=("field_test",))
    memories.say("Anything else at all")
    for question, hints in (
        ("After the field test?", ()),
        ("现场测试最终如何", ()),
        ("zebra", ("field_test",)),
        ("zebra", ("现场测试",)),
    ):
        packet = asking.packet(question, topics=hints)
        assert [item.memory_id for item in packet.items] == [made.memory_id], question
        assert packet.items[0].why.lanes == {"named": 1}
    assert asking.packet("zebra", topics=("feild_test",)).items == []


@pytest.mark.requirement("RP-40")
def test_a_record_with_names_is_not_there_for_mentioning_another_name(memories, asking):
    memories.say("The cache of the backend", aliases=("Redis",), fact_key="tool.cache_node")
    other = memories.say("Login depends on Redis for its sessions", aliases=("login",), fact_key="tool.login_service")
    assert asking.contents("What are we using Redis for?") == ["The cache of the backend"]
    assert len(asking.contents("Redis, which login sessions depend on it?")) == 2
    assert asking.contents("sessions") == ["Login depends on Redis for its sessions"], "one word finds every record that has it"
    plain = memories.say("Redis was moved to the cellar")
    assert {item.memory_id for item in asking.packet("What are we using Redis for?").items} >= {plain.memory_id}
    assert other.memory_id


# -- standing rules


@pytest.mark.requirement("RK-02", "CR-01", "RP-11")
def test_always_comes_with_every_question_and_answers_none(memories, asking):
    rule = memories.say("Gloves in the lamp room", retrieval_policy=RetrievalPolicy.ALWAYS)
    memories.say("Spare bulbs are in the cellar")
    packet = asking.packet("Where are the spare bulbs?")
    assert [item.content for item in packet.items] == ["Gloves in the lamp room", "Spare bulbs are in the cellar"]
    assert packet.outcome == "answered"
    alone = asking.packet("zebra crossing")
    assert [item.memory_id for item in alone.items] == [rule.memory_id] and alone.outcome == "no_match"
    assert asking.packet("  ").items == []
    assert asking.packet("What must I wear in the lamp room?").outcome == "answered"
