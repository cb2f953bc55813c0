"""Putting work down."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.core.isolation import tenant_context
from apps.jobs.models import ProcessingJob
from apps.jobs.queue import Work, enqueue, publish
from apps.tenants.transactions import tenant_transaction
from tests.jobs.conftest import Room


@pytest.mark.requirement("OJ-01", "OJ-02")
def test_a_job_is_there_once_and_comes_back_as_it_is(room: Room) -> None:
    first = room.put("extract", "a", payload={"event": str(uuid4())})[0]
    room.change(first, state="done", attempts=3)
    again, new = room.put("extract", "a", "b")
    assert again.pk == first.pk and again.state == "done" and again.attempts == 3 and again.payload == first.payload
    assert new.pk != first.pk and [job.key for job in room.jobs()] == ["a", "b"]


def test_the_same_key_twice_in_one_call_is_one_job(room: Room) -> None:
    one, other, same = room.put("extract", "a", "b", "a")
    assert one.pk == same.pk != other.pk and len(room.jobs()) == 2


def test_kinds_and_tenants_have_keys_of_their_own(room: Room, other_room: Room) -> None:
    ids = {room.put("extract", "a")[0].pk, room.put("deletion", "a")[0].pk, other_room.put("extract", "a")[0].pk}
    assert len(ids) == 3 and len(room.jobs()) == 2


def test_what_is_stored_is_what_was_given(room: Room) -> None:
    event = str(uuid4())
    made = room.put("extract", "evt-1:rules@1:p1:0", payload={"event": event, "epoch": 4})[0]
    stored = room.job(made)
    assert (stored.payload, stored.namespaces) == ({"event": event, "epoch": 4}, [room.namespace_id])
    for name in (
        "kind",
        "key",
        "state",
        "attempts",
        "max_attempts",
        "fence",
        "next_try_at",
        "created_at",
        "checkpoint",
        "last_error",
    ):
        assert getattr(stored, name) == getattr(made, name), name


def test_five_hundred_jobs_are_one_statement(room: Room) -> None:
    work = [Work("extract", f"k{number}", {"n": number}, (room.namespace_id,)) for number in range(500)]
    with tenant_transaction(room.access) as tx, CaptureQueriesContext(connection) as queries:
        jobs = enqueue(tx, room.access, work)
    assert len([query for query in queries if "INSERT" in query["sql"]]) == 1 and len(queries) == 1
    assert [job.key for job in jobs] == [item.key for item in work]


def test_a_rolled_back_transaction_leaves_no_work_and_no_ring(room: Room) -> None:
    def put_and_fail() -> None:
        with tenant_transaction(room.access) as tx:
            enqueue(tx, room.access, [Work("extract", "a", {}, ())])
            publish(room.access, "memory.changed", [(uuid4(), 1)])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        put_and_fail()
    assert room.jobs() == [] and room.messages() == [] and rings() == 0


@pytest.mark.parametrize("payload", [{"text": "x" * 129}, {"list": ["a"]}, {"nothing": None}, {"half": 0.5}])
@pytest.mark.requirement("AU-02")
def test_a_payload_holds_ids_and_numbers_only(room: Room, payload: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="ids and numbers"):
        room.put("extract", "a", payload=payload)
    assert room.jobs() == []


@pytest.mark.django_db(transaction=True)
def test_one_ring_per_transaction_and_none_while_one_waits(room: Room) -> None:
    room.put("extract", "a", "b", "c")
    assert rings() == 1
    room.put("extract", "d")
    assert rings() == 1


def test_jobs_of_a_tenant_are_nobody_elses(room: Room, other_room: Room) -> None:
    room.put("extract", "a")
    with tenant_context(other_room.tenant_id):
        assert ProcessingJob.objects.count() == 0
    assert ProcessingJob.objects.count() == 0


def rings() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_q_ormq")
        return int(cursor.fetchone()[0])
