"""The barrier in its two forms."""

from __future__ import annotations

from datetime import timedelta

import pytest

from apps.evidence.ingestion import accept_event
from apps.evidence.models import SourceEvent
from apps.retention.barrier import Happening, covered_query, covering, is_covered, is_suppressed, revoked_memories
from apps.retention.models import Revocation, TargetKind
from tests.evidence.drafts import LONG_AGO, draft


def revoke(world, kind, target, owner="alice", **fields):
    with world.inside():
        return Revocation.objects.create(
            tenant_id=world.tenant_id,
            namespace=world.namespace("user", owner),
            target_kind=kind,
            target_id=str(target),
            epoch=1,
            **{"accepted_at": LONG_AGO, **fields},
        )


@pytest.mark.requirement("DJ-03", "VH-13")
def test_the_two_forms_say_the_same(world, elsewhere):
    for subject in ("alice", "bob"):
        access = world.access(subject, session="shared")
        for scope, scope_id in (("user", None), ("project", "kiosk")):
            for minutes in (-1, 0, 1):
                at = LONG_AGO + timedelta(minutes=minutes)
                accept_event(access, draft(event_id=f"{subject}{scope}{minutes}", scope=scope, scope_id=scope_id, occurred_at=at))
    with world.inside():
        rows = list(SourceEvent.objects.order_by("event_id"))
        alice = rows[0].subject_id
        kiosk = next(row.namespace_id for row in rows if "project" in row.event_id)

    def covered():
        with world.inside():
            by_query = set(SourceEvent.objects.filter(covered_query()).values_list("event_id", flat=True))
            happenings = [Happening(row.namespace_id, row.occurred_at, row.id, row.session_id, row.subject_id) for row in rows]
            by_rule = {row.event_id for row, found in zip(rows, covering(world.tenant_id, happenings), strict=True) if found}
            assert (
                by_query
                == by_rule
                == {row.event_id for row, one in zip(rows, happenings, strict=True) if is_covered(world.tenant_id, one)}
            )
        return by_query

    assert covered() == set()
    revoke(world, TargetKind.EVENT, rows[-1].id)
    assert covered() == {rows[-1].event_id}
    revoke(world, TargetKind.SESSION, "shared")
    hers = {f"alice{scope}{minutes}" for scope in ("user", "project") for minutes in (-1, 0)}
    assert covered() == hers | {rows[-1].event_id}
    revoke(world, TargetKind.SUBJECT, alice, accepted_at=LONG_AGO + timedelta(minutes=1))
    hers |= {"aliceuser1", "aliceproject1"}
    assert covered() == hers | {rows[-1].event_id}
    revoke(world, TargetKind.NAMESPACE, kiosk)
    assert covered() == hers | {rows[-1].event_id, "bobproject-1", "bobproject0"}
    revoke(elsewhere, TargetKind.NAMESPACE, rows[0].namespace_id)
    revoke(world, TargetKind.MEMORY, rows[3].id)
    assert covered() == hers | {rows[-1].event_id, "bobproject-1", "bobproject0"}


def test_one_query_for_any_number(world, django_assert_num_queries):
    accept_event(world.access("alice"), draft())
    with world.inside():
        row = SourceEvent.objects.get()
        happenings = [Happening(row.namespace_id, LONG_AGO, row.id, f"s-{n}", row.subject_id) for n in range(300)]
        with django_assert_num_queries(1):
            covering(world.tenant_id, happenings)


@pytest.mark.requirement("DJ-02")
def test_a_memory_and_its_fact_are_known_by_name_and_digest(world):
    from apps.core.ids import new_id

    memory, other = new_id(), new_id()
    revoke(world, TargetKind.MEMORY, memory, fact_digest=77, suppress_future=True)
    namespace = world.namespace("user", "alice").id
    with world.inside():
        assert revoked_memories(world.tenant_id, [memory, other]) == {memory}
        assert is_suppressed(world.tenant_id, namespace, 77) and not is_suppressed(world.tenant_id, namespace, 78)
        assert not is_suppressed(world.tenant_id, world.namespace("user", "bob").id, 77)
