"""The embedder behind any OpenAI-compatible embeddings server. Texts leave the machine, where a tenant says so (permission.py).

It asks with the client of the extractor of the same kind: one end in time for everything, a cap on the answer, no redirect, no
proxy. What comes back is numbers from a stranger: so many, of this dimension, finite, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

import orjson

from apps.core.canonical import sha256_hex
from apps.memories.extractors.base import Outage, Unusable
from apps.memories.extractors.openai_compatible import transport
from apps.memories.extractors.openai_compatible.server import Server
from apps.retrieval.semantic.embedders import MOST_DIMENSIONS, EmbedderError, Embedding, Threads, checked

KIND: Final = "openai_compatible"
_SUCCESS, _TOO_MANY = 200, 429
_BYTES_A_NUMBER = 40
_FRAME = 64 * 1024
_REST = 30.0  # seconds, for a server that is busy
_DIGITS = 12
_AT_ONCE = 8  # questions under way


@dataclass(frozen=True, slots=True)
class EmbeddingServer:
    """Where to ask and for what. ``near``: see Embedder; there is no distance that suits every model (RK-08)."""

    url: str
    model: str
    dimension: int
    near: int
    key: str = field(default="", repr=False)
    seconds: int = 30
    allow_http: bool = False
    text_bytes: int = 8000
    question_bytes: int = 2000

    def faults(self) -> Iterator[str]:
        """What is wrong with it, for the operator."""
        common = Server(url=self.url, model=self.model, key=self.key, seconds=self.seconds, allow_http=self.allow_http)
        yield from (fault.replace("OPENAI_COMPATIBLE_", "EMBEDDINGS_") for fault in common.faults())
        if not 1 <= self.dimension <= MOST_DIMENSIONS:
            yield f"EMBEDDINGS_DIMENSION must lie between 1 and {MOST_DIMENSIONS}."
        if not 0 <= self.near <= 2000:  # noqa: PLR2004 - the largest cosine distance, in permille
            yield "EMBEDDINGS_NEAR must lie between 0 and 2000."


class RemoteEmbedder:
    """One configured server and model."""

    outside = True

    def __init__(self, server: EmbeddingServer) -> None:
        self.server = server
        which = sha256_hex(f"{server.url}\n{server.model}\n{server.dimension}")[:_DIGITS]
        self.name = f"openai_compatible@{which}"
        self.dimension = server.dimension
        self.near = self.far = server.near  # nothing is known of how its vectors spread
        self._threads = Threads(_AT_ONCE)

    def passages(self, texts: Sequence[str]) -> list[Embedding]:
        return self._ask([_head(text, self.server.text_bytes) for text in texts], float(self.server.seconds))

    def question(self, text: str, *, seconds: float) -> Future[Embedding]:
        return self._threads.submit(lambda: self._ask([_tail(text, self.server.question_bytes)], seconds)[0])

    def _ask(self, texts: list[str], seconds: float) -> list[Embedding]:
        if not texts:
            return []
        headers = {"Content-Type": "application/json"}
        if self.server.key:
            headers["Authorization"] = f"Bearer {self.server.key}"
        body = orjson.dumps({"model": self.server.model, "input": texts, "encoding_format": "float"})
        try:
            answer = transport.post(
                self.server.url.rstrip("/") + "/embeddings",
                body,
                headers,
                seconds=seconds,
                most_bytes=_FRAME + len(texts) * self.dimension * _BYTES_A_NUMBER,
            )
        except Outage as trouble:
            raise EmbedderError(trouble.code, trouble.seconds) from None
        except Unusable as trouble:
            raise EmbedderError(trouble.code) from None
        if answer.status != _SUCCESS:
            busy = answer.status == _TOO_MANY
            raise EmbedderError("server_busy" if busy else "server_declined", _REST if busy else 0.0)
        return checked(_rows(answer.body), count=len(texts), dimension=self.dimension)


def _rows(body: bytes) -> list[list[object]]:
    """The vectors in the order of the texts, whatever order they came in. Raises EmbedderError."""
    try:
        given = orjson.loads(body)["data"]
        rows = {one["index"]: one["embedding"] for one in given}
        if (
            len(rows) != len(given)
            or rows.keys() != set(range(len(given)))
            or not all(isinstance(r, list) for r in rows.values())
        ):
            raise EmbedderError("answer_wrong_form")  # noqa: EM101 - a code
    except (ValueError, KeyError, TypeError):
        raise EmbedderError("answer_wrong_form") from None  # noqa: EM101
    return [rows[number] for number in range(len(rows))]


def _head(text: str, most_bytes: int) -> str:
    return text.encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")


def _tail(text: str, most_bytes: int) -> str:
    return text.encode("utf-8", "replace")[-most_bytes:].decode("utf-8", "ignore")
