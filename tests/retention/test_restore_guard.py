"""Database and ledger: what is written, how they stand to each other, and what an older database is made to forget again (DJ-10)."""

from __future__ import annotations

import json
import os
from datetime import timedelta

import pytest
from django.db import connection

from apps.core import clock
from apps.core.ids import new_id
from apps.core.isolation import system_context
from apps.evidence.ingestion import accept_event
from apps.evidence.models import Content
from apps.jobs.models import ProcessingJob
from apps.jobs.runner import drain
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.holds import holds_in_force, lift_hold, place_hold
from apps.retention.ledger import file, guard, reapplication, records
from apps.retention.ledger.file import LedgerTroubleError
from apps.retention.models import DeletionJob, DeletionStep, LedgerRecord, LedgerState, LegalHold, Revocation
from apps.tenants.models import Namespace, Tenant
from tests.evidence.drafts import draft
from tests.tenants.world import World, problem

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = {"task": "Answer.", "question": "what about the harbour cat?"}


@pytest.fixture
def world(transactional_db) -> World:
    return World("orchard")


@pytest.fixture(autouse=True)
def _asked_anew():
    guard.forget()
    yield
    guard.forget()


def erase(world, kind="event", target="e-1", request_id="del-1", **options):
    wanted = DeletionRequest(deletion_request_id=request_id, kind=kind, target=target, **options)
    return request_deletion(world.access("alice"), wanted).job_id


def hold(world, target="alice"):
    return place_hold(world.command(), "subject", target, reason_code="litigation", until=clock.now() + timedelta(days=30))


def entries():
    return list(file.entries(records.ledger_path()))


def standing():
    guard.forget()
    return guard.standing().value


class Backup:
    """A copy of every row that a deletion or a hold touches, to put back as a restore would: older, whole and consistent."""

    TABLES = [
        "evidence_content",
        "evidence_sourceevent",
        "retention_revocation",
        "retention_deletionjob",
        "retention_deletionstep",
        "retention_legalhold",
        "retention_ledgerrecord",
        "retention_ledgerstate",
        "retention_deletioncertificate",
        "jobs_processingjob",
        "tenants_namespace",
        "tenants_tenant",
    ]

    def __init__(self, admin):
        self.admin = admin
        self.rows = {
            table: admin.execute(f"SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]') FROM {table} t").fetchone()[0]
            for table in self.TABLES
        }

    def restore(self):
        with self.admin.transaction():
            self.admin.execute("SET LOCAL session_replication_role = replica")
            for table, rows in self.rows.items():
                self.admin.execute(f"DELETE FROM {table}")
                self.admin.execute(
                    f"INSERT INTO {table} SELECT * FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb)", [json.dumps(rows)]
                )
        guard.forget()


@pytest.fixture
def backup(world, database_server):
    from memory_platform.embedded.server import superuser_connection

    if database_server._held is None:
        pytest.skip("needs the superuser of the embedded server")
    with superuser_connection(database_server._held.places, connection.settings_dict["NAME"]) as admin:
        yield lambda: Backup(admin)


def texts(world):
    with world.inside():
        return sorted(Content.objects.values_list("text", flat=True))


def epoch(world):
    with world.inside():
        return Namespace.objects.get(scope="user", scope_id="alice").deletion_epoch


# -- into the ledger


@pytest.mark.requirement("DJ-02", "DJ-10")
def test_a_deletion_stands_in_the_ledger_with_its_answer_and_says_nothing(world):
    assert standing() == "none" and not records.ledger_folder().exists()
    accept_event(world.access("alice"), draft("the harbour cat", event_id="e-1"))
    erase(world, suppress_future=True, reason="wrong person")
    held = hold(world)
    lift_hold(world.command(), held.id)
    found = entries()
    assert [entry.kind for entry in found] == ["revocation", "hold_placed", "hold_lifted"]
    with world.inside():
        job = DeletionJob.objects.select_related("revocation").get()
    body = found[0].body
    assert (found[0].object_id, found[0].tenant_id, body["job"]) == (job.revocation_id, world.tenant_id, str(job.id))
    assert (body["epoch"], body["suppress_future"], body["deletion_request_id"]) == (1, True, "del-1")
    said = records.ledger_path().read_text()
    assert not any(word in said for word in ("harbour", "wrong person", "alice", "litigation 7"))
    assert standing() == "ok"
    state = LedgerState.objects.get()
    assert (state.number, state.hash) == (3, found[-1].hash)
    assert set(LedgerRecord.objects.values_list("number", flat=True)) == {1, 2, 3}


