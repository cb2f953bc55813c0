"""Worlds for tests of this floor."""

from __future__ import annotations

import pytest

from tests.tenants.world import World


@pytest.fixture
def world(db) -> World:
    return World("orchard")


@pytest.fixture
def elsewhere(db, world) -> World:
    return World("basin")
