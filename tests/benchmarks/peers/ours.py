"""This project in the comparison: the whole query with triage, authority, rules and trace, in process and over HTTP."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tests.benchmarks.peers.stub import TOP, measured

if TYPE_CHECKING:
    from pathlib import Path

ROOM = 200_000
DOCUMENT = """
tenants:
  - key: KEY
    subjects: [{key: reader, projects: []}]
    agents:
      - key: agent
        credentials: [{name: reader, subject: reader, operations: ["memory:read", "traces:read"]}]
"""


def filled(key: str, rows: int, seed: int) -> tuple[str, float]:
    """A tenant of its own with the texts of this seed in one person's namespace; returns its token and the seconds it took."""
    from apps.tenants.provisioning import provision
    from tests.benchmarks import world

    done = provision(DOCUMENT.replace("KEY", key))[key]
    place = world.place_of(key, "user", "reader")
    begun = time.perf_counter()
    world.fill(place, rows, seed=seed)
    world.analyse()
    return done.credentials["agent/reader"], time.perf_counter() - begun


def in_process(token: str, data: dict[str, Any]) -> dict[str, float]:
    """The verb that the endpoint calls."""
    from apps.retrieval.context import Budget
    from apps.retrieval.pipeline import answer_query
    from apps.retrieval.question import Question
    from apps.tenants.authentication import authenticate

    access = authenticate(token)

    def search(question: str) -> list[str]:
        packet = answer_query(access, Question(question=question, max_items=TOP, budget=Budget(limit=ROOM)))
        return [item.content for item in packet.items]

    return measured(data["texts"], data["asked"], search)


def over_http(home: Path, token: str, data: dict[str, Any]) -> dict[str, float]:
    """The same through ``manage.py serve`` on one kept-open connection."""
    from tests.benchmarks.client import Caller
    from tests.benchmarks.processes import served

    with served(home, "--no-worker") as copy:
        caller = Caller(copy.address, token)

        def search(question: str) -> list[str]:
            body = {"question": question, "max_items": TOP, "budget": {"limit": ROOM}}
            return [item["content"] for item in caller.post("/memory-query", body)["items"]]

        return measured(data["texts"], data["asked"], search)