def test_what_a_crash_left_unwritten_or_unnoted_is_made_good_and_never_doubled(world, monkeypatch):
    accept_event(world.access("alice"), draft("the harbour cat", event_id="e-1"))
    monkeypatch.setattr(records, "_write_now", lambda: None)  # died right after the commit
    erase(world)
    assert not records.ledger_path().exists() and standing() == "none"
    monkeypatch.setattr(records, "advance", lambda: None)  # died after the file, before the records
    records.write_pending()
    records.write_pending()
    assert len(entries()) == 1 and LedgerRecord.objects.get().number is None and standing() == "ok"
    monkeypatch.undo()
    drain(kinds=["deletion"])
    assert len(entries()) == 1 and LedgerRecord.objects.get().number == 1 and LedgerState.objects.get().number == 1


def test_two_that_write_the_same_records_at_once_write_them_once(world, monkeypatch):
    monkeypatch.setattr(records, "_write_now", lambda: None)
    erase(world, "subject", "alice")
    real = records.drafts_of

    def overtaken(pending):
        monkeypatch.setattr(records, "drafts_of", real)
        assert records.write_pending() == 1  # the other one is wholly done before we have the lock
        return real(pending)

    monkeypatch.setattr(records, "drafts_of", overtaken)
    assert records.write_pending() == 0
    assert len(entries()) == 1 and standing() == "ok" and LedgerState.objects.get().number == 1


def test_a_ledger_that_cannot_be_written_stops_no_deletion_and_is_caught_up(world, monkeypatch):
    accept_event(world.access("alice"), draft("the harbour cat", event_id="e-1"))

    def full(*_):
        raise LedgerTroubleError(file.Trouble.UNWRITABLE)

    monkeypatch.setattr(file, "append", full)
    erase(world)
    assert entries() == [] and standing() == "ok" and texts(world) == ["the harbour cat"]
    problem(world.alice.get("/memory-events/e-1"), 410, "revoked")
    later = clock.now() + timedelta(minutes=2)
    with clock.set_clock(lambda: later):
        assert guard.late() == 1
    drain(kinds=["deletion"])
    assert texts(world) == [] and entries() == []
    monkeypatch.undo()
    drain(kinds=["deletion"])
    assert len(entries()) == 1 and guard.late() == 0


def test_a_refused_deletion_leaves_nothing_in_the_ledger(world):
    problem(
        world.alice.post("/memory-deletions", {"deletion_request_id": "d", "target": {"kind": "event", "id": "x"}}),
        404,
        "not_found",
    )
    assert not LedgerRecord.objects.exists() and not records.ledger_path().exists()


def test_every_new_entry_reaches_the_second_location(world, settings, tmp_path):
    settings.LEDGER_COPY = str(tmp_path / "copy")
    assert guard.copy_standing() == "ok"
    erase(world, "subject", "alice")
    copy = tmp_path / "copy" / file.NAME
    assert copy.read_bytes() == records.ledger_path().read_bytes() and guard.copy_standing() == "ok"
    copy.unlink()
    assert guard.copy_standing() == "failing"
    drain(kinds=["deletion"])
    assert guard.copy_standing() == "ok"
    (tmp_path / "blocked").write_text("no folder")
    settings.LEDGER_COPY = str(tmp_path / "blocked")
    erase(world, "session", "s-1", request_id="del-2")
    assert guard.copy_standing() == "failing" and len(entries()) == 2 and standing() == "ok"


# -- back from a backup


