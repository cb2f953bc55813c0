"""An embedder of tests: three meanings, each with words of its own, so that what is near is known beforehand. No model, no waiting."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from apps.retrieval.semantic import embedders
from apps.retrieval.semantic.embedders import EmbedderError, Embedding, Threads
from memory_platform.embedded.server import superuser_connection

# Words of one column mean alike; no word of one line stands in another, so that only meaning connects them.
MEANINGS = (
    ("feline", "kitten", "cat", "猫咪"),
    ("automobile", "car", "vehicle", "汽车"),
    ("dough", "bread", "bakery", "面包"),
    ("seaside", "harbour", "dock", "码头"),
)


class Fake:
    outside = False
    near = far = 200

    def __init__(self, name: str = "fake@1") -> None:
        self.name = name
        self.dimension = len(MEANINGS) + 1
        self.asked: list[str] = []
        self.read: list[str] = []
        self.trouble: EmbedderError | None = None
        self.gate: threading.Event | None = None  # a question waits for it
        self.between: list[object] = []  # called once, after texts were read and before they are stored
        self._threads = Threads(1)

    def vector(self, text: str) -> Embedding:
        told = [float(sum(word in text.lower() for word in words)) for words in MEANINGS]
        return embedders.checked([[*told, 0.0 if any(told) else 1.0]], count=1, dimension=self.dimension)[0]

    def passages(self, texts: Sequence[str]) -> list[Embedding]:
        if self.trouble is not None:
            raise self.trouble
        self.read += texts
        while self.between:
            self.between.pop()()
        return [self.vector(text) for text in texts]

    def question(self, text: str, *, seconds: float) -> Future[Embedding]:
        return self._threads.submit(lambda: self._question(text, seconds))

    def _question(self, text: str, seconds: float) -> Embedding:
        self.asked.append(text)
        if self.gate is not None:
            self.gate.wait(10)
        if self.trouble is not None:
            raise self.trouble
        return self.vector(text)


@contextmanager
def using(fake: Fake) -> Iterator[Fake]:
    """Let the deployment have chosen this one."""
    before = list(embedders._chosen)
    embedders._chosen[:] = [fake]
    try:
        yield fake
    finally:
        embedders._chosen[:] = before


def with_pgvector(server: object) -> None:
    """The extension in the database of this test process; only a superuser may add it, once."""
    name = connection.settings_dict["NAME"]
    held = server._held
    try:
        with superuser_connection(held.places, name) if held is not None else server.admin() as admin:
            if held is None:
                pytest.skip("the semantic lane is tested with the embedded database, which brings pgvector along")
            admin.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.errors.FeatureNotSupported:
        pytest.skip("this PostgreSQL has no pgvector")
    assert settings.SEMANTIC_EMBEDDER == ""
