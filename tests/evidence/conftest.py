"""Worlds for tests of events; an extractor, a vocabulary and candidates as apps.memories would register them."""

from __future__ import annotations

import pytest

from apps.evidence.registries import Extraction, replaced
from tests.tenants.world import World

LABELS = {"topic": {"field_test": "field_test", "deploys": "deploys"}, "entity": {"observatory_captain": "observatory_captain"}}


@pytest.fixture(autouse=True)
def _above():
    def labels(_tenant, kind, wanted):
        return {label: LABELS[kind][label] for label in wanted if label in LABELS[kind]}

    with replaced(
        extraction=Extraction("rules", "1", "p1"), labels=labels, candidates=lambda _tenant, event: [f"can-{str(event)[-4:]}"]
    ):
        yield


@pytest.fixture
def world(db) -> World:
    return World("orchard")


@pytest.fixture
def elsewhere(db, world) -> World:
    return World("basin")