@pytest.mark.requirement("DJ-10", "DJ-15", "DJ-02")
def test_a_restored_database_gives_nothing_out_until_it_has_forgotten_again(world, backup):
    alice = world.access("alice")
    accept_event(alice, draft("the harbour cat", event_id="e-1"))
    accept_event(alice, draft("the harbour dog", event_id="e-2"))
    old = backup()
    job_id = erase(world)
    drain(kinds=["deletion"])
    with world.inside():
        before = Revocation.objects.values("id", "accepted_at", "epoch", "target_id").get()
    assert texts(world) == ["the harbour dog"] and epoch(world) == 1
    old.restore()
    assert texts(world) == ["the harbour cat", "the harbour dog"] and epoch(world) == 0
    assert standing() == "ahead"
    answer = world.alice.post("/memory-query", QUESTION)
    assert (answer.status_code, answer.json()["outcome"], answer.json()["items"]) == (200, "unavailable", [])
    for path in ("/memory-events/e-1", "/memory-events/e-2?include=content", "/memories", "/memory-candidates"):
        problem(world.alice.get(path), 503, "authority_unavailable")
    problem(world.alice.post("/memory-events", {}), 503, "authority_unavailable")
    assert world.alice.get("/whoami").status_code == 200
    reapplication.mend()
    assert standing() == "reapplying"
    assert world.alice.post("/memory-query", QUESTION).json()["outcome"] == "unavailable"
    drain()
    assert standing() == "ok" and texts(world) == ["the harbour dog"] and epoch(world) == 1
    with world.inside():
        assert Revocation.objects.values("id", "accepted_at", "epoch", "target_id").get() == before
        assert DeletionJob.objects.get().state == "completed"
    problem(world.alice.get("/memory-events/e-1"), 410, "revoked")
    assert world.alice.get(f"/memory-deletions/{job_id}").json()["status"] == "completed"
    assert world.alice.get("/memory-events/e-2").status_code == 200
    reapplication.mend()
    assert epoch(world) == 1 and len(entries()) == 1


@pytest.mark.requirement("DJ-10")
def test_the_worker_mends_by_itself_and_does_nothing_else_meanwhile(world, backup, monkeypatch):
    old = backup()
    accept_event(world.access("alice"), draft("the harbour cat", event_id="e-1"))
    erase(world, "subject", "alice")
    old.restore()
    accept = draft("heard before the ledger was looked at", event_id="e-9")
    monkeypatch.setattr("apps.retention.ledger.reapplication.mend", lambda: None)
    accept_event(world.access("alice"), accept)
    drain()
    with world.inside():
        assert ProcessingJob.objects.get(kind="extract").state == "queued"  # it might have been sent to an extractor outside
    monkeypatch.undo()
    drain()
    drain()
    assert standing() == "ok" and texts(world) == []


@pytest.mark.requirement("DJ-10", "DJ-18")
def test_holds_placed_and_lifted_since_the_backup_hold_and_are_lifted_again(world, backup):
    accept_event(world.access("alice"), draft("the harbour cat", event_id="e-1"))
    accept_event(world.access("bob"), draft("the harbour dog", event_id="e-2"))
    other = hold(world, "bob")
    old = backup()
    held = hold(world)
    lift_hold(world.command(), other.id)
    erase(world, "subject", "alice")
    drain(kinds=["deletion"])
    old.restore()
    drain()
    with world.inside():
        assert [one.id for one in holds_in_force(world.tenant_id)] == [held.id]
        again = LegalHold.objects.get(pk=held.id)
        assert (again.until, again.reason_code, again.target_public_id) == (held.until, "litigation", "alice")
        assert DeletionJob.objects.get().state == "blocked_by_retention"
    assert texts(world) == ["the harbour cat", "the harbour dog"]
    assert standing() == "ok"  # what is held stays, and the barrier keeps it from everybody
    problem(world.alice.get("/memory-events/e-1"), 410, "revoked")
    lift_hold(world.command(), held.id)
    drain(kinds=["deletion"])
    assert texts(world) == ["the harbour dog"]


def test_new_life_after_the_restore_stays_and_new_deletions_are_numbered_on(world, backup):
    alice = world.access("alice")
    accept_event(alice, draft("the harbour cat", event_id="e-1"))
    old = backup()
    erase(world, "subject", "alice")
    drain(kinds=["deletion"])
    old.restore()
    # Between the restore and the guard: the same request once more, another one, and something new.
    accept_event(alice, draft("said afterwards", event_id="e-5", occurred_at=clock.now() + timedelta(seconds=5)))
    erase(world, "session", "s-1", request_id="del-2")
    assert standing() == "ahead" and len(entries()) == 2
    drain()
    drain()
    assert standing() == "ok" and texts(world) == ["said afterwards"]
    assert epoch(world) == 2
    assert LedgerState.objects.get().number == 2
    erase(world, "subject", "alice", request_id="del-3")
    assert [entry.number for entry in entries()] == [1, 2, 3] and standing() == "ok"


