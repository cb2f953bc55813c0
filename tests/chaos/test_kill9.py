"""kill -9 of web, worker and database in turn during an import loses no accepted event and stores none twice."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Self

import psutil
import pytest

from memory_platform.embedded.places import DATABASE, Places
from memory_platform.embedded.server import superuser_connection
from tests.benchmarks import processes
from tests.benchmarks.processes import ROOT, Served, served

pytestmark = [pytest.mark.chaos, pytest.mark.slow]

TENANT = """
tenants:
  - key: chaos
    subjects: [{key: alice}]
    agents:
      - key: importer
        credentials: [{name: alice, subject: alice, operations: ["events:write", "memory:read"]}]
"""
BATCH = 3
PATIENCE = 150.0  # seconds for any one step of the recovery


@dataclass
class Import:
    """Sends numbered events from a thread and sends again what was not answered, as a client that may not lose anything does."""

    address: str
    token: str
    accepted: dict[str, int] = field(default_factory=dict)  # event id → sequence, as answered
    unanswered: int = 0
    refused: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._stop.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def go_on(self, more: int) -> None:
        """Wait until that many more events were accepted."""
        wanted = len(self.accepted) + more
        wait_until(lambda: len(self.accepted) >= wanted or self.refused, "the import goes on")
        assert not self.refused

    def _run(self) -> None:
        for number in count():
            # One by one and in batches: an answer is lost in another way in each.
            size = 1 if number % 3 == 0 else BATCH
            events = [event(f"e-{number}-{place}") for place in range(size)]
            while not self._sent(events):
                self.unanswered += 1
                time.sleep(0.1)
            if self._stop.is_set():
                return

    def _sent(self, events: list[dict[str, str]]) -> bool:
        alone = len(events) == 1
        path, body = ("", events[0]) if alone else ("/batch", {"events": events})
        try:
            status, answer = call(self.address, self.token, "POST", f"/memory-events{path}", body)
        except (OSError, http.client.HTTPException):
            return False
        if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            return False
        results = [answer] if alone else answer.get("results", [])
        if len(results) != len(events) or any(one.get("status") != "accepted_for_processing" for one in results):
            self.refused.append((status, answer))
            self._stop.set()
            return True
        self.accepted |= {one["event_id"]: one["sequence"] for one in results}
        return True


def test_no_accepted_event_is_lost_when_web_worker_and_database_are_killed(tmp_path, monkeypatch):
    for name in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE"):  # those of the tests
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(processes, "START_SECONDS", PATIENCE)
    home = tmp_path / "home"
    home.mkdir()
    token = provisioned(home)
    with served(home) as copy:
        with Import(copy.address, token) as stream:
            for victim in (web_process, worker_process, database_process):
                stream.go_on(3 * BATCH)
                kill(victim(copy, home))
                stream.go_on(3 * BATCH)
        assert not stream.refused, stream.refused
        assert stream.unanswered, "nobody noticed that anything was killed"
        skip_leases(home)
        wait_until(lambda: unread(home) == 0, "every event is extracted", lambda: log_of(home))
        shown = {name: call(copy.address, token, "GET", f"/memory-events/{name}") for name in stream.accepted}
        stored = rows(home, "SELECT event_id, sequence, content_id IS NOT NULL FROM evidence_sourceevent")
        said = rows(home, "SELECT count(*), count(DISTINCT event_id) FROM memories_candidate")
        restarts = log_of(home).count("is started again")
    assert {status for status, _ in shown.values()} == {200}
    assert {answer["processing"]["state"] for _, answer in shown.values()} == {"extracted"}
    assert {name: answer["sequence"] for name, (_, answer) in shown.items()} == stream.accepted
    assert all(len(answer["processing"]["candidates"]) == 1 for _, answer in shown.values())
    # Everything that is stored was accepted in the end, under one number each, with its text.
    assert {name: sequence for name, sequence, _ in stored} == stream.accepted
    assert len(stored) == len({sequence for _, sequence, _ in stored}) == len(stream.accepted)
    assert all(has_text for *_, has_text in stored)
    assert said == [(len(stored), len(stored))]
    assert restarts >= 2, "the worker and the database were started again by `serve`; the web process by its own parent"


# -- the parts of a running copy


def web_process(copy: Served, _home: Path) -> psutil.Process:
    """The process that answers requests, below the one that watches over it."""
    return child(copy, "gunicorn").children()[0]


def worker_process(copy: Served, _home: Path) -> psutil.Process:
    return child(copy, "manage.py worker")


def database_process(_copy: Served, home: Path) -> psutil.Process:
    return psutil.Process(int((home / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0]))


def child(copy: Served, words: str) -> psutil.Process:
    return next(one for one in psutil.Process(copy.pid).children() if words in " ".join(one.cmdline()))


def kill(victim: psutil.Process) -> None:
    victim.kill()
    wait_until(lambda: not victim.is_running() or victim.status() == psutil.STATUS_ZOMBIE, "the process is gone")


# -- talking to it


def event(event_id: str) -> dict[str, str]:
    return {
        "event_id": event_id,
        "scope": "user",
        "source_type": "user_message",
        "occurred_at": "2026-05-01T10:00:00Z",
        "content": "From now on answer in Chinese by default.",
    }


def call(address: str, token: str, method: str, path: str, body: object = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(address, timeout=20)
    try:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def provisioned(home: Path) -> str:
    """The secret of the importer. The command also makes the database, so that the copy is started on one that is there."""
    file = home.parent / "tenant.yaml"
    file.write_text(TENANT, encoding="utf-8")
    environment = {**os.environ, "MEMORY_PLATFORM_HOME": str(home)}
    command = [sys.executable, "manage.py", "provision", str(file), "--json"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=True)
    token: str = json.loads(done.stdout)["tenants"]["chaos"]["credentials"]["importer/alice"]
    return token


# -- looking behind it


def rows(home: Path, statement: str) -> list[tuple[Any, ...]]:
    """As the superuser, past row-level security."""
    with superuser_connection(Places.of(home), DATABASE) as connection:
        return connection.execute(statement).fetchall()


def unread(home: Path) -> int:
    return int(rows(home, "SELECT count(*) FROM jobs_processingjob WHERE kind = 'extract' AND state <> 'done'")[0][0])


def skip_leases(home: Path) -> None:
    """The minute for which the jobs of a killed worker stay reserved is not waited for."""
    with superuser_connection(Places.of(home), DATABASE) as connection:
        connection.execute("UPDATE jobs_processingjob SET lease_until = now() WHERE state = 'running'")


def log_of(home: Path) -> str:
    return (home / "serve.log").read_text("utf-8", "replace")


def wait_until(true: Callable[[], object], what: str, explain: Callable[[], str] = str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, f"not within {PATIENCE:.0f} s: {what}\n{explain()[-4000:]}"
        time.sleep(0.05)
