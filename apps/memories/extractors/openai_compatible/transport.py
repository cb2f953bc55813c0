"""One POST to a server that is not trusted: an end in time whatever it does, a cap on what it may answer, no redirects.

The standard library's client, because it does nothing by itself: it follows no redirect (the key would go along), asks no proxy
of the environment, unpacks nothing and keeps no connection. What it lacks is an end: a server that sends a byte now and then
would keep it for ever. So every read gets what is left of the time; only the look-up of its name ends when the system's resolver
gives up.
"""

from __future__ import annotations

import io
import socket
import ssl
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from apps.core import clock
from apps.memories.extractors.base import Outage, Unusable

if TYPE_CHECKING:
    from collections.abc import Mapping

_AT_ONCE = 64 * 1024
_MOST_ADDRESSES = 4
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said; ``retry_after`` as it stood there."""

    status: int
    body: bytes
    retry_after: str | None


def post(url: str, body: bytes, headers: Mapping[str, str], *, seconds: float, most_bytes: int) -> Answer:
    """Send a request and read its answer, all within ``seconds``.

    Raises Outage (no connection, no answer in time) and Unusable (too large, cut off, packed, no HTTP).
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    line = _Line(clock.monotonic() + seconds)
    try:
        line.connect(host, port, tls=parts.scheme == "https")
        connection = HTTPSConnection(host, port, context=_tls()) if parts.scheme == "https" else HTTPConnection(host, port)
        connection.sock = cast("socket.socket", line)
        connection.request("POST", parts.path or "/", body, {"Accept-Encoding": "identity", "Connection": "close", **headers})
        return _read(connection.getresponse(), most_bytes)
    except TimeoutError:
        raise Outage("server_timeout") from None  # noqa: EM101 - codes
    except ssl.SSLError:
        raise Outage("server_tls") from None  # noqa: EM101
    except OSError:
        raise Outage("server_unreachable") from None  # noqa: EM101
    except (HTTPException, ValueError):
        raise Unusable("answer_no_http") from None  # noqa: EM101
    finally:
        line.hang_up()


def _read(response: HTTPResponse, most_bytes: int) -> Answer:
    answer = Answer(response.status, b"", response.getheader("Retry-After"))
    if response.status != 200:  # noqa: PLR2004 - only a success is read: what stands in an error may quote the request
        return answer
    if response.getheader("Content-Encoding", "identity").lower() != "identity":
        raise Unusable("answer_packed")  # noqa: EM101 - asked for plain; a packed one may unfold to anything
    if response.length is not None and response.length > most_bytes:
        raise Unusable("answer_too_large")  # noqa: EM101
    found = bytearray()
    try:
        while chunk := response.read(min(_AT_ONCE, most_bytes + 1 - len(found))):
            found += chunk
            if len(found) > most_bytes:
                raise Unusable("answer_too_large")  # noqa: EM101
    except (HTTPException, ConnectionError):
        raise Unusable("answer_cut_off") from None  # noqa: EM101
    if response.length:  # more was announced
        raise Unusable("answer_cut_off")  # noqa: EM101
    return Answer(answer.status, bytes(found), answer.retry_after)


class _Line:
    """What the client needs of a socket, with one end for everything that is done with it."""

    def __init__(self, until: float) -> None:
        self._until = until
        self._socket: socket.socket | None = None

    def connect(self, host: str, port: int, *, tls: bool) -> None:
        trouble: OSError = OSError()
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[:_MOST_ADDRESSES]:
            self._socket = socket.socket(family, kind, protocol)
            try:
                self._ready().connect(address)
            except OSError as refused:
                trouble = refused
                self.hang_up()
                continue
            if tls:
                self._socket = _tls().wrap_socket(self._ready(), server_hostname=host)
            return
        raise trouble

    def sendall(self, data: bytes) -> None:
        self._ready().sendall(data)

    def receive(self, into: memoryview) -> int:
        return self._ready().recv_into(into)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Stream(self))

    def close(self) -> None:
        """The client lets go while its answer is still being read; `hang_up` ends it."""

    def hang_up(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _ready(self) -> socket.socket:
        """The socket with what is left of the time. Raises TimeoutError."""
        left = self._until - clock.monotonic()
        if left <= 0 or self._socket is None:
            raise TimeoutError
        self._socket.settimeout(left)
        return self._socket


class _Stream(io.RawIOBase):
    def __init__(self, line: _Line) -> None:
        super().__init__()
        self._line = line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the buffered reader passes one
        return self._line.receive(buffer)


@cache
def _tls() -> ssl.SSLContext:
    """Certificates of the system, names checked."""
    return ssl.create_default_context()
