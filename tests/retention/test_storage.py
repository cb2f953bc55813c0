"""After the storage layer, no file of the database but its log holds a byte of what was deleted (design/05 Proof)."""

from __future__ import annotations

import os
import secrets
import threading
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from apps.evidence.ingestion import accept_event
from apps.evidence.models import Content
from apps.jobs.runner import drain
from apps.retention import layers, storage
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.private_tables import keep_no_samples, private_columns, private_tables
from apps.retention.reads import read_deletion
from apps.retention.storage import StorageLayer
from memory_platform.embedded.places import Places
from memory_platform.embedded.server import superuser_connection
from tests.evidence.drafts import draft
from tests.tenants.world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db, monkeypatch) -> World:
    monkeypatch.setitem(layers._layers, "storage", StorageLayer())
    return World("orchard")


def tell(world, *texts):
    for number, text in enumerate(texts):
        accept_event(world.access("alice"), draft(text, event_id=f"e-{number}", topics=(), metadata={"note": text[:60]}))


def erase(world, request_id="del-1", target="e-0"):
    access = world.access("alice")
    return request_deletion(access, DeletionRequest(deletion_request_id=request_id, kind="event", target=target)).job_id


def storage_of(world, job_id):
    return next(one for one in read_deletion(world.access("alice"), job_id).layers if one.layer == "storage")


def files_with(found: bytes, folder: Path) -> list[str]:
    """Files below a database's folder in which these bytes stand; the write-ahead log is not looked at."""
    hits = []
    for base, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "pg_wal"]
        for name in files:
            try:
                data = (Path(base) / name).read_bytes()
            except FileNotFoundError:  # the server removes files all the time
                continue
            if found in data:
                hits.append(str(Path(base, name).relative_to(folder)))
    return hits


@pytest.mark.canary
@pytest.mark.requirement("DJ-05", "DJ-11", "DJ-22")
def test_a_deleted_text_is_in_no_file_of_the_database_but_its_log(world, database_server):
    if settings.DATABASE_URL:
        pytest.skip("the files of a foreign server are not ours to read")
    data = Path(settings.HOME).resolve() / "postgres" / "data"
    short, long = f"canary-{secrets.token_hex(8)}", f"canary-{secrets.token_hex(8)}"
    # The long one is stored out of line and does not compress; both are in the samples' reach and on disk before the deletion.
    tell(world, f"the word is {short}", long + secrets.token_hex(20_000), "something else stays")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    with database_server.admin() as admin:
        admin.execute("CHECKPOINT")
    assert files_with(short.encode(), data) and files_with(long.encode(), data)
    first, second = erase(world), erase(world, "del-2", "e-1")
    drain(kinds=["deletion"])
    with database_server.admin() as admin:
        admin.execute("CHECKPOINT")
    assert files_with(short.encode(), data) == [] and files_with(long.encode(), data) == []
    for job_id in (first, second):
        shown = read_deletion(world.access("alice"), job_id)
        assert shown.status == "completed"
        layer = storage_of(world, job_id)
        assert (layer.status, layer.found, layer.cleared, layer.remaining) == ("cleared", len(private_tables()), layer.found, 0)
        [copy] = [one for one in shown.remaining_copies if one.layer == "storage"]
        assert copy.location == "write_ahead_log" and copy.until > layer.verified_at
    with world.inside():
        assert Content.objects.filter(text="something else stays").exists()


def test_before_the_rewrite_the_pages_are_listed(world):
    tell(world, "soon gone")
    shown = read_deletion(world.access("alice"), erase(world))
    assert [one.location for one in shown.remaining_copies if one.layer == "storage"] == ["database_pages", "write_ahead_log"]


def other_session() -> psycopg.Connection:
    return psycopg.connect(**{k: v for k, v in connection.get_connection_params().items() if k in _PLAIN})


_PLAIN = ("host", "port", "user", "password", "dbname")


