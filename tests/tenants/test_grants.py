"""Permissions: what roles get, that guardian and our statement agree, and that nobody has anything by being somebody."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from guardian.core import ObjectPermissionChecker
from guardian.shortcuts import get_objects_for_user

from apps.core.errors import NotFound, NotPermitted
from apps.core.isolation import tenant_context
from apps.tenants import grants, people
from apps.tenants.authentication import authenticate
from apps.tenants.console_access import SERVICE_OPERATIONS, person_access, service_access, tenants_of
from apps.tenants.models import AccessPolicy, Membership, Namespace, NamespaceGroupPermission, User
from tests.tenants.world import ROLES

pytestmark = pytest.mark.django_db

PERMISSIONS = ("read", "write", "review", "promote", "erase")
SPACES = [("organization", "orchard"), ("project", "kiosk"), ("project", "lighthouse"), ("user", "alice"), ("user", "bob")]


def held(access):
    return {(n.scope, n.scope_id): {name for name in PERMISSIONS if getattr(n, name)} for n in access.every_namespace}


@pytest.mark.parametrize(
    ("role", "shared", "private"),
    [
        ("owner", set(PERMISSIONS), set()),
        ("compliance", {"erase"}, {"erase"}),
        ("reviewer", {"read", "review"}, set()),
        ("auditor", set(), set()),
        ("operator", set(), set()),
    ],
)
def test_what_a_role_holds_on_namespaces(world, role, shared, private):
    access = world.person_access(role)
    expected = {(scope, key): private if scope == "user" else shared for scope, key in SPACES}
    assert held(access) == {place: names for place, names in expected.items() if names}
    assert access.roles == {role} and access.actor == f"{role}_orchard"


def test_what_compliance_staff_reach_does_not_grow_with_the_tenant(world):
    """They may erase everywhere; that is as many namespaces as there are subjects, and few pages ask which."""
    access = world.person_access("compliance")
    assert access.namespaces == ()
    assert access.has("memory:delete")
    people.create_subject(world.command(), key="carol")
    assert {grant.scope_id for grant in access.every_namespace} >= {"alice", "bob", "carol", "kiosk", "orchard"}
    assert access.by_id[world.namespace("user", "carol").id].erase
    assert world.person_access("owner").every_namespace == world.person_access("owner").namespaces
    assert not world.person_access("reviewer").has("memory:delete")


@pytest.mark.requirement("ID-16")
def test_nobody_reads_the_memory_of_a_single_person_by_role(world):
    for role in ROLES:
        assert not any(n.read for n in world.person_access(role).every_namespace if n.scope == "user"), role


def test_our_statement_and_guardian_agree(world):
    reviewer = world.person("reviewer")
    with world.inside():
        alice = Namespace.objects.get(scope_id="alice")
        kiosk = Namespace.objects.get(scope_id="kiosk")
        grants.grant_on_namespaces(reviewer, [alice.id], "read")
        grants.grant_on_namespaces(reviewer, [kiosk.id], "promote")
        for role in ROLES:
            user = world.person(role)
            ours = held(person_access(user, world.tenant_id))
            theirs = {}
            for namespace in Namespace.objects.all():
                found = set(ObjectPermissionChecker(user).get_perms(namespace))
                if found:
                    theirs[namespace.scope, namespace.scope_id] = found
            assert ours == theirs, role
            for name in PERMISSIONS:
                listed = {(n.scope, n.scope_id) for n in grants.namespaces_with(user, name, world.tenant_id)}
                assert listed == {place for place, names in ours.items() if name in names}


def test_a_superuser_holds_nothing_by_being_one(world):
    boss = User.objects.create_superuser("boss", password="x")
    with pytest.raises(NotFound):
        person_access(boss, world.tenant_id)
    with world.inside():
        assert not grants.namespaces_with(boss, "read", world.tenant_id).exists()
        # what must never be asked: without our two arguments guardian would hand out everything
        assert get_objects_for_user(boss, "read", Namespace).exists()


def test_inactive_people_and_suspended_tenants_are_refused(world):
    owner = world.person("owner")
    assert [card.key for card in tenants_of(owner)] == ["orchard"]
    User.objects.filter(id=owner.id).update(is_active=False)
    owner.refresh_from_db()
    assert tenants_of(owner) == []
    with pytest.raises(NotFound):
        person_access(owner, world.tenant_id)
    with world.inside(), pytest.raises(NotPermitted):
        grants.grant_on_namespaces(owner, [Namespace.objects.get(scope_id="kiosk").id], "read")
    people.set_tenant_active(world.command(), active=False)
    with pytest.raises(NotFound):
        world.person_access("reviewer")
    assert tenants_of(world.person("reviewer")) == []


def test_an_agent_needs_its_own_grant_on_a_project(world):
    token = world.token("bob")
    with world.inside():
        agent = User.objects.get(key="assistant")
        kiosk = Namespace.objects.get(scope_id="kiosk")
        assert grants.withdraw_from_namespaces(agent, [kiosk.id], "write") == 1
    access = authenticate(token)
    assert [(n.scope_id, n.read, n.write) for n in access.namespaces if n.scope == "project"] == [
        ("kiosk", True, False),
        ("lighthouse", True, True),
    ]
    with world.inside():
        grants.withdraw_from_namespaces(agent, [kiosk.id], "read")
    assert [n.scope_id for n in authenticate(token).namespaces] == ["bob", "lighthouse", "orchard"]


@pytest.mark.requirement("ID-17")
def test_writing_for_the_organization_is_a_grant_of_its_own(world):
    token = world.token("alice")
    assert [n.write for n in authenticate(token).namespaces if n.scope == "organization"] == [False]
    with world.inside():
        grants.grant_on_namespaces(User.objects.get(key="assistant"), [Namespace.objects.get(scope="organization").id], "write")
    assert [n.write for n in authenticate(token).namespaces if n.scope == "organization"] == [True]


@pytest.mark.requirement("ID-18")
def test_policies_are_read_from_grants_of_user_and_group(world):
    token = world.token("alice")
    with world.inside():
        agent = User.objects.get(key="assistant")
        policies = [AccessPolicy.objects.create(tenant_id=world.tenant_id, key=key) for key in ("one", "two", "three")]
        grants.grant_policy(agent, policies[0].id)
        grants.grant_policy(Group.objects.get(name="orchard:agent"), policies[1].id)
        grants.grant_policy(world.person("reviewer"), policies[2].id)
    assert authenticate(token).policies == {policies[0].id, policies[1].id}
    assert world.person_access("reviewer").policies == {policies[2].id}
    with world.inside():
        grants.withdraw_policy(agent, policies[0].id)
    assert authenticate(token).policies == {policies[1].id}


def test_granting_twice_makes_one_row(world):
    with world.inside():
        group = Group.objects.get(name="orchard:auditor")
        kiosk = Namespace.objects.get(scope_id="kiosk")
        assert grants.grant_on_namespaces(group, [kiosk.id], "read", "review") == 2
        assert grants.grant_on_namespaces(group, [kiosk.id], "read") == 0
        assert NamespaceGroupPermission.objects.filter(group=group).count() == 2
        with pytest.raises(KeyError):
            grants.grant_on_namespaces(group, [kiosk.id], "everything")


def test_a_role_is_a_membership_and_a_place_in_a_group(world):
    done = people.add_staff(world.command(), username="newcomer", roles=["auditor", "reviewer"])
    user = User.objects.get(username="newcomer")
    assert done.password and user.check_password(done.password) and user.is_staff
    assert set(user.groups.values_list("name", flat=True)) == {"orchard:auditor", "orchard:reviewer"}
    assert people.add_staff(world.command(), username="newcomer", roles=["auditor"]).password is None
    people.withdraw_role(world.command(), username="newcomer", role="reviewer")
    assert set(user.groups.values_list("name", flat=True)) == {"orchard:auditor"}
    with world.inside():
        assert list(Membership.objects.filter(user=user).values_list("role", flat=True)) == ["auditor"]
    with pytest.raises(NotFound):
        people.withdraw_role(world.command(), username="newcomer", role="reviewer")


def test_only_owners_and_commands_administer(world):
    people.create_subject(world.person_access("owner"), key="carol", projects=["kiosk"])
    for access in (
        world.access("alice"),
        authenticate(world.tokens["assistant/host"]),
        *(world.person_access(role) for role in ROLES if role != "owner"),
        service_access(world.tenant_id, []),
    ):
        with pytest.raises(NotPermitted):
            people.create_subject(access, key="dave")


def test_one_person_in_two_tenants_sees_each_for_itself(world, elsewhere):
    people.add_staff(elsewhere.command(), username="reviewer_orchard", roles=["auditor"])
    both = world.person("reviewer")
    assert [(card.key, card.roles) for card in tenants_of(both)] == [("basin", {"auditor"}), ("orchard", {"reviewer"})]
    assert person_access(both, elsewhere.tenant_id).namespaces == ()
    assert {n.scope_id for n in person_access(both, world.tenant_id).namespaces} == {"orchard", "kiosk", "lighthouse"}
    with pytest.raises(NotFound):
        person_access(world.person("owner"), elsewhere.tenant_id)


@pytest.mark.requirement("ID-10", "ID-11")
def test_a_job_reaches_the_namespaces_stored_on_it_and_no_other(world, elsewhere):
    alice, foreign = world.namespace("user", "alice"), elsewhere.namespace("user", "alice")
    access = service_access(world.tenant_id, [alice.id, foreign.id], actor="extract")
    assert [n.id for n in access.namespaces] == [alice.id]
    assert (access.actor_kind, access.actor, access.subject, access.operations) == (
        "service",
        "extract",
        "alice",
        SERVICE_OPERATIONS,
    )
    assert not access.has("delegate") and not access.namespaces[0].erase and access.roles == frozenset()
    with pytest.raises(NotFound):
        access.namespace_for("project", "kiosk")
    assert not service_access(world.tenant_id, [alice.id], operations=["delegate", "memory:delete"]).has("delegate")
    people.set_tenant_active(world.command(), active=False)
    with pytest.raises(NotFound):
        service_access(world.tenant_id, [alice.id])


@pytest.mark.requirement("ID-02", "ID-14", "ID-15")
def test_a_scope_is_a_request_that_is_answered_from_the_grants(world):
    from apps.tenants.models import Scope

    access = world.access("alice")
    assert access.namespace_for(Scope.USER, None).scope_id == access.namespace_for("user", "alice").scope_id == "alice"
    assert access.namespace_for("organization", None).scope_id == "orchard"
    for scope, scope_id in [
        ("user", "bob"),
        ("project", "lighthouse"),
        ("project", None),
        ("organization", "basin"),
        ("x", "alice"),
    ]:
        with pytest.raises(NotFound):
            access.namespace_for(scope, scope_id)


def test_the_context_of_another_tenant_shows_no_grant(world, elsewhere):
    with tenant_context(elsewhere.tenant_id):
        assert not NamespaceGroupPermission.objects.filter(content_object__scope_id="orchard").exists()
        assert {n.content_object.tenant_id for n in NamespaceGroupPermission.objects.select_related("content_object")} == {
            elsewhere.tenant_id
        }
