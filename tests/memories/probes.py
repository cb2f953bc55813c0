"""How the endpoints of candidates, memories and conflicts are called (tests/matrix.py)."""

from __future__ import annotations

from uuid import uuid4

from tests.evidence.probes import make_event, placed
from tests.matrix import Probe, probe


def new_candidate(**changes):
    return {
        "candidate_id": f"cand-{uuid4().hex}",
        "scope": "user",
        "memory_type": "fact",
        "fact_key": f"lamp.{uuid4().hex}",
        "content": "The lamp stands by the door",
        "epistemic_status": "explicit",
        "valid_from": "2024-01-01T00:00:00Z",
        "retention_class": "engineering_knowledge",
    } | changes


def propose(world, subject, project, **changes):
    said_so = project is None and "epistemic_status" not in changes  # what somebody says about themself needs no source
    sources = [] if said_so else [make_event(world, subject, project)]
    answer = world.caller(subject).post(
        "/memory-candidates", new_candidate(source_event_ids=sources, **placed(project), **changes)
    )
    assert answer.status_code == 201, answer.content
    return answer.json()


def make_candidate(world, subject, project):
    return propose(world, subject, project)["candidate_id"]


def make_waiting(world, subject, project):
    """A candidate that nobody has decided on: what is to live in Git waits for its review."""
    made = propose(world, subject, project, authority="git")
    assert made["status"] == "pending_review", made
    return made["candidate_id"]


def make_memory(world, subject, project):
    made = propose(world, subject, project)
    assert made["status"] == "committed", made
    return made["memory_id"]


def make_conflict(world, subject, project):
    """Two statements under one key that nobody dated."""
    key = f"lamp.{uuid4().hex}"
    propose(world, subject, project, fact_key=key, valid_from=None)
    made = propose(world, subject, project, fact_key=key, valid_from=None, content="The lamp stands by the window")
    assert made["status"] == "conflict", made
    return made["conflict_id"]


def promotion():
    return {"target": "organization", "rationale": "useful for all", "expected_version": 1}


def make_promotion(world, subject, project):
    answer = world.caller(subject).post(f"/memories/{make_memory(world, subject, project)}/promotions", promotion())
    assert answer.status_code == 202, answer.content
    return answer.json()["promotion_id"]


def change():
    return {"content": f"The lamp moved {uuid4().hex}", "reason": "moved", "expected_version": 1}


def deletion_query():
    return f"?deletion_request_id=del-{uuid4().hex}&reason=gone"


probe("POST", "memory-candidates", Probe(body=new_candidate, scoped=True, success=201, statements=23))
probe("GET", "memory-candidates", Probe(statements=7))
probe("GET", "memory-candidates/<str:candidate_id>", Probe(make=make_candidate, statements=9))
probe("POST", "memory-candidates/<str:candidate_id>/withdraw", Probe(make=make_waiting, body={}, statements=9))
probe("GET", "memories", Probe(statements=7))
probe("GET", "memories/<str:memory_id>", Probe(make=make_memory, statements=11))
probe("GET", "memories/<str:memory_id>/versions", Probe(make=make_memory, statements=10))
probe("PATCH", "memories/<str:memory_id>", Probe(make=make_memory, body=change, statements=28))
probe(
    "POST",
    "memories/<str:memory_id>/confirm",
    Probe(make=make_memory, body={"observed_at": "2024-02-01T00:00:00Z"}, statements=27),
)
probe(
    "POST",
    "memories/<str:memory_id>/withdraw",
    Probe(make=make_memory, body={"expected_version": 1, "reason": "wrong"}, statements=28),
)
probe("DELETE", "memories/<str:memory_id>", Probe(make=make_memory, query=deletion_query, success=202, statements=41))
probe(
    "POST",
    "memories/<str:memory_id>/promotions",
    Probe(make=make_memory, body=promotion, success=202, statements=14),
)
probe("GET", "memory-promotions/<str:promotion_id>", Probe(make=make_promotion, statements=10))
probe("GET", "memory-conflicts", Probe(statements=7))
probe("GET", "memory-conflicts/<str:conflict_id>", Probe(make=make_conflict, statements=15))
probe(
    "POST",
    "memory-conflicts/<str:conflict_id>/resolutions",
    Probe(
        make=make_conflict,
        body={"outcome": "withdraw_all", "expected_members": ["mem_0"], "reason": "x"},
        success=409,
        statements=16,
    ),
)
