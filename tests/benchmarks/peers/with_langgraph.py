"""LangGraph's PostgresStore with vector search: its own batch of puts, its own search. Run by the python of its environment."""

from __future__ import annotations

import sys
from importlib.metadata import version

from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore
from stub import DIMENSIONS, TOP, embed, run

PLACE = ("bench",)
BATCH = 500


def main() -> None:
    """Fill and ask."""
    index = {"dims": DIMENSIONS, "embed": lambda texts: [embed(text) for text in texts], "fields": ["text"]}
    with PostgresStore.from_conn_string(sys.argv[1], index=index) as store:
        store.setup()

        def fill(texts):
            for start in range(0, len(texts), BATCH):
                chunk = texts[start : start + BATCH]
                store.batch([PutOp(PLACE, str(start + place), {"text": text}) for place, text in enumerate(chunk)])

        run(
            version("langgraph-checkpoint-postgres"),
            fill,
            lambda question: [item.value["text"] for item in store.search(PLACE, query=question, limit=TOP)],
        )


if __name__ == "__main__":
    main()
