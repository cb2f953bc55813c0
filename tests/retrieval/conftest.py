"""A world whose memories are asked for through the real pipeline."""

from __future__ import annotations

import pytest

from tests.memories.sayings import LABELS, Memories
from tests.retrieval.asking import Asking
from tests.tenants.world import World


@pytest.fixture
def world(db) -> World:
    return World("orchard", labels=LABELS)


@pytest.fixture
def elsewhere(db, world) -> World:
    return World("basin", labels=LABELS)


@pytest.fixture
def memories(world) -> Memories:
    return Memories(world)


@pytest.fixture
def asking(world) -> Asking:
    return Asking(world)
