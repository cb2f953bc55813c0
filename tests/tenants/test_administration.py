"""Verbs of the operator and the owner: credentials, projects, policies, tenants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from apps.audits.models import AuditEntry
from apps.core import clock
from apps.core.errors import NotFound, NotPermitted, ValidationFailed
from apps.core.isolation import system_context
from apps.tenants import credentials, namespaces, people, policies
from apps.tenants.authentication import authenticate
from apps.tenants.models import Credential, Project, Tenant, User
from apps.tenants.provisioning import create_tenant
from apps.tenants.provisioning_file import ProvisioningError
from apps.tenants.tokens import delegation_token, new_credential_token, parse_token

pytestmark = pytest.mark.django_db


def verbs(world):
    with world.inside():
        return list(AuditEntry.objects.order_by("id").values_list("verb", flat=True))


def make(world, **changes):
    wanted = {"agent": "assistant", "name": "second", "operations": ["memory:read"], "projects": ["kiosk"], "subject": "bob"}
    return credentials.create_credential(world.command(), **(wanted | changes))


def test_a_new_credential_works_and_is_good_for_a_year(world):
    made = make(world)
    access = authenticate(made.token)
    assert (access.subject, access.operations, [key for _, key in access.projects]) == ("bob", {"memory:read"}, ["kiosk"])
    assert timedelta(days=364) < made.expires_at - clock.now() <= timedelta(days=365)
    assert verbs(world)[-1] == "credential.created"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"agent": "nobody"}, NotFound),
        ({"subject": "nobody"}, NotFound),
        ({"projects": ["nowhere"]}, NotFound),
        ({"operations": ["fly"]}, ValidationFailed),
        ({"name": "host"}, ValidationFailed),
        ({"expires_at": datetime(2026, 1, 1, tzinfo=UTC)}, ValidationFailed),
    ],
    ids=str,
)
def test_credentials_that_cannot_be_made(world, changes, error):
    with pytest.raises(error):
        make(world, **changes)
    with world.inside():
        assert not Credential.objects.filter(name="second").exists()


def test_rotation_and_revocation_have_their_limits(world):
    made = make(world)
    with pytest.raises(ValidationFailed):
        credentials.rotate_credential(world.command(), made.credential_id, overlap=timedelta(days=31))
    credentials.revoke_credential(world.command(), made.credential_id)
    for verb in (credentials.rotate_credential, credentials.revoke_credential):
        with pytest.raises(NotFound):
            verb(world.command(), made.credential_id)
    assert make(world).token != made.token  # the name is free again
    assert verbs(world)[-2:] == ["credential.revoked", "credential.created"]


@pytest.mark.requirement("ID-09")
def test_credentials_of_another_tenant_do_not_exist(world, elsewhere):
    made = make(world)
    with pytest.raises(NotFound):
        credentials.revoke_credential(elsewhere.command(), made.credential_id)
    authenticate(made.token)


def test_a_project_keeps_its_key_when_it_is_renamed(world):
    made = namespaces.create_project(world.command(), key=" Pier-7 ", name="Pier")
    assert made.key == "pier-7" and world.namespace("project", "pier-7").id == made.namespace_id
    namespaces.rename_project(world.command(), key="PIER-7", name="The long pier")
    with world.inside():
        assert Project.objects.get(key="pier-7").name == "The long pier"
    for key in ("pier-7", "Pier-7", "", "a\u202eb"):
        with pytest.raises(ValidationFailed):
            namespaces.create_project(world.command(), key=key, name="x")
    with pytest.raises(NotFound):
        namespaces.rename_project(world.command(), key="nowhere", name="x")
    reviewer = {n.scope_id: n.review for n in world.person_access("reviewer").namespaces}
    assert reviewer["pier-7"]


def test_agents_and_subjects_have_exact_keys_and_come_once(world):
    people.create_agent(world.command(), key="Robot")
    people.create_agent(world.command(), key="robot")
    people.create_subject(world.command(), key="Alice")
    for again in (
        lambda: people.create_agent(world.command(), key="robot"),
        lambda: people.create_subject(world.command(), key="alice"),
        lambda: people.create_subject(world.command(), key=" "),
        lambda: people.create_subject(world.command(), key="a\nb"),
        lambda: people.add_staff(world.command(), username="x/y", roles=["owner"]),
        lambda: people.add_staff(world.command(), username="xy", roles=["agent"]),
        lambda: people.add_staff(world.command(), username="xy", roles=[]),
    ):
        with pytest.raises(ValidationFailed):
            again()
    with pytest.raises(NotFound):
        people.create_subject(world.command(), key="carol", projects=["nowhere"])
    with world.inside():
        assert not User.objects.filter(username="xy").exists()


def test_agents_of_two_tenants_may_share_a_key(world, elsewhere):
    assert authenticate(world.tokens["assistant/host"]).actor == authenticate(elsewhere.tokens["assistant/host"]).actor
    assert authenticate(world.tokens["assistant/host"]).actor_id != authenticate(elsewhere.tokens["assistant/host"]).actor_id


def test_no_agent_has_a_password_and_none_can_log_in(world):
    from django.contrib.auth import authenticate as log_in

    agents = User.objects.filter(kind=User.Kind.AGENT)
    assert agents and not any(agent.has_usable_password() or agent.is_staff for agent in agents)
    assert log_in(username="orchard/assistant", password="") is None


@pytest.mark.requirement("ID-18")
def test_readers_of_a_policy(world, elsewhere):
    made = policies.create_policy(world.command(), key="salaries", description="Pay")
    agent = User.objects.get(username="orchard/assistant")
    policies.add_reader(world.command(), policy="salaries", user_id=agent.id)
    token = world.token("alice")
    assert authenticate(token).policies == {made.policy_id}
    policies.remove_reader(world.command(), policy="salaries", user_id=agent.id)
    assert authenticate(token).policies == frozenset()
    with pytest.raises(NotFound):
        policies.remove_reader(world.command(), policy="salaries", user_id=agent.id)
    stranger = User.objects.get(username="basin/assistant")
    with pytest.raises(NotFound):
        policies.add_reader(world.command(), policy="salaries", user_id=stranger.id)
    with pytest.raises(NotFound):
        policies.add_reader(elsewhere.command(), policy="salaries", user_id=stranger.id)
    with pytest.raises(ValidationFailed):
        policies.create_policy(world.command(), key="salaries")
    with pytest.raises(NotPermitted):
        policies.create_policy(world.person_access("reviewer"), key="other")
    assert [verb for verb in verbs(world) if verb.startswith("policy")] == [
        "policy.created",
        "policy.reader_added",
        "policy.reader_removed",
    ]


def test_a_tenant_made_alone_has_what_every_tenant_has(world):
    done = create_tenant(key="harbour", name="Harbour")
    assert done.created["tenants"] == 1 and not done.credentials and not done.staff
    with system_context():
        tenant = Tenant.objects.get(key="harbour")
        assert tenant.name == "Harbour"
        assert AuditEntry.objects.filter(tenant=tenant, verb="tenant.provisioned").count() == 1
    with pytest.raises(ProvisioningError, match="there is a tenant"):
        create_tenant(key="Harbour", name="x")


def test_suspending_and_opening_again_are_critical_entries(world):
    people.set_tenant_active(world.command(), active=False)
    people.set_tenant_active(world.command(), active=True)
    assert verbs(world)[-2:] == ["tenant.suspended", "tenant.resumed"]


def test_tokens_are_well_formed_and_differ(world):
    from uuid import UUID

    first, second = (new_credential_token(world.tenant_id) for _ in range(2))
    assert first != second and parse_token(first).tenant_id == parse_token(second).tenant_id == world.tenant_id
    lent = delegation_token(world.tenant_id, UUID(int=1), first)
    assert lent == delegation_token(world.tenant_id, UUID(int=1), first) and parse_token(lent).kind == "mpd"
    others = {delegation_token(world.tenant_id, UUID(int=n), secret) for n in (1, 2) for secret in (first, second)}
    assert len(others) == 4
    for text in (first + "x", first[:-1], first.upper(), "mpd" + first, first.replace("mp_", "mp__", 1), f" {first}"):
        assert parse_token(text) is None, text
