"""Every endpoint refuses alike: nobody, no operation, other people, other projects, other tenants, revoked (design/08, ID-09)."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.matrix import endpoints, probe_of, ungoverned, unused_probes
from tests.tenants.world import OPERATIONS, Caller, World, face, problem

pytestmark = pytest.mark.django_db

ALL = endpoints()
PROBED = [one for one in ALL if probe_of(one) is not None]
OPEN = {"schema", "docs", "health/live", "health/ready", "metrics", "^"}  # everybody's, or guarded in another way
SLACK = 3  # so many fewer than the baseline, and the baseline has to follow
# said only because the test sits inside a transaction of its own
OF_THE_TEST = ("SAVEPOINT", "RELEASE SAVEPOINT", "SELECT set_config('role', 'none'")


@pytest.fixture
def world(db):
    return World("orchard")


@pytest.fixture
def elsewhere(world):
    return World("basin")


def test_every_endpoint_has_a_probe_and_every_probe_an_endpoint():
    assert [str(one) for one in ALL if probe_of(one) is None] == []
    assert unused_probes() == set()


def test_paths_outside_the_matrix_are_decisions():
    assert ungoverned() <= OPEN


@pytest.mark.requirement("ID-01")
def test_nobody_gets_in(world):
    for endpoint in ALL:
        body = {"anything": 1} if endpoint.method in ("POST", "PATCH") else None
        for token in (None, "mp_nobody", world.tokens["alice_agent/alice"][:-1] + "-"):
            problem(Caller(token).send(endpoint.method, endpoint.path(), body), 401, "not_authenticated")


def test_a_revoked_token_opens_nothing(world):
    made = world.host.post(
        "/delegations", {"subject": "alice", "projects": ["kiosk"], "operations": list(OPERATIONS), "session_id": "s"}
    ).json()
    assert world.host.delete(f"/delegations/{made['delegation_id']}").status_code == 204
    for endpoint in ALL:
        problem(Caller(made["token"]).send(endpoint.method, endpoint.path(), None), 401, "credential_revoked")


def test_without_the_operation_nothing_is_looked_at(world):
    """403 before the body is parsed or anything is read: the worst body and the oddest id change nothing."""
    for endpoint in ALL:
        if endpoint.needed:
            nothing_is_looked_at(world, endpoint)


def nothing_is_looked_at(world, endpoint):
    lacking = world.caller("alice", operations=[name for name in OPERATIONS if name not in endpoint.needed])
    for caller in (lacking, *([world.host] if "delegate" not in endpoint.needed else [])):
        with CaptureQueriesContext(connection) as seen:
            answer = caller.send(endpoint.method, endpoint.path("x" * 300), {"nonsense": 1} if endpoint.method != "GET" else None)
        problem(answer, 403, "operation_not_granted")
        assert not [
            one for one in seen if any(app in one["sql"] for app in ("memories_", "evidence_", "retrieval_", "retention_"))
        ]


@pytest.mark.requirement("ID-09")
@pytest.mark.parametrize("endpoint", [one for one in PROBED if one.has_object], ids=str)
def test_objects_of_others_are_like_objects_that_never_were(world, elsewhere, endpoint):
    probe = probe_of(endpoint)
    others = {
        "subject": lambda: probe.make(world, "bob", None),
        "project": lambda: probe.make(world, "bob", "lighthouse"),
        "tenant": lambda: probe.make(elsewhere, "alice", None),
    }
    ids = [others[kind]() for kind in probe.kinds]
    caller = probe.caller(world)
    answers = [probe.send(caller, endpoint, object_id) for object_id in (*ids, "unknown-1", ids[0][:4] + "0" * 26)]
    problem(answers[0], 404, "not_found")
    assert len({face(answer) for answer in answers}) == 1, [answer.content for answer in answers]


@pytest.mark.requirement("ID-02", "ID-14")
@pytest.mark.parametrize("endpoint", [one for one in PROBED if probe_of(one).scoped], ids=str)
def test_a_scope_beyond_the_caller_is_like_one_that_never_was(world, elsewhere, endpoint):
    probe = probe_of(endpoint)
    scopes = [("user", "bob"), ("user", "nobody"), ("project", "lighthouse"), ("project", "nowhere"), ("organization", "basin")]
    answers = [probe.send(probe.caller(world), endpoint, scope=scope, scope_id=scope_id) for scope, scope_id in scopes]
    problem(answers[0], 404, "not_found")
    assert len({face(answer) for answer in answers}) == 1, [answer.content for answer in answers]


@pytest.mark.parametrize("endpoint", PROBED, ids=str)
def test_a_good_call_works_and_costs_what_it_did(world, endpoint):
    """A baseline of statements: more is a new cost on every request, far fewer a reason to lower the number in probes.py."""
    probe = probe_of(endpoint)
    caller = probe.caller(world)
    ids = [probe.make(world, "alice", None) if probe.make else "" for _ in range(2)]
    probe.send(caller, endpoint, ids[0])  # what is done once per process or credential is done now
    with CaptureQueriesContext(connection) as seen:
        answer = probe.send(caller, endpoint, ids[1])
    assert answer.status_code == probe.success, answer.content
    said = [" ".join(one["sql"].split())[:160] for one in seen]
    said = [text for text in said if not text.startswith(OF_THE_TEST)]
    assert probe.statements - SLACK < len(said) <= probe.statements, "\n".join(
        [f"{len(said)} statements, expected {probe.statements}", *said]
    )