def test_the_same_request_sent_again_before_the_guard_is_one_deletion(world, backup):
    accept_event(world.access("alice"), draft("the harbour cat", event_id="e-1"))
    old = backup()
    erase(world)
    old.restore()
    erase(world)
    drain()
    assert standing() == "ok" and texts(world) == []
    with world.inside():
        assert DeletionJob.objects.count() == 1
    old.restore()
    accept_event(world.access("alice"), draft("the harbour dog", event_id="e-2"))
    erase(world, target="e-2")  # the id of the request, for another target
    drain()
    assert standing() == "ok" and texts(world) == []
    with world.inside():
        assert DeletionJob.objects.count() == 3


def test_a_failed_deletion_keeps_the_door_shut(world, backup):
    accept_event(world.access("alice"), draft("the harbour cat", event_id="e-1"))
    old = backup()
    erase(world)
    old.restore()
    reapplication.mend()
    with system_context():
        DeletionJob.objects.update(state="failed_requires_action")
        ProcessingJob.objects.filter(kind="deletion").update(state="dead")
    drain()
    assert standing() == "reapplying" and reapplication.open_deletions() == 1
    with system_context():
        Tenant.objects.update(status=Tenant.Status.SUSPENDED)  # nobody reads there anyway
    drain()
    assert standing() == "ok"


def test_what_the_restored_database_never_knew_is_only_noted(world, backup):
    old = backup()
    other = World("basin")
    accept_event(other.access("alice"), draft("the basin cat", event_id="e-1"))
    erase(other)
    hold(other)
    old.restore()
    with system_context():
        Tenant.objects.filter(pk=other.tenant_id).delete()
    assert standing() == "ahead"
    drain()
    assert standing() == "ok" and LedgerState.objects.get().number == 2


# -- a ledger that is not as it should be


def harmed(world):
    accept_event(world.access("alice"), draft("the harbour cat", event_id="e-1"))
    accept_event(world.access("alice"), draft("the harbour dog", event_id="e-2"))
    erase(world)
    erase(world, "session", "s-1", request_id="del-2")
    return records.ledger_path()


HARMS = {
    "missing": lambda path: path.unlink(),
    "behind": lambda path: path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2])),
    "corrupt": lambda path: path.write_bytes(path.read_bytes().replace(b'"epoch":1', b'"epoch":8')),
    "foreign": lambda path: (path.unlink(), file.begin(path, new_id())),
    "unreadable": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_ledger_that_is_not_right_is_named_and_nothing_is_given_out(world, harm):
    path = harmed(world)
    assert standing() == "ok"
    HARMS[harm](path)
    guard._Known.key = None
    records._readers.clear()  # as a process that starts now
    assert standing() == harm
    assert world.alice.post("/memory-query", QUESTION).json()["outcome"] == "unavailable"
    problem(world.alice.get("/memories"), 503, "authority_unavailable")
    drain()
    assert standing() == harm  # nobody makes up for it by himself


def test_a_file_changed_under_a_running_process_is_noticed_by_its_name(world):
    path = harmed(world)
    assert guard.standing() == "ok"
    kept = path.read_bytes()
    HARMS["behind"](path)
    assert guard.standing() == "behind"
    path.write_bytes(kept)
    assert guard.standing() == "ok"
    os.utime(path, ns=(1, 1))
    assert guard.standing() == "ok"


def test_nothing_is_read_while_nothing_changes(world, monkeypatch, django_assert_num_queries):
    harmed(world)
    assert guard.standing() == "ok"
    monkeypatch.setattr("pathlib.Path.open", None)
    with django_assert_num_queries(1):
        assert guard.standing() == "ok"


def test_a_database_without_revocations_of_its_own_goes_with_the_ledger_that_is_there(world, backup):
    old = backup()
    harmed(world)
    old.restore()
    assert not LedgerState.objects.exists() and standing() == "ahead"
    drain()
    assert standing() == "ok" and len(entries()) == LedgerState.objects.get().number == 2


def test_what_was_revoked_before_there_was_a_ledger_is_written_to_it(world):
    harmed(world)
    with system_context():
        DeletionStep.objects.all().delete()
    records.ledger_path().unlink()
    LedgerState.objects.all().delete()
    LedgerRecord.objects.update(number=None, hash="")
    guard.forget()
    assert standing() == "none"
    records.write_pending()
    assert standing() == "ok" and len(entries()) == 2
