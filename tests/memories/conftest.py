"""Worlds for tests of memories; short ways to say what is proposed and what came of it."""

from __future__ import annotations

import pytest

from tests.memories.sayings import LABELS, Memories
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
