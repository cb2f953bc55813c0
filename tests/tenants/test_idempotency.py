"""Idempotency-Key (design/06 Idempotency): one effect, one answer, per tenant, caller and route, for a day."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection

from apps.core import clock
from apps.core.errors import IdempotencyInProgress, IdempotencyKeyReuse, NotFound
from apps.tenants import people
from apps.tenants.idempotency import Answer, answer_once, forget_expired
from apps.tenants.models import IdempotencyKey, Subject
from tests.tenants.world import World


class Effect:
    """Adds a subject, so that every run can be counted."""

    def __init__(self, world, *, fail=False):
        self.world, self.fail, self.runs = world, fail, 0

    def __call__(self) -> Answer:
        self.runs += 1
        people.create_subject(self.world.command(), key=f"made_{self.runs}")
        if self.fail:
            raise NotFound
        return Answer(202, {"run": self.runs}, {"ETag": '"v1"'})


def once(access, effect, *, key="k", route="POST memories", body="a" * 64):
    return answer_once(access, route=route, key=key, body_sha256=body, effect=effect)


@pytest.mark.django_db
def test_the_second_answer_is_the_first(world):
    access, effect = world.command(), Effect(world)
    first = once(access, effect)
    assert once(access, effect) == first == Answer(202, {"run": 1}, {"ETag": '"v1"'})
    assert effect.runs == 1


@pytest.mark.django_db
def test_the_same_key_with_another_request_is_refused(world):
    access, effect = world.command(), Effect(world)
    once(access, effect)
    with pytest.raises(IdempotencyKeyReuse):
        once(access, effect, body="b" * 64)
    assert effect.runs == 1


@pytest.mark.django_db
@pytest.mark.requirement("ID-09")
def test_a_key_belongs_to_tenant_caller_and_route(world, elsewhere):
    access = world.command()
    effect = Effect(world)
    assert once(access, effect).body == {"run": 1}
    assert once(replace(access, caller_id="another"), effect).body == {"run": 2}
    assert once(access, effect, route="PATCH memories").body == {"run": 3}
    assert once(elsewhere.command(), Effect(elsewhere)).body == {"run": 1}
    assert once(access, effect).body == {"run": 1}


@pytest.mark.django_db
def test_a_failed_effect_leaves_nothing_and_can_be_tried_again(world):
    access, effect = world.command(), Effect(world, fail=True)
    for _ in range(2):
        with pytest.raises(NotFound):
            once(access, effect)
    with world.inside():
        assert not Subject.objects.filter(key__startswith="made_").exists() and not IdempotencyKey.objects.exists()
    effect.fail = False
    assert once(access, effect).body == {"run": 3}


@pytest.mark.django_db
def test_a_day_later_the_key_is_free_again(world):
    access, effect = world.command(), Effect(world)
    once(access, effect)
    tomorrow = clock.now() + timedelta(hours=24, seconds=1)
    with clock.set_clock(lambda: tomorrow):
        assert once(access, effect, body="b" * 64).body == {"run": 2}
    assert forget_expired(clock.now()) == 0
    assert forget_expired(tomorrow + timedelta(hours=25)) == 1
    with world.inside():
        assert not IdempotencyKey.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_while_the_first_is_at_work_the_second_is_told_to_come_back():
    world = World("orchard")
    access = world.command()
    working, finish = threading.Event(), threading.Event()

    def slow() -> Answer:
        working.set()
        assert finish.wait(20)
        return Answer(200, {"run": 1})

    answers = []

    def first() -> None:
        answers.append(once(access, slow))
        connection.close()

    thread = threading.Thread(target=first)
    thread.start()
    assert working.wait(20)
    try:
        with pytest.raises(IdempotencyInProgress) as trouble:
            once(access, slow)
        assert int(trouble.value.headers()["Retry-After"]) >= 1
    finally:
        finish.set()
        thread.join(20)
    assert once(access, slow) == answers[0] == Answer(200, {"run": 1})
