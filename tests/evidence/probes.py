"""How the endpoints of events are called (tests/matrix.py)."""

from __future__ import annotations

from uuid import uuid4

from tests.matrix import Probe, probe


def new_event(**changes):
    return {
        "event_id": f"evt-{uuid4().hex}",
        "scope": "user",
        "session_id": "s-1",
        "source_type": "user_message",
        "occurred_at": "2024-01-01T08:00:00Z",
        "content": "The lamp stands by the door",
        "retention_class": "conversation",
    } | changes


def placed(project):
    """Scope fields for a project, or for the user's own scope."""
    return {"scope": "project", "scope_id": project} if project else {"scope": "user"}


def make_event(world, subject, project):
    answer = world.caller(subject).post("/memory-events", new_event(**placed(project)))
    assert answer.status_code == 202, answer.content
    return answer.json()["event_id"]


probe("POST", "memory-events", Probe(body=new_event, scoped=True, success=202, statements=13))
probe("POST", "memory-events/batch", Probe(body=lambda: {"events": [new_event(), new_event()]}, statements=14))
probe("GET", "memory-events/<str:event_id>", Probe(make=make_event, statements=11))
