"""Batches against a small model: whatever is sent, stored is what a dictionary would have kept (EV-12)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.core.errors import DomainError, EventIdConflict, NotFound, ValidationFailed
from apps.evidence.ingestion import accept_event, accept_events
from apps.evidence.models import Content, Derivation, SourceEvent
from apps.jobs.models import Outbox, ProcessingJob
from tests.evidence.drafts import LONG_AGO, draft

IDS = st.sampled_from(["a", "b", "c", "A", "ä"])
DRAFTS = st.builds(
    lambda event_id, content, minutes, origins, topic, scope: draft(
        content,
        event_id=event_id,
        occurred_at=LONG_AGO + timedelta(minutes=minutes),
        derived_from=tuple(origins),
        topics=(topic,) if topic else (),
        scope=scope,
        scope_id="kiosk" if scope == "project" else None,
    ),
    IDS,
    st.sampled_from(["x", "y", "記憶\u202e 👩‍🚀"]),
    st.integers(0, 1),
    st.lists(IDS, max_size=2, unique=True),
    st.sampled_from([None, None, "field_test", "feild_test"]),
    st.sampled_from(["user", "user", "project", "organization"]),
)


class Model:
    """What is stored, by event id; ``accept`` says what has to be answered."""

    def __init__(self):
        self.stored = {}

    def accept(self, one):
        if one.scope == "organization":
            return "not_permitted"
        if one.event_id in one.derived_from:
            return ValidationFailed
        known = self.stored.get(one.event_id)
        if known is not None:
            return "replay" if known == one else EventIdConflict
        if "feild_test" in one.topics:
            return ValidationFailed
        if any(origin not in self.stored for origin in one.derived_from):
            return NotFound
        self.stored[one.event_id] = one
        return "new"


def said(result):
    if isinstance(result, DomainError):
        return "not_permitted" if result.code == "not_permitted" else type(result)
    return "replay" if result.replayed else "new"


@pytest.mark.requirement("EV-08", "EV-12", "EV-13")
@given(batches=st.lists(st.lists(DRAFTS, min_size=1, max_size=8), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_batches_store_what_one_by_one_would_have(world, batches):
    alice = world.access("alice")
    model = Model()
    with world.inside():
        clean = transaction.savepoint()
        for batch in batches:
            if len(batch) == 1:
                try:
                    results = [accept_event(alice, batch[0])]
                except DomainError as error:
                    results = [error]
            else:
                results = accept_events(alice, batch)
            assert [said(one) for one in results] == [model.accept(one) for one in batch]
        rows = {row.event_id: row for row in SourceEvent.objects.all()}
        texts = dict(Content.objects.values_list("id", "text"))
        assert {key: texts[row.content_id] for key, row in rows.items()} == {
            key: one.content for key, one in model.stored.items()
        }
        assert len(texts) == len(rows) == ProcessingJob.objects.count() == Outbox.objects.count()
        assert Derivation.objects.count() == sum(len(one.derived_from) for one in model.stored.values())
        arrival = [row.event_id for row in sorted(rows.values(), key=lambda row: row.sequence)]
        assert arrival == list(model.stored)
        transaction.savepoint_rollback(clean)
