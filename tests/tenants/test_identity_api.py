"""whoami and delegations over HTTP (design/06 Identity)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from apps.core.limits import LIMITS
from apps.tenants.models import Delegation, IdempotencyKey
from tests.tenants.world import OPERATIONS, Caller, face, problem

pytestmark = pytest.mark.django_db


def ask(world, **changes):
    body = {"subject": "alice", "projects": ["kiosk"], "operations": ["memory:read"], "session_id": "s-1", "ttl_seconds": 60}
    return world.host.post("/delegations", {name: value for name, value in (body | changes).items() if value is not ...})


@pytest.mark.requirement("ID-01")
def test_whoami(world):
    answer = world.bob.get("/whoami")
    assert answer.status_code == 200
    me = answer.json()
    assert {name: me[name] for name in ("tenant", "agent", "subject", "session", "projects")} == {
        "tenant": "orchard",
        "agent": "assistant",
        "subject": "bob",
        "session": "s-1",
        "projects": ["kiosk", "lighthouse"],
    }
    assert me["operations"] == sorted(OPERATIONS)
    assert me["namespaces"][0] == {"scope": "user", "scope_id": "bob", "read": True, "write": True}
    assert me["namespaces"][-1] == {"scope": "organization", "scope_id": "orchard", "read": True, "write": False}
    assert me["limits"]["content_bytes"] == LIMITS.content_bytes
    assert "RateLimit" in answer.headers


def test_whoami_of_a_host(world):
    me = world.host.get("/whoami").json()
    assert (me["subject"], me["session"], me["namespaces"]) == (None, None, [])
    assert me["projects"] == ["kiosk", "lighthouse"] and "delegate" in me["operations"]


def test_whoami_takes_no_parameters(world):
    problem(world.alice.get("/whoami?tenant=basin"), 422, "unknown_field")


def test_a_delegation_is_lent(world):
    answer = ask(world)
    assert answer.status_code == 201
    made = answer.json()
    assert set(made) == {"token", "delegation_id", "expires_at"} and made["token"].startswith("mpd_")
    left = datetime.fromisoformat(made["expires_at"]) - datetime.now(tz=datetime.fromisoformat(made["expires_at"]).tzinfo)
    assert timedelta(seconds=50) < left <= timedelta(seconds=60)
    me = Caller(made["token"]).get("/whoami").json()
    assert (me["subject"], me["projects"], me["operations"]) == ("alice", ["kiosk"], ["memory:read"])


@pytest.mark.requirement("ID-01", "ID-02")
@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"operations": ["delegate"]}, 403, "operation_not_granted"),
        ({"operations": ["memory:read", "conflicts:resolve", "delegate"]}, 403, "operation_not_granted"),
        ({"operations": ["everything"]}, 422, "invalid_choice"),
        ({"operations": ...}, 422, "required"),
        ({"subject": "nobody"}, 404, "not_found"),
        ({"subject": "Alice"}, 404, "not_found"),
        ({"subject": ...}, 422, "required"),
        ({"subject": 5}, 422, "invalid_type"),
        ({"projects": ["nowhere"]}, 404, "not_found"),
        ({"projects": ["kiosk", "nowhere"]}, 404, "not_found"),
        ({"projects": "kiosk"}, 422, "invalid_type"),
        ({"projects": ["ki\u200bosk"]}, 422, "invalid_key"),
        ({"session_id": ...}, 422, "required"),
        ({"session_id": None}, 422, "required"),
        ({"session_id": "x" * 129}, 422, "max_length"),
        ({"ttl_seconds": 0}, 422, "out_of_range"),
        ({"ttl_seconds": 86401}, 422, "out_of_range"),
        ({"ttl_seconds": "60"}, 422, "invalid_type"),
        ({"ttl_seconds": True}, 422, "invalid_type"),
        ({"tenant": "basin"}, 422, "unknown_field"),
    ],
    ids=str,
)
def test_what_cannot_be_lent(world, changes, status, code):
    problem(ask(world, **changes), status, code)
    with world.inside():
        assert not Delegation.objects.exists()


def test_project_keys_are_folded_and_membership_is_not_asked_for(world):
    answer = ask(world, projects=[" LightHouse ", "kiosk", "kiosk"])
    assert answer.status_code == 201
    me = Caller(answer.json()["token"]).get("/whoami").json()
    assert me["projects"] == ["lighthouse", "kiosk"]
    assert [n["scope_id"] for n in me["namespaces"]] == ["alice", "kiosk", "orchard"]


@pytest.mark.requirement("ID-09")
def test_unknown_and_foreign_subjects_and_projects_look_the_same(world, elsewhere):
    elsewhere.command()
    from apps.tenants import namespaces, people

    people.create_subject(elsewhere.command(), key="only_there")
    namespaces.create_project(elsewhere.command(), key="there_too", name="There")
    faces = {
        face(ask(world, **changes))
        for changes in ({"subject": "only_there"}, {"subject": "nobody"}, {"projects": ["there_too"]}, {"projects": ["nowhere"]})
    }
    assert len(faces) == 1


def test_only_hosts_delegate(world):
    body = {"subject": "alice", "projects": [], "operations": ["memory:read"], "session_id": "s", "ttl_seconds": 60}
    for caller in (world.alice, Caller(world.tokens["alice_agent/alice"])):
        problem(caller.post("/delegations", body), 403, "operation_not_granted")
        problem(caller.delete("/delegations/dlg_x"), 403, "operation_not_granted")
    problem(Caller(None).post("/delegations", body), 401, "not_authenticated")
    problem(world.alice.post("/delegations", {"nonsense": 1}), 403, "operation_not_granted")


def test_a_host_bound_to_a_subject_lends_for_that_subject_only(db):
    from tests.tenants.world import World

    agents = [
        {"key": "assistant", "credentials": [{"name": "host", "subject": "alice", "operations": ["delegate", "memory:read"]}]}
    ]
    world = World("bound", agents=agents)
    assert ask(world, projects=[]).status_code == 201
    problem(ask(world, subject="bob", projects=[]), 404, "not_found")


def test_revoking_ends_a_token_at_once_and_twice_is_fine(world):
    made = ask(world).json()
    path = f"/delegations/{made['delegation_id']}"
    assert Caller(made["token"]).get("/whoami").status_code == 200
    assert world.host.delete(path).status_code == 204
    problem(Caller(made["token"]).get("/whoami"), 401, "credential_revoked")
    assert world.host.delete(path).status_code == 204


@pytest.mark.requirement("ID-09")
def test_foreign_and_unknown_delegations_cannot_be_revoked(world, elsewhere):
    theirs = ask(elsewhere).json()
    answers = [
        world.host.delete(f"/delegations/{text}")
        for text in (theirs["delegation_id"], "dlg_unknown", "dlg_" + "0" * 26, "x", "dlg_%00", "mem_" + "0" * 26)
    ]
    assert len({face(answer) for answer in answers}) == 1
    problem(answers[0], 404, "not_found")
    assert Caller(theirs["token"]).get("/whoami").status_code == 200


def test_another_agent_cannot_revoke(db):
    from tests.tenants.world import World

    host = {"name": "host", "operations": ["delegate", "memory:read"], "projects": ["kiosk"]}
    world = World("two", agents=[{"key": "assistant", "credentials": [host]}, {"key": "other", "credentials": [host]}])
    made = ask(world).json()
    problem(Caller(world.tokens["other/host"]).delete(f"/delegations/{made['delegation_id']}"), 404, "not_found")
    assert Caller(made["token"]).get("/whoami").status_code == 200


def test_a_repeated_request_with_a_key_lends_once_and_stores_no_token(world):
    body = {"subject": "alice", "projects": [], "operations": ["memory:read"], "session_id": "s", "ttl_seconds": 60}
    first, again = (world.host.post("/delegations", body, **{"Idempotency-Key": "k-1"}) for _ in range(2))
    assert first.status_code == again.status_code == 201 and first.json() == again.json()
    assert Caller(again.json()["token"]).get("/whoami").status_code == 200
    problem(
        world.host.post("/delegations", body | {"session_id": "t"}, **{"Idempotency-Key": "k-1"}), 409, "idempotency_key_reuse"
    )
    problem(world.host.post("/delegations", body, **{"Idempotency-Key": "x" * 129}), 422, "invalid_idempotency_key")
    with world.inside():
        assert Delegation.objects.count() == 1
        assert set(IdempotencyKey.objects.get().answer) == {"delegation_id", "expires_at"}


def test_methods_that_do_not_exist(world):
    problem(world.host.get("/delegations"), 405, "method_not_allowed")
    problem(world.alice.post("/whoami", {}), 405, "method_not_allowed")
    problem(world.alice.send("PUT", "/whoami", {}), 405, "method_not_allowed")
