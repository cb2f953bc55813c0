"""The settings that make django-q2 safe, and the refusal of every other."""

from __future__ import annotations

import math

import pytest
from django.conf import settings

from apps.jobs.backoff import delay
from apps.jobs.checks import check_cluster_settings, unsafe_settings
from apps.jobs.models import ProcessingJob
from apps.jobs.states import TRANSITIONS, sources


def test_our_own_settings_are_safe() -> None:
    assert check_cluster_settings() == []
    from django_q.conf import Conf

    assert [Conf.QUEUE_LIMIT, Conf.BULK, Conf.MAX_ATTEMPTS, Conf.ACK_FAILURES, Conf.SAVE_LIMIT] == [1, 1, 1, True, -1]
    assert Conf.TIMEOUT * (1 + math.ceil(Conf.QUEUE_LIMIT / Conf.WORKERS)) < Conf.RETRY and not Conf.SCHEDULER


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"queue_limit": 20}, "E001"),
        ({"queue_limit": None}, "E001"),
        ({"bulk": 2}, "E001"),
        ({"max_attempts": 0}, "E001"),
        ({"max_attempts": 5}, "E001"),
        ({"ack_failures": False}, "E001"),
        ({"ack_failures": 1}, "E001"),
        ({"save_limit": 0}, "E001"),
        ({"sync": True}, "E001"),
        ({"scheduler": True}, "E001"),
        ({"error_reporter": {"sentry": {"dsn": "x"}}}, "E001"),
        ({"workers": 0}, "E002"),
        ({"workers": None}, "E002"),
        ({"timeout": None}, "E003"),
        ({"retry": None}, "E003"),
        ({"retry": 600}, "E004"),
        ({"timeout": 800}, "E004"),
        ({"cache": "default"}, "E005"),
        ({"cache": "nowhere"}, "E005"),
        ({"orm": None}, "E006"),
    ],
)
def test_any_other_setting_refuses_to_start(change: dict[str, object], code: str) -> None:
    cluster = {name: value for name, value in {**settings.Q_CLUSTER, **change}.items() if value is not None}
    errors = list(unsafe_settings(cluster, settings.CACHES))
    assert [error.id for error in errors] == [f"jobs.{code}"]


def test_back_off_doubles_up_to_a_cap_and_never_ends() -> None:
    longest = [delay(attempt, spread=1.0).total_seconds() for attempt in (1, 2, 3, 8, 10, 11, 50, 10_000)]
    assert longest == [1, 2, 4, 128, 512, 600, 600, 600]
    assert delay(3, spread=0.0).total_seconds() == 2
    drawn = {delay(5) for _ in range(50)}
    assert len(drawn) > 1 and all(8 <= wait.total_seconds() <= 16 for wait in drawn)


def test_the_life_of_a_job_is_a_table_without_dead_ends_but_the_last() -> None:
    states = set(ProcessingJob.State)
    assert set(TRANSITIONS) == states and all(targets <= states for targets in TRANSITIONS.values())
    assert {state for state, targets in TRANSITIONS.items() if not targets} == {"done", "discarded"}
    reached = {"queued"}
    while more := {target for state in reached for target in TRANSITIONS[ProcessingJob.State(state)]} - reached:
        reached |= more
    assert reached == states and sources(ProcessingJob.State.DISCARDED) == ["dead"]
