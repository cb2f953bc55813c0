"""The provisioning file (design/06): strict, additive, idempotent, and secrets once."""

from __future__ import annotations

import io
import json

import pytest
import yaml
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command

from apps.audits.models import AuditEntry
from apps.core.isolation import system_context
from apps.tenants import provisioning
from apps.tenants.authentication import authenticate
from apps.tenants.models import Credential, Membership, Namespace, NamespaceGroupPermission, Project, Subject, Tenant, User
from apps.tenants.provisioning import provision
from apps.tenants.provisioning_file import ProvisioningError
from tests.tenants.world import OPERATIONS, document

pytestmark = pytest.mark.django_db

MODELS = (Tenant, Project, Subject, Namespace, Credential, Membership, NamespaceGroupPermission, User, Group, AuditEntry)


def rows():
    with system_context():
        return {model.__name__: model.objects.count() for model in MODELS}


def made(key="orchard", **changes):
    return provision(json.dumps({"tenants": [document(key) | changes]}))[key]


def test_everything_named_is_there_and_every_secret_works(db):
    result = made()
    assert set(result.credentials) == {"assistant/host", "alice_agent/alice"}
    assert all(token.startswith("mp_") for token in result.credentials.values())
    assert set(result.staff) == {f"{role}_orchard" for role in ("owner", "compliance", "reviewer", "auditor", "operator")}
    for name, password in result.staff.items():
        user = User.objects.get(username=name)
        assert user.check_password(password) and user.is_staff and not user.is_superuser
    access = authenticate(result.credentials["alice_agent/alice"])
    assert (access.subject, access.operations) == ("alice", frozenset(OPERATIONS))
    with system_context():
        assert sorted(map(str, Namespace.objects.all())) == [
            "organization/orchard",
            "project/kiosk",
            "project/lighthouse",
            "user/alice",
            "user/bob",
        ]


def test_a_second_run_changes_nothing_and_shows_nothing(db):
    made()
    before = rows()
    again = made()
    assert (again.credentials, again.staff, again.changed) == ({}, {}, False)
    assert rows() == before


def test_a_longer_file_adds_and_takes_nothing_away(db):
    first = made()
    longer = document("orchard")
    longer["projects"].append({"key": "pier", "name": "Pier"})
    longer["subjects"] = [{"key": "carol", "projects": ["pier", "kiosk"]}]
    longer["agents"] = [
        {
            "key": "assistant",
            "credentials": [{"name": "host", "operations": ["delegate", "conflicts:resolve"], "projects": ["pier"]}],
        }
    ]
    longer["staff"] = [{"username": "owner_orchard", "roles": ["owner", "auditor"]}]
    result = provision(json.dumps({"tenants": [longer]}))["orchard"]
    assert (result.credentials, result.staff) == ({}, {}) and result.changed
    access = authenticate(first.credentials["assistant/host"])
    assert [key for _, key in access.projects] == ["kiosk", "lighthouse", "pier"]
    assert access.operations == {"delegate", *OPERATIONS, "conflicts:resolve"}
    with system_context():
        assert set(Subject.objects.values_list("key", flat=True)) == {"alice", "bob", "carol"}
        assert set(Membership.objects.filter(user__username="owner_orchard").values_list("role", flat=True)) == {
            "owner",
            "auditor",
        }
        assert AuditEntry.objects.filter(verb="credential.widened").count() == 1


def test_what_was_ended_or_revoked_is_not_revived(db):
    from apps.tenants import people
    from apps.tenants.console_access import command_access

    made()
    with system_context():
        tenant = Tenant.objects.get()
    people.end_project_member(command_access(tenant.id), project="kiosk", subject="alice")
    assert made().created["members"] == 0


def test_yaml_and_json_say_the_same(db):
    text = yaml.safe_dump({"tenants": [document("orchard")]}, allow_unicode=True)
    provision(text)
    assert not made().changed
    assert not provision(json.dumps({"tenants": [document("orchard")]}, indent="\t"))["orchard"].changed


