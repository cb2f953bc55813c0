"""Health and metrics."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.test import Client

from apps.core import clock
from apps.core.ids import new_id
from apps.core.isolation import system_context
from apps.jobs import heartbeats
from apps.jobs.models import Outbox, ProcessingJob, WorkerHeartbeat
from apps.retention.ledger import guard
from apps.retention.ledger.guard import Standing
from apps.retrieval.models import IndexState
from apps.tenants.models import Namespace, Tenant
from memory_platform.operations import health
from memory_platform.operations.logs import JsonLines

pytestmark = pytest.mark.django_db

READY = "/api/v1/health/ready"
METRICS = "/api/v1/metrics"
SUBJECT = "alice-of-the-canary"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_Known", type("_Known", (), {"migrated": False, "at": float("-inf"), "found": None}))
    monkeypatch.setattr(health, "_FRESH_SECONDS", -1.0)


@pytest.fixture
def tenant() -> Tenant:
    with system_context():
        return Tenant.objects.create(key="orchard-canary", name="Orchard")


def test_live_needs_nothing(client: Client, django_assert_num_queries) -> None:
    with django_assert_num_queries(0):
        answer = client.get("/api/v1/health/live")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_ready_names_an_absent_worker(client: Client) -> None:
    answer = client.get(READY)
    assert answer.status_code == 200
    fine = {"database": "ok", "migrations": "ok", "index": "ok"}
    assert answer.json() == fine | {"status": "ready", "worker": "absent", "ledger": "none", "backup": "none"}


@pytest.mark.parametrize(
    ("standing", "late", "copy", "said"),
    [
        (Standing.OK, 0, "ok", "ok"),
        (Standing.AHEAD, 3, "failing", "ahead"),
        (Standing.CORRUPT, 0, "none", "corrupt"),
        (Standing.OK, 1, "failing", "unwritten"),
        (Standing.OK, 0, "failing", "copy_failing"),
    ],
)
def test_ready_names_the_ledger_and_answers_all_the_same(client: Client, monkeypatch, standing, late, copy, said) -> None:
    """What is shut is what gives memory out; deletions go on, and the platform is there to be looked at."""
    monkeypatch.setattr(guard, "standing", lambda: standing)
    monkeypatch.setattr(guard, "late", lambda: late)
    monkeypatch.setattr(guard, "copy_standing", lambda: copy)
    answer = client.get(READY)
    assert (answer.status_code, answer.json()["ledger"]) == (200, said)


def test_ready_sees_a_worker_that_works_and_not_one_that_fell_silent(client: Client) -> None:
    now = clock.now()
    WorkerHeartbeat.objects.create(name="here:1", seen_at=now)
    assert client.get(READY).json()["worker"] == "ok"
    WorkerHeartbeat.objects.update(seen_at=now - heartbeats.ALIVE - timedelta(seconds=1))
    assert client.get(READY).json()["worker"] == "absent"


def test_ready_names_an_index_of_another_version(client: Client, tenant: Tenant) -> None:
    with system_context():
        IndexState.objects.create(tenant=tenant, namespace_id=new_id(), analysis_version="0")
    answer = client.get(READY)
    assert answer.status_code == 200 and answer.json()["index"] == "outdated"


def test_a_pending_migration_is_not_ready(client: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'retrieval'")
    answer = client.get(READY)
    assert answer.status_code == 503 and answer.headers["Retry-After"]
    assert answer.json()["code"] == "not_ready" and answer.json()["checks"]["migrations"] == "pending"


def test_a_database_that_is_away_is_not_ready(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = {**connection.get_connection_params(), "host": "127.0.0.1", "port": "1"}
    monkeypatch.setattr(connections["default"], "get_connection_params", lambda: parameters)
    answer = client.get(READY)
    assert answer.status_code == 503
    assert answer.json()["checks"] == {
        "database": "unreachable",
        "migrations": "unknown",
        "worker": "unknown",
        "index": "unknown",
        "ledger": "unknown",
        "backup": "unknown",
    }
    assert client.get("/api/v1/health/live").status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/health/live", READY, METRICS])
def test_parameters_and_other_methods_are_refused(client: Client, path: str) -> None:
    assert client.get(path, {"verbose": "1"}).status_code == 422
    assert client.post(path, {}, content_type="application/json").status_code == 405


def test_metrics_tell_states_and_lags_and_name_nobody(client: Client, tenant: Tenant) -> None:
    past = clock.now() - timedelta(seconds=90)
    with system_context():
        Namespace.objects.create(tenant=tenant, scope="organization", scope_id=SUBJECT)
        for number, state in enumerate(["queued", "queued", "retry_wait", "running", "dead", "done"]):
            ProcessingJob.objects.create(
                tenant=tenant,
                kind="extract",
                key=f"{SUBJECT}-{number}",
                state=state,
                next_try_at=past,
                payload={"event": SUBJECT},
            )
        Outbox.objects.create(tenant=tenant, topic="memory.changed", object_id=new_id(), created_at=past)
    client.get(f"/api/v1/memories/{SUBJECT}")
    answer = client.get(METRICS)
    assert answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/plain")
    figures = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#"))
    for state, count in {"queued": 2, "retry_wait": 1, "running": 1, "dead": 1}.items():
        assert float(figures[f'memory_platform_jobs{{state="{state}"}}']) == count
    assert 90 <= float(figures["memory_platform_job_lag_seconds"]) < 600
    assert 90 <= float(figures["memory_platform_outbox_lag_seconds"]) < 600
    assert float(figures["memory_platform_outbox_messages"]) == 1 and float(figures["memory_platform_database_reachable"]) == 1
    assert any(name.startswith("memory_platform_requests_total{") and 'route="api/v1/memories' in name for name in figures)
    assert SUBJECT not in answer.text and tenant.key not in answer.text and str(tenant.id) not in answer.text


def test_metrics_are_for_this_machine_or_the_token(client: Client, settings: object) -> None:
    assert client.get(METRICS, REMOTE_ADDR="127.0.0.1").status_code == client.get(METRICS, REMOTE_ADDR="::1").status_code == 200
    elsewhere = {"REMOTE_ADDR": "192.0.2.7"}
    assert client.get(METRICS, **elsewhere).status_code == 401
    assert client.get(METRICS, headers={"X-Forwarded-For": "127.0.0.1"}, **elsewhere).status_code == 401
    for proxied in ("X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"):
        assert client.get(METRICS, headers={proxied: "192.0.2.7"}).status_code == 401
    assert client.get(METRICS, headers={"Authorization": "Bearer "}, **elsewhere).status_code == 401
    settings.METRICS_TOKEN = "a-long-token"
    assert client.get(METRICS, headers={"Authorization": "Bearer wrong"}, **elsewhere).status_code == 401
    assert client.get(METRICS, headers={"Authorization": "Bearer a-long-token"}, **elsewhere).status_code == 200
    assert client.get(METRICS, REMOTE_ADDR="").status_code == 401


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonLines())
    logging.getLogger().addHandler(handler)
    level = logging.getLogger().level
    logging.getLogger().setLevel(logging.INFO)
    yield out
    logging.getLogger().setLevel(level)
    logging.getLogger().removeHandler(handler)


def test_a_request_is_one_line_without_path_query_or_body(client: Client, lines: io.StringIO) -> None:
    client.post(
        f"/api/v1/memory-events/{SUBJECT}?note={SUBJECT}",
        json.dumps({"content": SUBJECT}),
        content_type="application/json",
        headers={"Authorization": f"Bearer {SUBJECT}", "User-Agent": SUBJECT},
    )
    requests = [line for line in map(json.loads, lines.getvalue().splitlines()) if line["event"] == "request"]
    assert len(requests) == 1 and SUBJECT not in lines.getvalue()
    assert requests[0]["method"] == "POST" and requests[0]["status"] in (401, 405) and requests[0]["ms"] >= 0
    assert requests[0]["request_id"].startswith("req_") and requests[0]["route"].startswith("api/v1/memory-events/")
