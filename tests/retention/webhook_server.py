"""A downstream system of a test: it answers as it is told to, well or badly, and remembers what it was sent."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class WebhookServer:
    """``behaviours`` are used up one by one; the last one stays."""

    listener: socket.socket
    behaviours: list[Callable[[socket.socket], None]] = field(default_factory=list)
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/hooks?from=here"

    def does(self, *behaviours: Callable[[socket.socket], None]) -> None:
        self.behaviours[:] = behaviours

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.settimeout(10)
                self.received.append(_read(connection))
                (self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0])(connection)

    # -- what it can do

    def says(self, status: int, headers: str = "", body: bytes = b"") -> Callable[[socket.socket], None]:
        return lambda to: to.sendall(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body)

    def is_silent(self, _to: socket.socket) -> None:
        self.released.wait(10)

    def trickles(self, to: socket.socket) -> None:
        to.sendall(b"HTTP/1.1 ")
        while not self.released.wait(0.05):
            to.sendall(b"x")

    def floods(self, to: socket.socket) -> None:
        to.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:  # until nobody reads any more
            to.sendall(b"x" * 65536)

    def pours_headers(self, to: socket.socket) -> None:
        to.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            to.sendall(b"X-More: " + b"x" * 1000 + b"\r\n")

    def hangs_up(self, _to: socket.socket) -> None:
        """Before it says anything."""

    def talks_nonsense(self, to: socket.socket) -> None:
        to.sendall(b"+OK ready\r\n\r\n")


def _read(connection: socket.socket) -> tuple[dict[str, str], bytes]:
    with connection.makefile("rb") as lines:
        line = lines.readline()
        headers = {":line": line.decode().strip()}
        while (header := lines.readline()) not in (b"\r\n", b""):
            name, _, value = header.decode().partition(":")
            headers[name.strip().lower()] = value.strip()
        return headers, lines.read(int(headers.get("content-length", 0)))


@contextmanager
def webhook_server() -> Iterator[WebhookServer]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = WebhookServer(listener)
        server.does(server.says(204))
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            yield server
        finally:
            server.released.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(timeout=20)