def test_a_snapshot_that_still_sees_the_rows_is_waited_for(world, monkeypatch):
    """A rewrite keeps rows that an open snapshot can see; saying cleared then would be a lie."""
    monkeypatch.setattr(storage, "_SNAPSHOT_PATIENCE", 0.2)
    tell(world, "still seen by somebody")
    with other_session() as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1 FROM pg_class LIMIT 1")
        job_id = erase(world)
        drain(kinds=["deletion"])
        waiting = storage_of(world, job_id)
        assert (waiting.status, waiting.detail) == ("retry_wait", "old_snapshot_open")
        assert read_deletion(world.access("alice"), job_id).status == "retry_wait"


def test_a_table_in_use_is_not_queued_for_longer_than_a_moment(world, monkeypatch):
    monkeypatch.setattr(storage, "_LOCK_WAIT", "50ms")
    monkeypatch.setattr(storage, "_LOCK_TRIES", 2)
    monkeypatch.setattr(storage, "_OLDER_SNAPSHOTS", "SELECT 0 WHERE %(mark)s <> ''")
    tell(world, "read while it goes")
    with other_session() as reader:
        reader.execute("LOCK TABLE evidence_content IN ACCESS SHARE MODE")
        job_id = erase(world)
        drain(kinds=["deletion"])
        assert (storage_of(world, job_id).status, storage_of(world, job_id).detail) == ("retry_wait", "storage_in_use")
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)


def test_deletions_that_wait_at_the_same_time_share_one_rewrite(world, monkeypatch):
    rewritten = []
    real = storage._vacuum_full
    monkeypatch.setattr(storage, "_vacuum_full", lambda table: (rewritten.append(table), real(table)))
    noted = threading.Barrier(2)
    real_lock = storage._advisory_lock

    def lock(*, shared):
        if not shared:
            noted.wait(timeout=20)  # both have noted the file before either begins
        return real_lock(shared=shared)

    monkeypatch.setattr(storage, "_advisory_lock", lock)

    def one():
        storage.rewrite("evidence_content")
        connection.close()

    both = [threading.Thread(target=one) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join(timeout=60)
    assert rewritten == ["evidence_content"]


def test_verify_does_not_take_the_layers_word_for_it(world, monkeypatch):
    monkeypatch.setattr(storage, "_vacuum_full", lambda _table: None)
    tell(world, "claimed to be gone")
    job_id = erase(world)
    drain(kinds=["deletion"])
    shown = storage_of(world, job_id)
    assert shown.status == "retry_wait" and shown.remaining == len(private_tables())


# -- which tables


def test_tables_that_hold_words_are_found_from_the_models():
    found = private_columns()
    assert found["evidence_content"] == {"text", "sha256"}
    assert {"fact_key", "conditions", "topics"} <= found["memories_candidate"] and "fact_key" in found["memories_memory"]
    assert "retrieval_posting" not in found and "jobs_processingjob" not in found and "memories_relation" not in found


def test_the_database_keeps_no_samples_of_words(world):
    if settings.DATABASE_URL:
        pytest.skip("row security hides the samples from everybody but the superuser, who is not ours on a foreign server")
    tell(world, *(f"sample {n}" for n in range(30)))
    with superuser_connection(Places.of(Path(settings.HOME)), connection.settings_dict["NAME"]) as admin:
        admin.execute("ANALYZE")
        rows = admin.execute(
            "SELECT c.relname, a.attname FROM pg_statistic s JOIN pg_class c ON c.oid = s.starelid "
            "JOIN pg_attribute a ON a.attrelid = s.starelid AND a.attnum = s.staattnum"
        )
        sampled = set(rows.fetchall())
    assert ("evidence_content", "size") in sampled  # the others are analysed as ever
    assert not [pair for pair in sampled if pair[1] in private_columns().get(pair[0], ())]
    assert keep_no_samples() == 0
