"""Worlds for tests of deletions, with the layers of this test and those of evidence instead of all floors'."""

from __future__ import annotations

import pytest

from apps.evidence.layers import Sources
from apps.evidence.registries import Extraction, replaced
from apps.retention import layers, targets
from tests.tenants.world import World


@pytest.fixture(autouse=True)
def _only_evidence(monkeypatch):
    """Floors above have layers and hooks of their own; they are tested there, and all together in tests/acceptance."""
    monkeypatch.setattr(layers, "_layers", {"sources": Sources()})
    monkeypatch.setattr(targets, "_hooks", [hook for hook in targets._hooks if hook.__module__ == "apps.evidence.targets"])
    with replaced(extraction=Extraction("rules", "1", "p1")):
        yield


@pytest.fixture
def world(db) -> World:
    return World("orchard")


@pytest.fixture
def elsewhere(db, world) -> World:
    return World("basin")
