"""A chat-completions server of a test: it answers as it is told to, and remembers what it was asked."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from apps.memories.extractors.openai_compatible.server import Server

KEY = "sk-proj-" + "Zk3rQ8vNw1" * 4
Behaviour = Callable[[socket.socket], None]


@dataclass(frozen=True)
class Asked:
    """One request."""

    line: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def said(self) -> dict[str, Any]:
        """What stands in the user message."""
        return json.loads(self.body["messages"][1]["content"])


@dataclass
class ModelServer:
    """`behaviours` are used up one by one; the last one stays."""

    listener: socket.socket
    behaviours: list[Behaviour] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    open: list[socket.socket] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"

    def server(self, **fields: Any) -> Server:
        return Server(**{"url": self.url, "model": "small-1", "key": KEY, "seconds": 5, "options": {"temperature": 0}, **fields})

    def does(self, *behaviours: Behaviour) -> None:
        self.behaviours[:] = behaviours

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.settimeout(20)
            self.open.append(connection)
            thread = threading.Thread(target=self._answer, args=(connection,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def _answer(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            self.asked.append(_read(connection))
            behaviour = self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]
            behaviour(connection)


@contextmanager
def model_server() -> Iterator[ModelServer]:
    listener = socket.create_server(("127.0.0.1", 0))
    made = ModelServer(listener)
    thread = threading.Thread(target=made.serve, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in made.open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for one in (thread, *made.threads):
            one.join(10)


def _read(connection: socket.socket) -> Asked:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, body = data.split(b"\r\n\r\n", 1)
    line, *rest = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, value in (one.split(":", 1) for one in rest)}
    while len(body) < int(headers["content-length"]):
        body += connection.recv(65536)
    return Asked(line, headers, json.loads(body))


# -- behaviours


def answers(
    body: object, status: str = "200 OK", headers: dict[str, str] | None = None, *, announced: int | None = None
) -> Behaviour:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    def behave(connection: socket.socket) -> None:
        lines = {"Content-Type": "application/json", "Content-Length": str(announced or len(data)), **(headers or {})}
        head = f"HTTP/1.1 {status}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
        connection.sendall(head.encode() + data)

    return behave


def envelope(content: object, finish_reason: str = "stop") -> dict[str, Any]:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}]}


def memory(quote: str, **fields: object) -> dict[str, Any]:
    return {
        "quote": quote,
        "kind": "fact",
        "key": "other",
        "subject": "garden shed",
        "standing": "said",
        "reason": None,
        "about_the_speaker": True,
        "only_for_this_task": False,
        **fields,
    }


def proposes(*memories: object) -> Behaviour:
    return answers(envelope({"memories": list(memories)}))


def hangs(connection: socket.socket) -> None:
    """Never answers; ends when the other side hangs up."""
    connection.recv(1)


def drips(connection: socket.socket) -> None:
    """A byte of a header now and then, for ever."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    pause = threading.Event()
    while True:
        pause.wait(0.05)
        connection.sendall(b"x")


def hangs_up(connection: socket.socket) -> None:
    connection.shutdown(socket.SHUT_RDWR)


def floods(connection: socket.socket) -> None:
    """An answer without an announced length and without an end."""
    connection.sendall(b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"choices":[')
    while True:
        connection.sendall(b" " * 65536)


def cuts_off_chunks(connection: socket.socket) -> None:
    connection.sendall(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n{"choices":[{"messag\r\n40\r\n{"con')
    connection.shutdown(socket.SHUT_RDWR)


def speaks_no_http(connection: socket.socket) -> None:
    connection.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")
    connection.shutdown(socket.SHUT_RDWR)
