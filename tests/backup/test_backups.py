"""Backups as things that are kept for a time: made whole or not at all, checked file by file, listed, and deleted when they end."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.core import clock
from apps.evidence.ingestion import accept_event
from apps.jobs.runner import drain
from apps.retention import backups, layers
from apps.retention.backup_layer import BackupsLayer
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.ledger import file, guard, records
from apps.retention.ledger.file import LedgerTroubleError
from apps.retention.models import Backup, LedgerRecord
from apps.retention.reads import read_deletion
from memory_platform.backup import making, programs
from memory_platform.backup.folder import damage, read_manifest
from memory_platform.backup.programs import ProgramError
from memory_platform.operations import health, metrics
from tests.evidence.drafts import draft
from tests.tenants.world import World

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[2]


def call(*arguments, **options):
    out = io.StringIO()
    call_command(*arguments, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def made(transactional_db, tmp_path) -> Backup:
    return making.make_backup(tmp_path / "backups", days=30)


def later(**delta):
    at = clock.now() + timedelta(**delta)
    return clock.set_clock(lambda: at)


@pytest.mark.requirement("RA-28", "PC-01", "RT-03")
def test_a_backup_is_whole_private_registered_and_measured_file_by_file(made):
    folder = Path(made.location)
    assert made.expires_at - made.made_at == timedelta(days=30)
    for one in (folder.parent, folder, *folder.iterdir()):
        assert stat.S_IMODE(one.stat().st_mode) & 0o077 == 0
    manifest = read_manifest(folder)
    assert (manifest.backup_id, manifest.sha256, damage(folder, manifest)) == (made.id, made.sha256, [])
    assert made.size == (folder / "database.dump").stat().st_size
    assert [entry.kind for entry in file.entries(records.ledger_path())] == ["backup_begun", "backup_made"]
    assert json.loads(call("backup", "--check", "--json"))["standing"] == "ok"
    for harm, said in (
        (lambda: (folder / "database.dump").open("ab").write(b"x"), "another size"),
        (lambda: (folder / "extra").write_text("x"), "not in the manifest"),
        (lambda: Path.chmod(folder / "database.dump", 0o644), "mode 644"),
        ((folder / "database.dump").unlink, "missing"),
        (lambda: (folder / "manifest.json").write_text("{}"), "not one of ours"),
    ):
        harm()
        out = io.StringIO()
        with pytest.raises(SystemExit) as found:
            call_command("backup", "--check", stdout=out)
        assert found.value.code == 1 and said in out.getvalue()


@pytest.mark.requirement("RA-28", "RT-03")
def test_the_age_of_the_newest_is_shown_and_a_clock_that_went_back_is_no_young_backup(made, settings):
    assert backups.backup_standing() == "ok" and health._look().backup == "ok"
    with later(hours=27):
        assert backups.backup_standing() == "stale"
        assert json.loads(call_or_exit("backup", "--check", "--json"))["age_seconds"] >= 27 * 3600
    with later(days=-3):
        assert backups.backup_standing() == "stale"
    settings.BACKUP_MAX_AGE_HOURS = 28
    with later(hours=27):
        assert backups.backup_standing() == "ok"
    text = metrics.render().decode()
    assert "memory_platform_backup_age_seconds" in text and "memory_platform_barrier_whole 1.0" in text


def call_or_exit(*arguments):
    out = io.StringIO()
    with pytest.raises(SystemExit):
        call_command(*arguments, stdout=out)
    return out.getvalue()


@pytest.mark.requirement("RT-03", "RT-06")
def test_expired_and_unfinished_backups_are_deleted_by_the_sweep_and_nothing_else_is(made, tmp_path):
    half = backups.register_backup(tmp_path / "backups", days=30)
    Path(half.location).mkdir()
    strange = Backup.objects.create(location=str(tmp_path / "kept"), expires_at=clock.now(), finished_at=clock.now())
    (tmp_path / "kept").mkdir()
    away = Backup.objects.create(location=str(tmp_path / "unmounted" / "b"), expires_at=clock.now(), finished_at=clock.now())
    with later(days=2):
        assert json.loads(call("retention_sweep", "--dry-run", "--json"))["backups"] == 3
        assert json.loads(call("retention_sweep", "--json"))["backups"] == 2
    assert not Path(half.location).exists() and Path(made.location).exists() and (tmp_path / "kept").exists()
    assert set(Backup.objects.values_list("id", flat=True)) == {made.id, away.id}
    with later(days=31):
        assert backups.remove_expired() == 1
    assert not Path(made.location).exists() and Backup.objects.get().id == away.id
    assert LedgerRecord.objects.filter(kind="backup_removed").count() == 3 and strange


def test_a_backup_that_fails_leaves_nothing(transactional_db, tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "environment", lambda: {**os.environ, "PGHOST": str(tmp_path)})
    monkeypatch.setattr(making, "environment", programs.environment)
    with pytest.raises(ProgramError, match="pg_dump has failed"):
        making.make_backup(tmp_path / "backups", days=30)
    assert list((tmp_path / "backups").iterdir()) == [] and not Backup.objects.exists()
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    with pytest.raises(CommandError) as found:
        call("backup", str(blocked / "below"))
    assert found.value.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["backup"], 2),
        (["backup", "x", "--check"], 2),
        (["backup", "x", "--keep-days", "0"], 2),
        (["restore", "/nonexistent"], 2),
    ],
)
def test_wrong_usage(db, arguments, code):
    with pytest.raises(CommandError) as found:
        call(*arguments)
    assert found.value.returncode == code


def test_a_restore_is_refused_before_anything_is_touched(made, world):
    """In the order in which they are looked at: damage, a newer release, a database that is not empty, others who use it."""
    folder = Path(made.location)
    dump, manifest = folder / "database.dump", folder / "manifest.json"
    whole, told = dump.read_bytes(), manifest.read_text()
    for file_, data, options, said in (
        (dump, whole[:-1] + b"?", ["--replace"], "another sha256"),
        (manifest, told.replace('"retention":"', '"retention":"9').encode(), ["--replace"], "newer release (retention.9"),
        (manifest, told.encode(), [], "not empty"),
    ):
        file_.write_bytes(data)
        with pytest.raises(CommandError) as found:
            call("restore", str(folder), *options)
        assert said in str(found.value) and found.value.returncode == 1
        dump.write_bytes(whole)
    with psycopg.connect(**connection.get_connection_params()), pytest.raises(CommandError, match="1 other sessions"):
        call("restore", str(folder), "--replace")
    assert world.namespace("user", "alice")


def test_missing_programs_are_named(transactional_db, monkeypatch):
    monkeypatch.setattr(programs, "_installed", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(ProgramError, match=r"pg_dump, pg_restore and psql of PostgreSQL 1\d or newer are needed"):
        programs.programs()


# -- the layer


@pytest.fixture
def world(transactional_db, monkeypatch) -> World:
    monkeypatch.setattr(layers, "_layers", {"sources": layers.layer_named("sources"), "backups": BackupsLayer()})
    return World("orchard")


def erased(world):
    accept_event(world.access("alice"), draft("the harbour cat", event_id="e-1"))
    return request_deletion(world.access("alice"), DeletionRequest(deletion_request_id="d", kind="event", target="e-1")).job_id


def step(world, job_id):
    shown = read_deletion(world.access("alice"), job_id)
    return shown, next(one for one in shown.layers if one.layer == "backups")


@pytest.mark.requirement("DJ-10", "DJ-11", "DJ-22")
def test_a_deletion_lists_the_backups_that_still_hold_it_and_proves_its_entry(world, tmp_path):
    old = making.make_backup(tmp_path / "backups", days=7)
    job_id = erased(world)
    drain(kinds=["deletion"])
    young = making.make_backup(tmp_path / "backups", days=7)
    shown, found = step(world, job_id)
    assert (shown.status, found.status, found.found, found.cleared, found.remaining) == ("completed", "cleared", 1, 1, 0)
    assert [(one.location, one.reason, one.until) for one in shown.remaining_copies if one.layer == "backups"] == [
        (Path(old.location).name, "backup_until_expiry", old.expires_at)
    ]
    with later(days=8):
        assert backups.remove_expired() == 2 and young
    assert [one for one in read_deletion(world.access("alice"), job_id).remaining_copies if one.layer == "backups"] == []


@pytest.mark.parametrize("harm", ["unwritable", "corrupt"])
def test_a_deletion_is_not_completed_before_the_ledger_has_it(world, monkeypatch, harm):
    def full(*_):
        raise LedgerTroubleError(file.Trouble.UNWRITABLE)

    if harm == "unwritable":
        monkeypatch.setattr(file, "append", full)
    job_id = erased(world)
    if harm == "corrupt":
        path = records.ledger_path()
        path.write_bytes(path.read_bytes().replace(b'"number":1', b'"number":7'))
        records._readers.clear()
        guard.forget()
    drain(kinds=["deletion"])
    shown, found = step(world, job_id)
    assert (shown.status, found.status, found.detail) == ("retry_wait", "retry_wait", f"ledger_{harm}")
    assert shown.certificate_url is None
    if harm == "unwritable":
        monkeypatch.undo()
        monkeypatch.setattr(layers, "_layers", {"sources": layers.layer_named("sources"), "backups": BackupsLayer()})
        with later(hours=1):
            drain(kinds=["deletion"])
        assert step(world, job_id)[0].status == "completed"


# -- a database of somebody else


@pytest.mark.slow
def test_with_database_url_everything_is_the_same(made, database_server, tmp_path):
    """The owner of the tables is no superuser and bound by row-level security; all rows are there all the same."""
    host = quote(str(database_server.host), safe="")
    there = database_server.empty_database()
    url = f"postgres://{database_server.owner}@/{there}?host={host}"
    environment = {**os.environ, "DATABASE_URL": url, "MEMORY_PLATFORM_HOME": str(tmp_path / "home")}
    environment["DJANGO_SETTINGS_MODULE"] = "memory_platform.settings"

    def manage(*arguments):
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )

    World("orchard")
    full = making.make_backup(tmp_path / "backups", days=30)
    try:
        done = manage("restore", full.location, "--json")
        # The ledger is of another home: that is said, and nothing is given out before somebody decides.
        assert done.returncode == 1 and json.loads(done.stdout)["guard"]["standing"] == "missing", done.stderr
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM tenants_user")
            people = cursor.fetchone()
        with database_server.admin() as admin:
            admin.execute("SELECT 1")
        (tmp_path / "home" / "ledger").mkdir(mode=0o700, exist_ok=True)
        shutil.copy(records.ledger_path(), tmp_path / "home" / "ledger" / file.NAME)
        done = manage("restore_guard", "--json")
        assert done.returncode == 0, (done.stdout, done.stderr)
        refused = manage("restore", full.location)
        assert refused.returncode == 1 and "not empty" in refused.stderr
        again = manage("backup", str(tmp_path / "others"))
        assert again.returncode == 0 and people[0] > 0, again.stderr
    finally:
        database_server.drop(there)
