"""The audit log: append-only, scoped, and without text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection

from apps.audits.log import record
from apps.audits.models import AuditEntry
from apps.audits.reads import get_entry, list_entries, readable_entries
from apps.audits.verbs import VERBS
from apps.core import clock
from apps.core.cursors import page
from apps.core.errors import NotFound, ValidationFailed
from apps.core.ids import new_id
from apps.core.isolation import system_context, tenant_context
from apps.tenants.access import Access, ActorKind
from apps.tenants.console_access import service_access
from apps.tenants.models import Tenant

pytestmark = pytest.mark.django_db

CANARY = "the strongbox is behind the mirror"


def make_access(key: str) -> Access:
    with system_context():
        tenant = Tenant.objects.create(key=key, name=key)
    return replace(service_access(tenant.id, []), request_id="req_1")


@pytest.fixture
def access() -> Access:
    return make_access("orchard")


def person(access: Access, *roles: str) -> Access:
    return replace(access, actor_kind=ActorKind.PERSON, actor_id=uuid4(), actor="olga", roles=frozenset(roles))


def write(access: Access, verb: str = "memory.committed", **fields: object) -> AuditEntry:
    with tenant_context(access.tenant_id):
        return record(access, verb, "memory", fields.pop("object_id", "mem_1"), **fields)


def test_numbers_and_names_of_verbs_are_used_once() -> None:
    verbs = list(VERBS.values())
    assert len({verb.number for verb in verbs}) == len({verb.name for verb in verbs}) == len(verbs)
    from apps.audits.verbs import _ALL

    assert len(_ALL) == len(VERBS), "two verbs of one name"
    for verb in verbs:
        assert verb.number > 0 and len(verb.name) <= 64 and verb.name.count(".") == 1 and str(verb.label)


@pytest.mark.requirement("AU-02")
def test_an_entry_says_who_did_what_to_which_object(access: Access) -> None:
    namespace = uuid4()
    made = write(access, namespace_id=namespace, codes=["ADD"], counts={"sources": 2}, revision=7, result="ok")
    with tenant_context(access.tenant_id):
        entry = AuditEntry.objects.get(pk=made.pk)
    assert (entry.actor_kind, entry.actor, entry.actor_id) == ("service", "worker", access.actor_id)
    assert (entry.verb, entry.object_type, entry.object_id, entry.namespace_id) == (
        "memory.committed",
        "memory",
        "mem_1",
        namespace,
    )
    assert (entry.codes, entry.counts, entry.revision, entry.result, entry.request_id) == (
        ["ADD"],
        {"sources": 2},
        7,
        "ok",
        "req_1",
    )


@pytest.mark.canary
@pytest.mark.requirement("AU-02")
@pytest.mark.parametrize(
    "fields",
    [
        {"codes": [CANARY]},
        {"codes": ["x" * 65]},
        {"codes": [""]},
        {"counts": {CANARY: 1}},
        {"counts": {"sources": CANARY}},
        {"counts": {"sources": 1.5}},
        {"counts": {"sources": True}},
        {"object_id": "x" * 129},
    ],
)
def test_an_entry_cannot_hold_text(access: Access, fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"ids, codes and counts|whole numbers") as caught:
        write(access, **fields)
    assert CANARY not in str(caught.value)
    with tenant_context(access.tenant_id):
        assert not AuditEntry.objects.exists()


def test_an_unknown_verb_is_refused(access: Access) -> None:
    with pytest.raises(KeyError):
        write(access, "memory.improved")


def test_an_entry_goes_with_its_effect(access: Access) -> None:
    def fail() -> None:
        with tenant_context(access.tenant_id):
            record(access, "memory.committed", "memory", "mem_1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with tenant_context(access.tenant_id):
        assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("context", [tenant_context, lambda _tenant: system_context()], ids=["application role", "owner"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audits_auditentry SET actor = 'nobody'",
        "UPDATE audits_auditentry SET at = now()",
        "DELETE FROM audits_auditentry",
        "TRUNCATE audits_auditentry",
        "TRUNCATE audits_auditentry CASCADE",
    ],
)
def test_entries_cannot_be_changed_or_removed(access: Access, context: Callable[[UUID], object], statement: str) -> None:
    made = write(access)

    def change() -> None:
        with context(access.tenant_id), connection.cursor() as cursor:
            cursor.execute(statement)

    with pytest.raises(Exception, match=r"append-only|permission denied") as caught:
        change()
    assert caught.type.__module__.startswith("django.db")
    with tenant_context(access.tenant_id):
        kept = AuditEntry.objects.get()
    assert (kept.pk, kept.actor, kept.at) == (made.pk, made.actor, made.at)


def test_the_owner_is_refused_by_the_trigger_itself(access: Access) -> None:
    write(access)
    with pytest.raises(IntegrityError, match="append-only"), system_context(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE audits_auditentry")


def test_who_may_read_the_log(access: Access) -> None:
    other = make_access("harbour")
    mine = write(access)
    write(other)
    for role in ("owner", "compliance", "auditor"):
        with tenant_context(access.tenant_id):
            assert list(readable_entries(person(access, role))) == [mine]
            assert get_entry(person(access, role), mine.pk) == mine
    agent = replace(person(access, "owner"), actor_kind=ActorKind.AGENT)
    for nobody in (person(access), person(access, "reviewer"), person(access, "operator"), access, agent, person(other, "owner")):
        with tenant_context(access.tenant_id):
            assert list(readable_entries(nobody)) == []
            with pytest.raises(NotFound):
                get_entry(nobody, mine.pk)


@dataclass(frozen=True)
class Ask:
    cursor: str | None = None
    limit: int = 2

    def filters(self) -> dict[str, object]:
        return {}


def test_a_list_is_stable_while_entries_are_added(access: Access) -> None:
    auditor = person(access, "auditor")
    start = clock.now()
    for step in range(5):
        with clock.set_clock(lambda step=step: start + timedelta(seconds=step)):
            write(access, object_id=f"mem_{step}", verb="memory.revised" if step % 2 else "memory.committed")
    seen: list[str] = []
    cursor = None
    with tenant_context(access.tenant_id):
        for _ in range(10):
            found = page(list_entries(auditor), order=("-at", "-id"), query=Ask(cursor), caller="olga", route="audit")
            seen += [entry.object_id for entry in found.items]
            with clock.set_clock(lambda: start + timedelta(hours=1)):
                record(access, "memory.committed", "memory", f"mem_new_{len(seen)}")
            cursor = found.next_cursor
            if cursor is None:
                break
        assert seen == ["mem_4", "mem_3", "mem_2", "mem_1", "mem_0"]
        assert [entry.object_id for entry in list_entries(auditor, verb="memory.revised")] == ["mem_3", "mem_1"]
        assert [entry.verb for entry in list_entries(auditor, object_type="memory", object_id="mem_2")] == ["memory.committed"]
        assert not list_entries(auditor, object_id=str(new_id())).exists()
        with pytest.raises(ValidationFailed):
            page(list_entries(auditor), order=("-at", "-id"), query=Ask("nonsense"), caller="olga", route="audit")
