"""A connection to a server that is not trusted: an end in time for everything that is done with it, and a choice of addresses.

The standard library's client does nothing by itself: it follows no redirect, asks no proxy of the environment, unpacks nothing
and keeps no connection. What it lacks is an end: a server that sends a byte now and then would keep it for ever. So every read
gets what is left of the time; only the look-up of a name ends when the system's resolver gives up.
"""

from __future__ import annotations

import io
import socket
import ssl
from functools import cache
from typing import TYPE_CHECKING

from apps.core import clock

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_ADDRESSES = 4


class AddressRefusedError(Exception):
    """The name leads to an address that must not be spoken to."""


class Line:
    """What the client needs of a socket, with one end for everything that is done with it."""

    def __init__(self, until: float) -> None:
        self._until = until
        self._socket: socket.socket | None = None

    def connect(self, host: str, port: int, *, tls: bool, permits: Callable[[str], bool] | None = None) -> None:
        """Connect to one of the addresses of a name. The name is looked up once: what was permitted is what is spoken to.

        Raises OSError, and AddressRefusedError when ``permits`` refuses any of them: a name that also leads inside is no good.
        """
        trouble: OSError = OSError()
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        if permits is not None and not all(permits(str(address[0])) for *_, address in found):
            raise AddressRefusedError
        for family, kind, protocol, _, address in found[:_MOST_ADDRESSES]:
            self._socket = socket.socket(family, kind, protocol)
            try:
                self._ready().connect(address)
            except OSError as refused:
                trouble = refused
                self.hang_up()
                continue
            if tls:
                self._socket = tls_context().wrap_socket(self._ready(), server_hostname=host)
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
    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the buffered reader passes one
        return self._line.receive(buffer)


@cache
def tls_context() -> ssl.SSLContext:
    """Certificates of the system, names checked."""
    return ssl.create_default_context()
