"""What gunicorn itself refuses is told like every other refusal, and never quoted."""

from __future__ import annotations

import json
import logging
import selectors
import socket
import struct
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from gunicorn.config import Config
from gunicorn.workers.gthread import TConn

from memory_platform import gunicorn_conf, web_worker
from memory_platform.web_worker import WebWorker

CANARY = "canary-7d40"


class Threads:
    """In place of the pool: keeps what it is given."""

    def __init__(self) -> None:
        self.given: list[TConn] = []

    def submit(self, _function: object, conn: TConn) -> Future[object]:
        self.given.append(conn)
        return Future()


@pytest.fixture
def worker() -> Iterator[WebWorker]:
    """Only what handling connections needs: no process, no listening socket."""
    made = WebWorker.__new__(WebWorker)
    made.tpool = Threads()
    made.poller = selectors.DefaultSelector()
    made.pending_conns, made.keepalived_conns, made.nr_conns = deque(), deque(), 0
    made.cfg = Config()
    for name in ("limit_request_line", "limit_request_fields", "limit_request_field_size"):
        made.cfg.set(name, getattr(gunicorn_conf, name))
    made.log = logging.getLogger("gunicorn.error")
    yield made
    made.poller.close()


@pytest.fixture
def connected(worker: WebWorker) -> Iterator[tuple[TConn, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield TConn(worker.cfg, ours, ("127.0.0.1", 1), ("127.0.0.1", 2)), theirs


def answered(worker: WebWorker, sent: bytes) -> tuple[int, dict[str, str], dict[str, object]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(sent)
        theirs.shutdown(socket.SHUT_WR)
        worker.handle(TConn(worker.cfg, ours, ("127.0.0.1", 1), ("127.0.0.1", 2)))
        ours.shutdown(socket.SHUT_WR)
        head, _, body = b"".join(iter(lambda: theirs.recv(65536), b"")).partition(b"\r\n\r\n")
    status, *fields = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, value in (field.split(": ", 1) for field in fields)}
    assert int(headers["content-length"]) == len(body)
    return int(status.split()[1]), headers, json.loads(body)


LONG_FIELD = b"Authorization: Bearer " + CANARY.encode() * 1000
MANY_FIELDS = b"\r\n".join(b"X-%d: %s" % (number, CANARY.encode()) for number in range(100))


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"GET /api/v1/memories?q=" + CANARY.encode() * 1000 + b" HTTP/1.1\r\n\r\n", 414, "uri_too_long"),
        (b"GET / HTTP/1.1\r\n" + LONG_FIELD + b"\r\n\r\n", 431, "header_fields_too_large"),
        (b"GET / HTTP/1.1\r\n" + MANY_FIELDS + b"\r\n\r\n", 431, "header_fields_too_large"),
        (CANARY.encode() + b"\r\n\r\n", 400, "bad_request"),
        (b"GET / HTTP/1.1\r\n" + CANARY.encode() + b"\r\n\r\n", 400, "bad_request"),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: " + CANARY.encode() + b"\r\n\r\n", 400, "bad_request"),
    ],
)
def test_a_request_that_cannot_be_read_gets_a_problem(worker, caplog, sent, status, code):
    got, headers, body = answered(worker, sent)
    assert (got, body["status"], body["code"]) == (status, status, code)
    assert headers["content-type"] == "application/problem+json"
    assert headers["connection"] == "close"
    assert headers["x-request-id"] == body["request_id"]
    assert {"type", "title", "detail"} <= body.keys()
    assert CANARY not in json.dumps([body, headers])
    assert "a request was refused" in caplog.text
    assert CANARY not in caplog.text


def test_a_fault_of_the_application_is_one_of_ours(worker, caplog):
    def broken(_environ, _start_response):
        raise RuntimeError(CANARY)

    worker.wsgi = broken
    status, _, body = answered(worker, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (status, body["code"]) == (500, "internal_error")
    assert CANARY not in json.dumps(body)
    assert CANARY not in caplog.text


def test_a_connection_takes_a_thread_only_when_something_is_said(worker, connected):
    conn, client = connected
    worker.enqueue_req(conn)
    worker.wait_for_and_dispatch_events(0)
    assert worker.tpool.given == []
    client.sendall(b"G")
    worker.wait_for_and_dispatch_events(0)
    assert worker.tpool.given == [conn]


def test_stopping_lets_a_connection_go_that_never_said_anything(worker, connected):
    conn, client = connected
    worker.enqueue_req(conn)
    worker.murder_pending()
    client.setblocking(False)
    with pytest.raises(BlockingIOError):
        client.recv(1)
    worker._let_idle_ones_go()
    worker.murder_pending()
    assert client.recv(1) == b""


def test_stopping_keeps_an_idle_connection_for_a_request_on_its_way_and_no_longer(worker, connected, monkeypatch):
    conn, client = connected
    now = time.monotonic()
    conn.set_timeout()
    worker.poller.register(conn.sock, selectors.EVENT_READ, None)
    worker.keepalived_conns.append(conn)
    worker._let_idle_ones_go()
    worker.murder_keepalived()
    assert list(worker.keepalived_conns) == [conn]
    monkeypatch.setattr(time, "monotonic", lambda: now + 1)
    worker.murder_keepalived()
    assert client.recv(1) == b""


def test_a_client_that_stops_in_the_middle_is_given_up(worker, connected, monkeypatch):
    conn, client = connected
    monkeypatch.setattr(web_worker, "_STALLED", struct.pack("ll", 0, 50_000))
    worker.enqueue_req(conn)
    client.sendall(b"GET / HT")
    worker.wait_for_and_dispatch_events(0)
    assert worker.handle(conn) is False
