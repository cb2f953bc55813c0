"""Recall by meaning: what it brings in, what keeps it out, what happens where it is down (design/04 Recall, C16, EL-16)."""

from __future__ import annotations

import pytest

from apps.jobs.runner import drain
from tests.memories.sayings import LABELS
from tests.retrieval.embedding import Fake, chosen, need_pgvector
from tests.tenants.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(db, database_server) -> World:
    need_pgvector(database_server)
    return World("orchard", labels=LABELS, semantic_recall=["project", "user"])


@pytest.fixture
def fake() -> Fake:
    with chosen(Fake()) as made:
        yield made


@pytest.mark.requirement("RP-05", "C16")
def test_other_words_for_the_same_are_found_and_the_packet_says_how(fake, memories, asking):
    memories.say("The kitten sleeps in the hall")
    memories.say("The bakery opens at six")
    assert asking.contents("Where is the feline?") == []
    drain()
    packet = asking.packet("Where is the feline?")
    assert [item.content for item in packet.items] == ["The kitten sleeps in the hall"]
    assert packet.items[0].why.lanes == {"semantic": 1}
    assert packet.warnings == []
