"""The outbox: told after commit, at least once, in order, and one bad message holds back only its own object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from apps.core import clock
from apps.core.isolation import current_tenant_id, tenant_context
from apps.jobs import dispatch
from apps.jobs.models import Outbox
from apps.jobs.queue import publish
from apps.jobs.registry import Message, on_topic
from apps.jobs.runner import drain
from apps.tenants.models import Namespace
from apps.tenants.transactions import tenant_transaction
from tests.jobs.conftest import Room

TOPIC = "memory.changed"
CANARY = "the strongbox is behind the mirror"


@pytest.fixture(autouse=True)
def now() -> Iterator[list[datetime]]:
    moment = [datetime(2030, 1, 1, tzinfo=UTC)]
    with clock.set_clock(lambda: moment[0]):
        yield moment


@pytest.fixture
def told(handle: Callable[..., None]) -> list[tuple[UUID, int]]:
    heard: list[tuple[UUID, int]] = []
    on_topic(TOPIC)(lambda message: heard.append((message.object_id, message.version)))
    return heard


def tell(room: Room, *messages: tuple[UUID, int], topic: str = TOPIC) -> None:
    with tenant_transaction(room.access):
        publish(room.access, topic, messages)


@pytest.mark.requirement("OJ-03", "OJ-06")
def test_a_message_is_told_once_and_in_order(room: Room, told: list[tuple[UUID, int]]) -> None:
    one, other = uuid4(), uuid4()
    tell(room, (one, 1), (other, 1), (one, 2))
    assert drain().messages == 3 and told == [(one, 1), (other, 1), (one, 2)]
    assert drain().messages == 0 and all(message.delivered_at and message.attempts == 1 for message in room.messages())


def test_a_topic_nobody_listens_to_is_delivered(room: Room, told: list[tuple[UUID, int]]) -> None:
    tell(room, (uuid4(), 1), topic="event.accepted")
    assert drain().messages == 1 and told == [] and drain().messages == 0


def test_consumers_work_in_the_tenant_of_the_message(room: Room, other_room: Room, told: list[tuple[UUID, int]]) -> None:
    seen: list[tuple[object, list[str]]] = []
    on_topic(TOPIC)(lambda _message: seen.append((current_tenant_id(), [one.scope_id for one in Namespace.objects.all()])))
    tell(room, (uuid4(), 1))
    tell(other_room, (uuid4(), 1))
    drain()
    assert sorted(seen, key=str) == sorted([(room.tenant_id, ["orchard"]), (other_room.tenant_id, ["harbour"])], key=str)


def test_effect_and_delivery_are_one_commit(room: Room, told: list[tuple[UUID, int]], now: list[datetime]) -> None:
    """A consumer that fails leaves nothing behind, and neither does one that worked before it."""

    def broken(message: Message) -> None:
        Namespace.objects.update(deletion_epoch=7)
        if message.version == 1:
            raise ValueError(CANARY)

    on_topic(TOPIC)(broken)
    tell(room, (uuid4(), 1))
    drain()
    with tenant_context(room.tenant_id):
        assert Namespace.objects.get().deletion_epoch == 0
    (message,) = room.messages()
    assert (
        message.delivered_at is None and message.attempts == 1 and now[0] < message.next_try_at <= now[0] + timedelta(seconds=1)
    )


@pytest.mark.requirement("OJ-07")
def test_a_bad_message_waits_with_those_behind_it_and_all_others_pass(
    room: Room, handle: Callable[..., None], now: list[datetime], caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[tuple[UUID, int]] = []
    bad, good = uuid4(), uuid4()
    repaired: list[bool] = []

    def listen(message: Message) -> None:
        if message.object_id == bad and not repaired:
            raise ValueError(CANARY)
        heard.append((message.object_id, message.version))

    on_topic(TOPIC)(listen)
    tell(room, (good, 1), (bad, 1), (bad, 2), (good, 2))
    drain()
    assert [pair for pair in heard if pair[0] == good][-2:] == [(good, 1), (good, 2)] and not any(
        pair[0] == bad for pair in heard
    )
    tell(room, (bad, 3), (good, 3))
    heard.clear()
    drain()
    assert heard == [(good, 3)]
    waits = []
    for attempt in range(2, 5):
        now[0] += timedelta(minutes=10)
        drain()
        first = next(message for message in room.messages() if message.object_id == bad)
        assert first.attempts == attempt
        waits.append(first.next_try_at - now[0])
    assert waits == sorted(waits) and waits[-1] <= timedelta(seconds=8)
    heard.clear()
    repaired.append(True)
    now[0] += timedelta(minutes=10)
    drain()
    assert heard == [(bad, 1), (bad, 2), (bad, 3)] and CANARY not in caplog.text


@pytest.mark.requirement("OJ-04")
def test_a_postman_who_dies_delays_a_message_and_loses_none(
    room: Room, told: list[tuple[UUID, int]], now: list[datetime], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = uuid4()
    tell(room, (one, 1))

    def die(*_args: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(dispatch, "_deliver", die)
        with pytest.raises(SystemExit):
            drain()
    tell(room, (one, 2))
    assert drain().messages == 0 and told == []
    now[0] += timedelta(seconds=61)
    drain()
    assert told == [(one, 1), (one, 2)]


def test_many_messages_are_a_few_statements(room: Room, told: list[tuple[UUID, int]], django_assert_max_num_queries) -> None:
    tell(room, *[(uuid4(), 1) for _ in range(500)], topic="event.accepted")
    with django_assert_max_num_queries(16):
        assert dispatch.dispatch() == 500
    with tenant_context(room.tenant_id):
        assert Outbox.objects.filter(delivered_at=None).count() == 0
