"""memnos, in process and through its own server (vector, full text and fusion; no reranker, no language model)."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version

os.environ["MEMNOS_RERANK"] = "0"  # a cross-encoder is a model, and none of the others has one

from stub import DIMENSIONS, TOP, again, embed, run

PLACE = "bench"
START_SECONDS = 120


def main() -> None:
    """Fill and ask in process, then ask the server."""
    from core.control import Control
    from core.service import MemnosMemory
    from core.store import BrainStore

    dsn = sys.argv[1]
    store = BrainStore(dsn)
    Control.init(store.conn)
    memory = MemnosMemory(store, embed, dim=DIMENSIONS, ensure_schema=True, redact=False)
    at = datetime(2026, 1, 1, tzinfo=UTC)

    def fill(texts):
        with store.conn.transaction():
            for text in texts:
                store.insert_raw_turn(memory.schema, PLACE, "s", "user", text, at, embed(text))

    run(version("memnos"), fill, lambda question: _texts(memory.recall(PLACE, question)))
    reader = Control.create_principal(store.conn, "reader", "service")
    Control.grant(store.conn, reader, PLACE)
    _over_http(dsn, Control.mint_token(store.conn, reader))


def _texts(rows) -> list[str]:
    return [str(row.get("content")) for row in rows[:TOP]]


def _over_http(dsn: str, token: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, __file__, "serve", str(port)],
        env={**os.environ, "MEMNOS_DSN": dsn},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        connection = _connected(port)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

        def search(question):
            connection.request("POST", "/recall", json.dumps({"namespace": PLACE, "query": question}), headers)
            answer = connection.getresponse()
            said = answer.read()
            if answer.status != 200:
                raise RuntimeError(said[:200])
            return _texts(json.loads(said)["memories"])

        again(version("memnos"), search)
    finally:
        server.terminate()
        server.wait(20)


def _connected(port: int) -> http.client.HTTPConnection:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.connect()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return connection


def serve(port: int) -> None:
    """Their server with the stub in the place of the model."""
    import memnos_server
    from core import local_models

    local_models.embed = embed
    memnos_server.serve(port)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    else:
        main()
