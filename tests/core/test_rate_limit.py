from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.db import connection

from apps.core import clock
from apps.core.api import rate_limit
from apps.core.errors import RateLimited
from apps.core.models import RateWindow
from tests.core.api_views import CREDENTIAL
from tests.core.conftest import Api

NOON = datetime(2026, 1, 1, 12, 0, 20, 500_000, tzinfo=UTC)


@pytest.fixture
def limit(monkeypatch):
    def set_limit(requests: int) -> None:
        monkeypatch.setattr(rate_limit, "LIMITS", dataclasses.replace(rate_limit.LIMITS, requests_per_minute=requests))

    set_limit(3)
    return set_limit


def spent_at(moment: datetime, who: UUID = CREDENTIAL) -> rate_limit.Allowance:
    with clock.set_clock(lambda: moment):
        return rate_limit.spend(who)


@pytest.mark.django_db
def test_requests_of_one_minute_are_counted_and_the_next_minute_starts_anew(limit):
    found = [spent_at(NOON) for _ in range(4)]
    assert [one.used for one in found] == [1, 2, 3, 4]
    assert [one.exceeded for one in found] == [False, False, False, True]
    assert found[0].headers() == {"RateLimit": '"credential";r=2;t=40', "RateLimit-Policy": '"credential";q=3;w=60'}
    assert found[3].headers()["RateLimit"] == '"credential";r=0;t=40'
    with pytest.raises(RateLimited) as refused:
        found[3].require()
    assert refused.value.headers() == {"Retry-After": "40"}
    assert spent_at(NOON + timedelta(minutes=1)).used == 1
    assert RateWindow.objects.count() == 1


@pytest.mark.django_db
def test_credentials_are_counted_apart(limit):
    assert [spent_at(NOON, UUID(int=n)).used for n in (1, 2, 1)] == [1, 1, 2]


@pytest.mark.django_db
def test_a_process_whose_clock_is_behind_counts_into_the_open_minute(limit):
    spent_at(NOON + timedelta(seconds=45))
    late = spent_at(NOON)
    assert late.used == 2
    assert late.reset == 100


@pytest.mark.django_db
def test_a_clock_that_was_far_ahead_does_not_lock_anybody_out(limit):
    for _ in range(5):
        spent_at(NOON + timedelta(days=400))
    assert spent_at(NOON).used == 1


@pytest.mark.django_db
def test_idle_credentials_can_be_forgotten(limit):
    spent_at(NOON, UUID(int=1))
    spent_at(NOON + timedelta(hours=2), UUID(int=2))
    assert rate_limit.forget_idle(NOON + timedelta(hours=1)) == 1
    assert [row.credential_id for row in RateWindow.objects.all()] == [UUID(int=2)]


@pytest.mark.django_db
def test_counting_can_be_switched_off(limit):
    limit(0)
    assert rate_limit.spend(CREDENTIAL) is None
    assert rate_limit.policy_headers() == {}


@pytest.mark.django_db
def test_the_table_writes_no_log():
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = 'core_rate_window'")
        assert cursor.fetchone() == ("u",)


@pytest.mark.django_db
def test_every_answer_shows_what_is_left_and_refusals_count_too(limit, small_api):
    with clock.set_clock(lambda: NOON):
        caller = Api("counted")
        answers = [
            caller.get("/notes"),
            caller.get("/nowhere"),
            caller.send("PUT", "/notes"),
            caller.get("/notes"),
            caller.get("/x"),
        ]
    assert [answer.status_code for answer in answers] == [200, 404, 405, 429, 429]
    assert [answer.headers["RateLimit"] for answer in answers] == [f'"credential";r={left};t=40' for left in (2, 1, 0, 0, 0)]
    assert all(answer.headers["RateLimit-Policy"] == '"credential";q=3;w=60' for answer in answers)
    assert answers[3].headers["Retry-After"] == "40"
    assert answers[3].json()["code"] == "rate_limited"


@pytest.mark.django_db(transaction=True)
def test_requests_at_the_same_time_are_counted_exactly(limit):
    with clock.set_clock(lambda: NOON), ThreadPoolExecutor(4) as pool:
        counts = [count for found in pool.map(many, range(4)) for count in found]
    assert sorted(counts) == list(range(1, 101))


def many(_):
    found = [rate_limit.spend(CREDENTIAL).used for _ in range(25)]
    connection.close()
    return found
