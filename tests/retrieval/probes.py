"""How the endpoints of retrieval are called (tests/matrix.py)."""

from __future__ import annotations

from tests.matrix import Probe, probe
from tests.memories.probes import make_memory

QUESTION = {"task": "", "question": "Where does the lamp stand?"}


def make_trace(world, subject, project):
    make_memory(world, subject, project)
    answer = world.caller(subject).post("/memory-query", QUESTION | ({"project": project} if project else {}))
    assert answer.status_code == 200, answer.content
    return answer.json()["trace_id"]


probe("POST", "memory-query", Probe(body=QUESTION, statements=10))
probe("GET", "memory-traces/<str:trace_id>", Probe(make=make_trace, statements=7))
