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


def make_packed(world, subject, project):
    """A trace whose packet held a memory, the same one as long as the world stays: a body cannot know which trace it is for."""
    made = world.caller(subject).post("/memory-query", QUESTION | ({"project": project} if project else {})).json()
    trace_id = made["trace_id"] if made["items"] else make_trace(world, subject, project)
    (_reported["memory_id"],) = {
        one["memory_id"] for one in world.caller(subject).get(f"/memory-traces/{trace_id}").json()["chosen"]
    }
    return trace_id


def adoptions():
    return {"adopted": [{"memory_id": _reported["memory_id"], "version": 1, "used": True, "reason": "it said where"}]}


_reported = {"memory_id": ""}

probe("POST", "memory-query", Probe(body=QUESTION, statements=11))
probe("GET", "memory-traces/<str:trace_id>", Probe(make=make_trace, statements=9))
probe("POST", "memory-traces/<str:trace_id>/adoptions", Probe(make=make_packed, body=adoptions, statements=12))
