"""Bearer tokens become an Access, and nothing else does (ID-01, design/06 Errors 401)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.core import clock
from apps.core.errors import CredentialExpired, CredentialRevoked, NotAuthenticated
from apps.tenants import credentials, people
from apps.tenants.authentication import LAST_USED_EVERY, authenticate
from apps.tenants.models import Credential, Delegation
from apps.tenants.tokens import parse_token, token_hash
from tests.tenants.world import OPERATIONS, Caller, problem

pytestmark = pytest.mark.django_db


def later(seconds: float):
    moment = clock.now() + timedelta(seconds=seconds)
    return clock.set_clock(lambda: moment)


@pytest.mark.requirement("ID-01")
def test_a_delegation_speaks_for_its_subject_in_its_projects(world):
    access = authenticate(world.delegate("alice", projects=["kiosk"], session="s-9"))
    assert (access.tenant_id, access.tenant_key, access.actor) == (world.tenant_id, "orchard", "assistant")
    assert (access.subject, access.session_id, access.operations) == ("alice", "s-9", frozenset(OPERATIONS))
    assert [key for _, key in access.projects] == ["kiosk"]
    assert [(n.scope, n.scope_id, n.read, n.write) for n in access.namespaces] == [
        ("user", "alice", True, True),
        ("project", "kiosk", True, True),
        ("organization", "orchard", True, False),
    ]


def test_a_bound_credential_needs_no_delegation(world):
    access = authenticate(world.tokens["alice_agent/alice"])
    assert (access.subject, access.actor, access.session_id) == ("alice", "alice_agent", None)
    assert [n.scope_id for n in access.namespaces] == ["alice", "kiosk", "orchard"]


@pytest.mark.requirement("ID-01", "ID-02")
def test_a_host_without_a_subject_reaches_nothing_and_can_only_delegate(world):
    access = authenticate(world.tokens["assistant/host"])
    assert access.namespaces == () and access.subject is None
    assert [key for _, key in access.projects] == ["kiosk", "lighthouse"]
    assert access.has("delegate") and not any(access.has(name) for name in OPERATIONS)


@pytest.mark.requirement("ID-03")
def test_a_project_needs_the_subjects_membership_today(world):
    token = world.delegate("alice", projects=["lighthouse", "kiosk"])
    assert [n.scope_id for n in authenticate(token).namespaces] == ["alice", "kiosk", "orchard"]
    assert [key for _, key in authenticate(token).projects] == ["lighthouse", "kiosk"]
    people.add_project_member(world.command(), project="lighthouse", subject="alice")
    assert [n.scope_id for n in authenticate(token).namespaces] == ["alice", "lighthouse", "kiosk", "orchard"]
    people.end_project_member(world.command(), project="lighthouse", subject="alice")
    people.end_project_member(world.command(), project="kiosk", subject="alice")
    assert [n.scope_id for n in authenticate(token).namespaces] == ["alice", "orchard"]


@pytest.mark.parametrize(
    "text", ["", "mp_nobody", "nonsense with spaces", "mp_" + "0" * 26 + "_" + "x" * 43, "mpd_" + "z" * 26 + "_" + "x" * 43]
)
def test_text_that_is_no_token_opens_nothing(world, text):
    with pytest.raises(NotAuthenticated):
        authenticate(text)


@pytest.mark.requirement("ID-09")
def test_a_token_is_looked_for_in_its_own_tenant_only(world, elsewhere):
    token = world.tokens["alice_agent/alice"]
    here, there = parse_token(token), parse_token(elsewhere.tokens["alice_agent/alice"])
    assert here and there and here.tenant_id == world.tenant_id
    moved = elsewhere.tokens["alice_agent/alice"].rsplit("_", 1)[0][:29] + token[29:]
    assert parse_token(moved).tenant_id == elsewhere.tenant_id
    with pytest.raises(NotAuthenticated):
        authenticate(moved)


def test_only_hashes_of_tokens_are_stored(world):
    lent = world.delegate()
    with world.inside():
        stored = {
            *Credential.objects.values_list("token_sha256", flat=True),
            *Delegation.objects.values_list("token_sha256", flat=True),
        }
    assert {token_hash(token) for token in (*world.tokens.values(), lent)} == stored


@pytest.mark.parametrize(
    "header",
    [
        "Basic YWxpY2U6eA==",
        "Bearer",
        "Bearer ",
        "bearer \u00e9",
        "Bearer \u4f60\u597d",
        "Bearer " + "x" * 6000,
        "",
        "Token x",
        "Bearer\tx",
    ],
)
def test_odd_headers_are_401(world, header):
    problem(Caller(None).get("/whoami", Authorization=header), 401, "not_authenticated")


def test_the_scheme_is_not_case_sensitive(world):
    token = world.tokens["alice_agent/alice"]
    assert Caller(None).get("/whoami", Authorization=f"bEARER {token}").status_code == 200


def test_expiry_of_token_and_of_its_credential(world):
    token = world.delegate(seconds=60)
    with later(59):
        authenticate(token)
    with later(60), pytest.raises(CredentialExpired):
        authenticate(token)
    with world.inside():
        Credential.objects.filter(name="host").update(expires_at=clock.now() + timedelta(seconds=10))
    with later(11), pytest.raises(CredentialExpired):
        authenticate(token)


def test_a_delegation_ends_with_its_credential(world):
    token = world.delegate()
    with world.inside():
        host = Credential.objects.get(name="host")
    credentials.revoke_credential(world.command(), host.id)
    for dead in (token, world.tokens["assistant/host"]):
        with pytest.raises(CredentialRevoked):
            authenticate(dead)
    authenticate(world.tokens["alice_agent/alice"])


def test_rotation_lets_the_old_secret_live_for_the_overlap(world):
    old = world.tokens["alice_agent/alice"]
    with world.inside():
        row = Credential.objects.get(name="alice")
    made = credentials.rotate_credential(world.command(), row.id, overlap=timedelta(hours=1))
    assert authenticate(made.token).subject == authenticate(old).subject == "alice"
    with later(3601):
        authenticate(made.token)
        with pytest.raises(CredentialRevoked):
            authenticate(old)


def test_an_inactive_agent_or_a_suspended_tenant_opens_nothing(world):
    token = world.token()
    people.set_agent_active(world.command(), key="assistant", active=False)
    with pytest.raises(NotAuthenticated):
        authenticate(token)
    people.set_agent_active(world.command(), key="assistant", active=True)
    authenticate(token)
    people.set_tenant_active(world.command(), active=False)
    with pytest.raises(NotAuthenticated):
        authenticate(token)


def test_last_use_is_written_at_most_every_five_minutes(world):
    token = world.tokens["alice_agent/alice"]

    def last_used():
        with world.inside():
            return Credential.objects.get(name="alice").last_used_at

    assert last_used() is None
    authenticate(token)
    first = last_used()
    with later(LAST_USED_EVERY.total_seconds() - 1):
        authenticate(token)
        assert last_used() == first
    with later(LAST_USED_EVERY.total_seconds() + 1):
        authenticate(token)
        assert last_used() > first


def test_authentication_costs_two_statements(world):
    token = world.token()
    authenticate(token)
    with CaptureQueriesContext(connection) as seen:
        authenticate(token)
    # the context's own (enter and leave, and the test's savepoint), the lookup, the reach
    assert len([q for q in seen if "FROM tenants_" in q["sql"]]) == 2
