"""Every operation of the schema, asked with what the schema allows and with what it forbids, through the WSGI application.

An answer must be one that the schema describes: a status it names, a body of that shape, never a fault of the server; and what the
schema forbids is refused. Paths name things that exist as well as made-up ones, so that the verbs are reached. The examples are the
same in every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import one_of
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from memory_platform.wsgi import application
from tests.tenants.world import API, World

pytestmark = pytest.mark.slow

DOCUMENT = schemathesis.openapi.from_wsgi(f"{API}/schema", application)
OPERATIONS = [one.ok() for one in DOCUMENT.get_all_operations()]
EXAMPLES = 15  # for each operation
GONE = 410
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture
def world(db: None) -> World:
    return World("orchard")


@pytest.fixture
def known(world: World) -> dict[str, str]:
    """A value for every path parameter that names something of alice's."""
    alice = world.alice
    event = alice.post(
        "/memory-events",
        {
            "event_id": "evt-1",
            "scope": "user",
            "source_type": "user_message",
            "occurred_at": "2026-01-05T10:00:00Z",
            "content": "I prefer short answers.",
        },
    )
    assert event.status_code == 202, event.content
    proposed = alice.post(
        "/memory-candidates",
        {
            "candidate_id": "can-1",
            "scope": "user",
            "memory_type": "preference",
            "fact_key": "answer.length",
            "content": "Short answers are preferred.",
            "epistemic_status": "explicit",
        },
    ).json()
    asked = alice.post("/memory-query", {"question": "Which answers are preferred?"}).json()
    gone = alice.post("/memory-deletions", {"deletion_request_id": "del-1", "target": {"kind": "event", "id": "evt-1"}}).json()
    lent = world.host.post("/delegations", {"subject": "alice", "operations": ["memory:read"], "session_id": "s-2"}).json()
    return {
        "event_id": "evt-1",
        "candidate_id": "can-1",
        "memory_id": proposed["memory_id"],
        "trace_id": asked["trace_id"],
        "job_id": gone["job_id"],
        "delegation_id": lent["delegation_id"],
    }


@pytest.fixture(autouse=True)
def _one_connection(known: dict[str, str]) -> Iterator[None]:
    """What a server does between requests would end the transaction of the test. Django's test client leaves it out too, and
    brings it back after each request, so this comes after the last of those.
    """
    signals = (request_started, request_finished)
    for one in signals:
        one.disconnect(close_old_connections)
    yield
    for one in signals:
        one.connect(close_old_connections)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.label)
def test_every_answer_is_one_of_the_schema(world: World, known: dict[str, str], operation: Any):
    host = operation.path.startswith(f"{API}/delegations")
    sent = {"Authorization": f"Bearer {world.tokens['assistant/host'] if host else world.token('alice')}"}

    def ask(case: Any) -> None:
        answer = case.call(headers=sent)
        # Existence comes before what else is wrong with a request, and a batch answers for each of its items.
        other = answer.status_code == GONE or operation.path.endswith("/batch")
        case.validate_response(answer, checks=CHECKS if other else [*CHECKS, negative_data_rejection])

    settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )(given(case=_cases(operation, known))(ask))()


def _cases(operation: Any, known: dict[str, str]) -> Any:
    """Allowed and forbidden requests; to a path with an id, half of them name something that exists."""
    named = {name: known[name] for name in known if f"{{{name}}}" in operation.path}
    paths = [{}, {"path_parameters": named}] if named else [{}]
    return one_of([operation.as_strategy(generation_mode=mode, **path) for mode in GenerationMode for path in paths])
