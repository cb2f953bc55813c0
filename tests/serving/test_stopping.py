"""Stopping ``serve``: idle connections are not waited for, requests in hand are answered, and the database is stopped whatever comes."""

from __future__ import annotations

import http.client
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from memory_platform.embedded.places import DATABASE, Places
from memory_platform.embedded.server import superuser_connection
from tests.serving.conftest import Served, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.slow]

METRICS = "/api/v1/metrics"


@contextmanager
def held_request(served: Served) -> Iterator[tuple[Future[int], psycopg.Connection]]:
    """A request that waits for a lock until the connection that is given as well lets it go."""
    # The server may be gone when this ends: what was begun here is never committed, only dropped.
    with closing(superuser_connection(Places.of(served.home), DATABASE)) as holder, ThreadPoolExecutor(1) as pool:
        holder.autocommit = False
        holder.execute("LOCK TABLE jobs_workerheartbeat")
        answer = pool.submit(status_of, served.port)
        with superuser_connection(Places.of(served.home), DATABASE) as onlooker:
            waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%jobs_outbox%'"
            wait_until(lambda: onlooker.execute(waiting).fetchone(), served.text)
        yield answer, holder


def status_of(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", METRICS)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def test_idle_connections_are_let_go_and_a_request_in_hand_is_answered(serve):
    served = serve("--no-worker").wait_ready()
    silent = socket.create_connection(("127.0.0.1", served.port), timeout=60)
    idle = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    idle.request("GET", "/api/v1/health/live")
    assert idle.getresponse().read()
    with held_request(served) as (answer, holder):
        served.process.send_signal(signal.SIGTERM)
        # Both are closed while the request is still worked on, long before its time is over.
        assert idle.sock.recv(1) == b""
        assert silent.recv(1) == b""
        assert not answer.done()
        holder.rollback()
        assert answer.result(60) == http.HTTPStatus.OK
        assert served.process.wait(60) == 0, served.text()
    assert_nothing_runs(served)


def test_a_second_signal_does_not_wait_for_anybody(serve):
    served = serve().wait_ready()
    everybody = [*served.children(), served.database()]
    with held_request(served) as (answer, _holder):
        served.process.send_signal(signal.SIGTERM)
        wait_until(lambda: refuses(served.port), served.text)
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(60) == 0, served.text()
        assert answer.result(60) == 0, "it could not be answered: nobody let it go"
    assert [process for process in everybody if runs(process)] == []
    assert_nothing_runs(served)


@pytest.mark.parametrize("moment", ["at once", "the database starts", "the web server starts"])
def test_two_signals_while_it_starts_leave_nothing_behind(serve, moment):
    served = serve()
    moments = {
        "at once": lambda: signal.SIGTERM in handled(served.process.pid),
        "the database starts": lambda: list(served.home.rglob("postmaster.pid")),
        "the web server starts": lambda: served.find("-m gunicorn"),
    }
    wait_until(moments[moment], served.text, every=0.005)
    served.process.send_signal(signal.SIGTERM)
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(60) in (0, 128 + signal.SIGTERM), served.text()
    assert "Traceback" not in served.text()
    assert_nothing_runs(served)


def refuses(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def handled(pid: int) -> set[int]:
    """The signals for which a process has a handler; before that SIGTERM ends Python on the spot, with nothing started."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt:")]
    mask = int(line.split()[1], 16)
    return {number for number in range(1, 65) if mask >> (number - 1) & 1}


def runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def assert_nothing_runs(served: Served) -> None:
    """No server of this home, whether it has a pid file or not."""
    assert list(served.home.rglob("postmaster.pid")) == []
    data = str(Places.of(served.home).data)
    assert [one.pid for one in psutil.process_iter(["cmdline"]) if data in (one.info["cmdline"] or [])] == []
