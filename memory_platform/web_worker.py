"""The process that answers requests: gunicorn's threads, with refusals of ours and a quick, orderly end."""

from __future__ import annotations

import os
import selectors
import socket
import struct
import sys
import time
from contextlib import suppress
from functools import partial
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from gunicorn import util
from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine, ParseException
from gunicorn.workers.gthread import ThreadWorker

if TYPE_CHECKING:
    from apps.core.errors import DomainError

# How long a connection on which nothing is going on stays open after the signal, for a request that is on its way.
_LINGER = 0.5
# Seconds without a single byte after which a client that has begun to send or to receive is given up: it holds a thread.
_STALLED = struct.pack("ll", 30, 0)


class WebWorker(ThreadWorker):  # type: ignore[misc]
    # -- connections

    def enqueue_req(self, conn: Any) -> None:  # noqa: ANN401 - gunicorn has no types
        """A new connection waits for its first byte in the selector. A thread would wait five seconds, and there are few."""
        if conn.initialized or conn.data_ready:
            super().enqueue_req(conn)
            return
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _STALLED)
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _STALLED)
        conn.sock.setblocking(False)
        conn.set_timeout()
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))

    # -- the end

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM: requests in hand are answered (graceful_timeout), idle connections are not waited for."""
        super().handle_exit(sig, frame)
        self.method_queue.defer(self._let_idle_ones_go)

    def _let_idle_ones_go(self) -> None:
        soon = time.monotonic() + _LINGER
        for conn in self.keepalived_conns:
            conn.timeout = min(conn.timeout, soon)
        for conn in self.pending_conns:
            conn.timeout = 0.0  # never said anything

    def run(self) -> None:
        super().run()
        # The interpreter would join the threads whose time is over, and look through every object. Transactions roll back.
        sys.stderr.flush()
        os._exit(0)

    # -- requests that never reach the application

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:  # noqa: ANN401, ARG002
        """A problem document instead of gunicorn's page, and a line without the request: both it and its errors quote text."""
        error = _as_domain_error(exc)
        self.log.warning(f"a request was refused ({type(exc).__name__})")  # noqa: G004 - of gunicorn's lines only the text is kept
        with suppress(OSError):
            util.write_nonblock(client, _answer(error))


def _as_domain_error(exc: BaseException) -> DomainError:
    from apps.core import errors  # noqa: PLC0415 - the application is loaded by now; gunicorn's parent process goes without

    if isinstance(exc, LimitRequestLine):
        return errors.UriTooLong()
    if isinstance(exc, LimitRequestHeaders):
        return errors.HeaderFieldsTooLarge()
    # Broken chunks of a body are OSErrors, everything else about a request that cannot be read is a ParseException.
    return errors.BadRequest() if isinstance(exc, ParseException | OSError) else errors.InternalError()


def _answer(error: DomainError) -> bytes:
    from apps.core.api import problems, request_ids  # noqa: PLC0415 - see above

    request = SimpleNamespace()  # what was sent is no request; it gets an id all the same
    request_ids.end(request_ids.begin(request))
    response = problems.problem(error, request)
    fields = {
        **response.headers,
        request_ids.HEADER: request.request_id,
        "Content-Length": len(response.content),
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Connection": "close",
    }
    head = [f"HTTP/1.1 {response.status_code} {response.reason_phrase}", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + response.content
