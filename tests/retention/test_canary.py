"""Unique words in every place where text can come in; after the deletion they are nowhere (design/05 Proof).

Ids that callers choose (event, candidate, request, session) are no text: they stay, so that what is sent again is known to be gone.
"""

from __future__ import annotations

import io
import json
import logging
import os
import secrets
import subprocess
import tempfile
import zipfile
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connection
from django.test import Client

from apps.jobs.models import ProcessingJob
from apps.jobs.runner import drain
from apps.memories import jobs
from apps.memories.models import Memory
from apps.retention import layers
from apps.retention.certificates import read_certificate
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.downstream.notices import Downstream
from apps.retention.downstream.systems import register_system
from apps.retention.reads import read_deletion
from memory_platform import urls  # noqa: F401 - loads the console's pages
from memory_platform.embedded.places import Places
from memory_platform.embedded.programs import program
from memory_platform.operations.logs import JsonLines
from tests.evidence.drafts import body
from tests.retention.webhook_server import webhook_server
from tests.tenants.world import World

pytestmark = [pytest.mark.canary, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
HOME = Path(django_settings.HOME)  # where the server is
# Where words really come in: without these the test would prove nothing.
STORED = {
    *("event", "metadata name", "metadata", "reference", "batch", "failed job", "imported turn"),
    *("fact key", "candidate", "rationale", "alias", "condition name", "condition", "waiting candidate", "withdrawn candidate"),
    *("rejected candidate", "rejected rationale", "disputed fact key", "disputed one", "disputed other"),
    *("revision", "revised rationale", "reason of a revision", "revised alias", "revised condition", "withdrawn memory"),
    *("task", "question", "role of the window", "window", "attachment", "environment name", "environment"),
    *("reason of an adoption", "reason of a withdrawal"),
}
MARK = "zq" + secrets.token_hex(5)  # of this run; every word begins with it


@pytest.fixture(autouse=True)
def _only_evidence():
    """Here all floors' layers are meant."""


class Words:
    """One unique word for each place, so that a leak says where it came in."""

    def __init__(self) -> None:
        self.places: dict[str, str] = {}

    def __call__(self, place: str) -> str:
        word = f"{MARK}n{len(self.places):03d}"
        self.places[word] = place
        return word

    def found_in(self, data: bytes | str) -> set[str]:
        text = data if isinstance(data, str) else data.decode("latin-1")
        if MARK not in text:
            return set()
        return {place for word, place in self.places.items() if word in text} or {"a part of a word"}


@pytest.fixture
def lines():
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.addHandler(handler)
    level, _ = root.level, root.setLevel(logging.DEBUG)
    yield out
    root.removeHandler(handler)
    root.setLevel(level)


def ok(answer, *statuses):
    assert answer.status_code in (statuses or (200, 201, 202)), answer.content
    return answer.json()


def propose(caller, key, content, **more):
    return caller.post(
        "/memory-candidates",
        {
            "candidate_id": f"cand-{secrets.token_hex(4)}",
            "scope": "user",
            "memory_type": "fact",
            "fact_key": key,
            "content": content,
            "epistemic_status": "explicit",
            **more,
        },
    )


def say_events(world, word, monkeypatch):
    alice = world.alice
    first = body(f"I live in {word('event')}", event_id="e-1", metadata={word("metadata name"): word("metadata")})
    ok(alice.post("/memory-events", first))
    reference = {"uri": f"https://x.example/{word('reference')}", "sha256": "0" * 64, "media_type": "text/plain", "byte_size": 3}
    ok(alice.post("/memory-events", body(None, event_id="e-2", content_ref=reference)))
    good, bad = (
        body(f"batched {word('batch')}", event_id="e-3"),
        body(f"refused {word('bad item')}", event_id="e-4", scope="moon"),
    )
    ok(alice.post("/memory-events/batch", {"events": [good, bad]}))
    # Refused whole: unknown labels, unknown fields, another text for a known id.
    assert alice.post("/memory-events", body(event_id="e-5", topics=[word("unknown label")])).status_code == 422
    assert alice.post("/memory-events", body(event_id="e-6", **{word("unknown field"): 1})).status_code == 422
    assert alice.post("/memory-events", body(f"other {word('id conflict')}", event_id="e-1")).status_code == 409
    drain()
    # A job that fails with the text in its exception, until it is a dead letter.
    with monkeypatch.context() as patched:

        def fail(*_args, **_more):
            raise ValueError(failing)

        failing = f"I like {word('failed job')}"
        for name in ("read_event", "read_events"):
            patched.setattr(jobs, name, fail)
        ok(alice.post("/memory-events", body(failing, event_id="e-7")))
        with world.inside():
            ProcessingJob.objects.filter(kind="extract", state="queued").update(max_attempts=1)
        drain()
    with world.inside():
        assert ProcessingJob.objects.filter(kind="extract", state="dead").count() == 1


def say_memories(alice, word):
    made = ok(
        propose(
            alice,
            f"home.{word('fact key')}",
            f"The lamp is {word('candidate')}",
            rationale=word("rationale"),
            aliases=[word("alias")],
            conditions={word("condition name"): word("condition")},
            source_event_ids=["e-1"],
        )
    )["memory_id"]
    hidden = propose(
        alice, f"door.{word('waiting key')}", f"{word('waiting candidate')}\u202e", rationale=word("waiting rationale")
    )
    assert ok(hidden)["status"] == "pending_review"
    gone = ok(propose(alice, f"gone.{word('withdrawn candidate key')}", f"{word('withdrawn candidate')}\u202e"))
    ok(alice.post(f"/memory-candidates/{gone['candidate_id']}/withdraw", {}))
    refused = {"rationale": word("rejected rationale"), "source_event_ids": ["none"]}
    assert ok(propose(alice, f"x.{word('rejected key')}", word("rejected candidate"), **refused))["status"] == "rejected"
    key = f"car.{word('disputed fact key')}"
    ok(propose(alice, key, word("disputed one"), source_event_ids=["e-1"]))
    assert ok(propose(alice, key, word("disputed other"), source_event_ids=["e-1"]))["status"] == "conflict"
    change = {
        "content": f"The lamp is {word('revision')}",
        "rationale": word("revised rationale"),
        "reason": word("reason of a revision"),
        "aliases": [word("revised alias")],
        "conditions": {"room": word("revised condition")},
        "expected_version": 1,
    }
    ok(alice.patch(f"/memories/{made}", change))
    second = ok(propose(alice, "tree.kind", f"The tree is {word('withdrawn memory')}"))["memory_id"]
    ok(alice.post(f"/memories/{second}/withdraw", {"expected_version": 1, "reason": word("reason of a withdrawal")}))


def ask(alice, word):
    ok(
        alice.post(
            "/memory-query",
            {
                "task": word("task"),
                "question": f"which lamp {word('question')}?",
                "window": [{"role": word("role of the window"), "content": word("window")}],
                "attachments": [{"media_type": "text/plain", "content": word("attachment")}],
                "environment": {word("environment name"): word("environment")},
                "topics": [word("unknown topic")],
                "entities": [word("unknown entity")],
                "fact_keys": [word("asked fact key")],
                "budget": {"limit": 900, "unit": "tokens", "tokenizer": word("tokenizer")},
            },
        )
    )
    ok(propose(alice, "boat.name", "The boat is called Albatross"))
    found = ok(alice.post("/memory-query", {"question": "what is the boat called?"}))
    item = found["items"][0]
    used = {"memory_id": item["memory_id"], "version": item["version"], "used": False, "reason": word("reason of an adoption")}
    ok(alice.post(f"/memory-traces/{found['trace_id']}/adoptions", {"adopted": [used]}))
    alice.get(f"/memories?fact_key={word('address')}")
    alice.get(f"/{word('path')}")


def look_in_the_console(world, word):
    staff = Client()
    staff.force_login(world.person("compliance"))
    staff.get("/admin/memories/memory/", {"q": word("console search")})
    with world.inside():
        key = Memory.objects.order_by("id").values_list("id", flat=True).first()
    staff.post(f"/admin/memories/memory/{key}/words/", {"reason": word("console form"), "purpose": word("console purpose")})
    staff.post("/admin/login/", {"username": word("user name"), "password": word("password")})


def everywhere(world, word, tmp, out, capfd) -> dict[str, set[str]]:
    """Each place that is looked at, and the words that were found there."""
    found = {"the log": word.found_in(out.getvalue())}
    said = capfd.readouterr()
    found["standard output and error"] = word.found_in(said.out + said.err)
    for folder in (Path(django_settings.HOME) / "exports", Path(django_settings.LEDGER_FOLDER), tmp):
        for base, _, files in os.walk(folder):
            for name in files:
                found[f"{folder.name}/{name}"] = word.found_in(name + Path(base, name).read_bytes().decode("latin-1"))
    database = connection.settings_dict["NAME"]
    places = Places.of(HOME)
    dump = [program("pg_dump"), "-h", places.socket_folder, "-p", str(connection.settings_dict["PORT"] or 5432), "-U", "postgres"]
    told = subprocess.run([*map(str, dump), database], capture_output=True, check=True)
    assert b"COPY public.evidence_content" in told.stdout
    for line in told.stdout.splitlines():
        if MARK.encode() in line:
            found.setdefault("pg_dump", set()).update(word.found_in(line))
    return {place: words for place, words in found.items() if words}


def in_files_of_the_database(server, word) -> dict[str, set[str]]:
    """The data directory but for its log: this database's own files, and whatever is shared by all."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT oid FROM pg_database WHERE datname = current_database()")
        own = str(cursor.fetchone()[0])
    with server.admin() as admin:
        admin.execute("CHECKPOINT")
    found = {}
    for base, folders, files in os.walk(HOME.resolve() / "postgres" / "data"):
        if Path(base).name == "base":
            folders[:] = [name for name in folders if name in {own, "pgsql_tmp"}]
        folders[:] = [name for name in folders if name != "pg_wal"]
        for name in files:
            try:
                data = Path(base, name).read_bytes()
            except FileNotFoundError:
                continue
            if MARK.encode() in data:
                found[f"{Path(base).name}/{name}"] = word.found_in(data)
    return found


@pytest.mark.requirement("DJ-05", "DJ-11", "DJ-22", "AU-02", "TC-10")
def test_no_word_of_a_deleted_subject_is_left_anywhere(
    transactional_db, database_server, settings, tmp_path, monkeypatch, lines, capfd
):
    if settings.DATABASE_URL:
        pytest.skip("the files of a foreign server are not ours to read")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    settings.HOME = tmp_path / "home"
    settings.HOME.mkdir()
    settings.DOWNSTREAM_INTERNAL_HOSTS = ["127.0.0.1"]
    monkeypatch.setitem(layers._layers, "downstream", Downstream())
    word, world = Words(), World("orchard")
    alice = world.alice
    say_events(world, word, monkeypatch)
    say_memories(alice, word)
    ask(alice, word)
    look_in_the_console(world, word)
    turns = {
        "conversation": "harbour",
        "turn": "1",
        "speaker": word("speaker"),
        "at": "2026-02-03",
        "text": word("imported turn"),
    }
    file = tmp_path / "turns.jsonl"
    file.write_text(json.dumps(turns) + "\n")
    call_command("import_conversations", str(file), "--tenant", "orchard")
    file.unlink()
    drain()
    export = ok(alice.post("/subject-exports", {"export_request_id": "exp-1", "subject": "alice"}))["export_id"]
    drain()
    archive = alice.get(f"/subject-exports/{export}/archive")
    with zipfile.ZipFile(io.BytesIO(b"".join(archive.streaming_content))) as told:
        handed_out = b"".join(told.read(name) for name in told.namelist())
    assert word.found_in(handed_out) >= STORED - {"imported turn"}
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    with database_server.admin() as admin:
        admin.execute("CHECKPOINT")
    assert set().union(*in_files_of_the_database(database_server, word).values()) >= STORED
    with webhook_server() as server:
        register_system(world.command(), name="crm", url=server.url)
        gone = {
            "deletion_request_id": "del-1",
            "target": {"kind": "subject", "id": "alice"},
            "reason": word("reason of the deletion"),
        }
        deletions = [ok(alice.post("/memory-deletions", gone))["job_id"]]
        imported = DeletionRequest("del-2", "namespace", "project/harbour", reason=word("second reason"))
        deletions.append(request_deletion(world.command(), imported).job_id)
        drain()
        told = b"".join(sent for _, sent in server.received)
    results = [read_deletion(world.command(), job) for job in deletions]
    assert [one.status for one in results] == ["completed", "completed"], results
    shown = json.dumps([read_certificate(world.command(), job).certificate for job in deletions]) + repr(results) + told.decode()
    call_command("export_traces", str(temporary / "traces"))
    assert word.found_in(shown) == set()
    assert everywhere(world, word, temporary, lines, capfd) == {}
    assert in_files_of_the_database(database_server, word) == {}
    assert len(word.places) > 45
