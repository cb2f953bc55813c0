"""mem0 with pgvector, in process: rows as ``add(infer=False)`` leaves them, written in batches; its own search."""

from __future__ import annotations

import os
import sys
import tempfile
import uuid
from importlib.metadata import version
from pathlib import Path

os.environ["MEM0_TELEMETRY"] = "False"
os.environ["MEM0_DIR"] = tempfile.mkdtemp()

from mem0 import Memory
from stub import DIMENSIONS, TOP, embed, run

WHO = "bench"
BATCH = 500


class Embedder:
    """The stub in the shape mem0 wants."""

    def embed(self, text, memory_action=None):
        return embed(text)

    def embed_batch(self, texts, memory_action=None):
        return [embed(text) for text in texts]


def main() -> None:
    """Fill and ask."""
    nobody = {"api_key": "none", "openai_base_url": "http://127.0.0.1:9"}  # made, and never called: infer=False
    memory = Memory.from_config(
        {
            "vector_store": {
                "provider": "pgvector",
                "config": {
                    "connection_string": sys.argv[1],
                    "collection_name": "bench",
                    "embedding_model_dims": DIMENSIONS,
                    "hnsw": True,
                },
            },
            "embedder": {"provider": "openai", "config": {**nobody, "embedding_dims": DIMENSIONS}},
            "llm": {"provider": "openai", "config": nobody},
            "history_db_path": str(Path(os.environ["MEM0_DIR"]) / "history.db"),
        }
    )
    memory.embedding_model = Embedder()
    memory.add("the first one through the front door", user_id=WHO, infer=False)
    (first,) = memory.get_all(filters={"user_id": WHO})["results"]
    shape = memory.vector_store.get(first["id"]).payload

    def fill(texts):
        for start in range(0, len(texts), BATCH):
            chunk = texts[start : start + BATCH]
            memory.vector_store.insert(
                vectors=[embed(text) for text in chunk],
                payloads=[
                    {**shape, "data": text, **({"text_lemmatized": text} if "text_lemmatized" in shape else {})} for text in chunk
                ],
                ids=[str(uuid.uuid4()) for _ in chunk],
            )

    def search(question):
        return [row["memory"] for row in memory.search(question, top_k=TOP, filters={"user_id": WHO}, threshold=0.0)["results"]]

    run(version("mem0ai"), fill, search)


if __name__ == "__main__":
    main()