def test_keys_of_projects_and_tenants_are_folded_subjects_are_not(db):
    file = """
    tenants:
      - key: Orchard
        projects: [{key: Kiosk}]
        subjects: [{key: alice, projects: [KIOSK]}, {key: Alice}]
    """
    assert list(provision(file)) == ["orchard"]
    assert not provision(file)["orchard"].changed
    with system_context():
        assert list(Project.objects.values_list("key", "name")) == [("kiosk", "kiosk")]
        assert set(Subject.objects.values_list("key", flat=True)) == {"alice", "Alice"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the file: must be a mapping"),
        ("just words", "the file: must be a mapping"),
        ("tenants: [", "line "),
        ("tenants: {key: x}", "tenants: must be a list"),
        ("tenants:\n  - {name: without a key}\n", "tenants[0]: key is missing"),
        ("tenants: []\ntenants: []", "line 2, column 1: this key stands here twice"),
        ('{"tenants": [], "tenants": []}', "this key stands here twice"),
        ("tenants: []\nextra: 1", "there is no 'extra' here"),
        ("tenants: [{key: a, subject: []}]", "tenants[0]: there is no 'subject' here; known are"),
        ("tenants: [{key: 5}]", "tenants[0].key: must be text"),
        ("tenants: [{key: ''}]", "tenants[0].key: must be 1 to 100"),
        ("tenants: [{key: a/b}]", "must not hold a slash"),
        ('tenants: [{key: "a\\u200bb"}]', "must not hold invisible"),
        ("tenants: [{key: a}, {key: A}]", "tenants[1]: 'a' stands here twice"),
        ("tenants: [{key: a, projects: [{key: p}, {key: P}]}]", "tenants[0].projects[1]: 'p' stands here twice"),
        ("tenants: [{key: a, subjects: [{key: s}, {key: s}]}]", "tenants[0].subjects[1]: 's' stands here twice"),
        ("tenants: [{key: a, subjects: [{key: s, projects: [nowhere]}]}]", "subject s names project 'nowhere'"),
        ("tenants: [{key: a, agents: [{key: g, credentials: [{name: c, operations: [fly]}]}]}]", "operations[0]: must be one of"),
        ("tenants: [{key: a, agents: [{key: g, credentials: [{name: c}]}]}]", "operations is missing"),
        (
            "tenants: [{key: a, agents: [{key: g, credentials: [{name: c, operations: [delegate], subject: s}]}]}]",
            "credential g/c names subject 's'",
        ),
        (
            "tenants: [{key: a, agents: [{key: g, credentials: [{name: c, operations: [delegate]}, {name: c, operations: []}]}]}]",
            "credentials[1]: 'c' stands here twice",
        ),
        ("tenants: [{key: a, staff: [{username: u}]}]", "roles is missing"),
        ("tenants: [{key: a, staff: [{username: u, roles: []}]}]", "must name at least one role"),
        ("tenants: [{key: a, staff: [{username: u, roles: [agent]}]}]", "roles[0]: must be one of owner, compliance"),
        ("tenants: [{key: a, staff: [{username: 'u/x', roles: [owner]}]}]", "username: may hold"),
        ("tenants: [" + "[" * 5000, ": "),
        ("tenants: !!python/object:os.system []", "line 1"),
    ],
)
def test_a_wrong_file_is_named_by_its_place_and_changes_nothing(db, text, says):
    before = rows()
    with pytest.raises(ProvisioningError) as trouble:
        provision(text)
    assert says in str(trouble.value), str(trouble.value)
    assert rows() == before


def test_a_fault_at_the_end_undoes_the_beginning(db):
    before = rows()
    with pytest.raises(ProvisioningError):
        provision(
            "tenants: [{key: good, staff: [{username: u, roles: [owner]}]}, {key: bad, subjects: [{key: s, projects: [p]}]}]"
        )
    assert rows() == before


def test_the_subject_of_a_credential_cannot_be_changed_by_a_file(db):
    made()
    other = document("orchard")
    other["agents"][1]["credentials"][0]["subject"] = "bob"
    with pytest.raises(ProvisioningError, match="another fixed subject"):
        provision(json.dumps({"tenants": [other]}))


def test_what_was_made_is_in_the_audit_log(db):
    result = made()
    with system_context():
        verbs = list(AuditEntry.objects.values_list("verb", flat=True))
        everything = json.dumps(list(AuditEntry.objects.values("object_id", "actor", "codes", "counts")))
    assert verbs.count("credential.created") == 2 and verbs.count("role.granted") == 5
    assert verbs.count("tenant.provisioned") == 1
    assert not any(secret in everything for secret in (*result.credentials.values(), *result.staff.values()))


def test_sections_of_higher_floors_are_read_and_applied_for_every_tenant(db, monkeypatch):
    applied = []

    def parse(value, at):
        if value is None:
            return "default"
        return at.text(value)

    monkeypatch.setattr(provisioning, "_sections", {})
    provisioning.register_section(
        "colour", parse=parse, apply=lambda access, parsed: applied.append((access.tenant_key, parsed)) or 1
    )
    done = provision("tenants: [{key: a, colour: red}, {key: b}]")
    assert applied == [("a", "red"), ("b", "default")] and done["a"].created["colour"] == 1
    with pytest.raises(ProvisioningError, match=r"tenants\[0\].colour: must be text"):
        provision("tenants: [{key: a, colour: 5}]")
    with pytest.raises(ValueError, match="twice"):
        provisioning.register_section("colour", parse=parse, apply=lambda _access, _parsed: 0)


# -- the command


def run(*arguments):
    out = io.StringIO()
    call_command("provision", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_prints_secrets_once(db, tmp_path):
    file = tmp_path / "tenants.yaml"
    file.write_text(yaml.safe_dump({"tenants": [document("orchard")]}), encoding="utf-8")
    printed = json.loads(run(str(file), "--json"))
    assert set(printed["tenants"]["orchard"]) == {"credentials", "staff"}
    assert printed["tenants"]["orchard"]["credentials"]["assistant/host"].startswith("mp_")
    again = run(str(file), "--json")
    assert json.loads(again) == {"tenants": {"orchard": {"credentials": {}, "staff": {}}}}
    assert run(str(file)) == "orchard: nothing to do\n"


def test_the_command_for_people_shows_what_it_made(db, tmp_path):
    file = tmp_path / "tenants.yaml"
    file.write_text(yaml.safe_dump({"tenants": [document("orchard")]}), encoding="utf-8")
    text = run(str(file))
    assert "orchard: 1 tenants, 2 projects, 2 subjects" in text and "credential assistant/host  mp_" in text


def test_the_command_refuses_like_a_person(db, tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_bytes(b"tenants: [\xff]")
    with pytest.raises(CommandError, match="cannot be read as UTF-8"):
        run(str(broken))
    broken.write_text("tenants: 5")
    with pytest.raises(CommandError, match="tenants: must be a list"):
        run(str(broken))
    with pytest.raises(CommandError, match="there is no file"):
        run(str(tmp_path / "absent.yaml"))
