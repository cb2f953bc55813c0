"""The restore drill, with real processes: back up, delete, put the older backup back, and nothing comes back (DJ-10, RA-28)."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_platform.embedded.leases import lease
from memory_platform.embedded.places import DATABASE, Places
from memory_platform.embedded.server import superuser_connection
from tests.benchmarks.processes import ROOT, Served, served

pytestmark = [pytest.mark.slow, pytest.mark.canary]

OPERATIONS = '["events:write", "candidates:write", "memory:read", "memory:write", "memory:delete"]'
TENANT = f"""
tenants:
  - key: drill
    subjects: [{{key: alice}}, {{key: bob}}]
    agents:
      - key: host
        credentials:
          - {{name: alice, subject: alice, operations: {OPERATIONS}}}
          - {{name: bob, subject: bob, operations: {OPERATIONS}}}
"""
SECRET, BOBS, KEPT = "the zebrafinch sings at noon", "the quokka naps at dawn", "the pelican fishes at night"


class Installation:
    """One home with its commands."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir()
        file = home.parent / "tenant.yaml"
        file.write_text(TENANT, encoding="utf-8")
        told = json.loads(self.manage("provision", str(file), "--json").stdout)
        self.tokens = {name.split("/")[1]: token for name, token in told["tenants"]["drill"]["credentials"].items()}

    def manage(self, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        dropped = ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")
        environment = {name: text for name, text in os.environ.items() if name not in dropped}
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={**environment, "MEMORY_PLATFORM_HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == expect, (arguments, done.stdout, done.stderr)
        return done

    def json(self, *arguments: str, expect: int = 0) -> Any:
        name, *rest = arguments
        return json.loads(self.manage(name, "--json", *rest, expect=expect).stdout)

    def call(self, copy: Served, who: str, method: str, path: str, body: object = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(copy.address, timeout=30)
        try:
            headers = {"Authorization": f"Bearer {self.tokens[who]}", "Content-Type": "application/json"}
            connection.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def remember(self, copy: Served, who: str, content: str) -> str:
        body = {
            "candidate_id": f"c-{abs(hash(content))}",
            "scope": "user",
            "memory_type": "fact",
            "fact_key": content.split()[1],
            "content": content,
            "epistemic_status": "explicit",
        }
        status, made = self.call(copy, who, "POST", "/memory-candidates", body)
        assert status == 201 and made["memory_id"], made
        return str(made["memory_id"])

    def ask(self, copy: Served, who: str, question: str) -> tuple[str, list[str]]:
        status, packet = self.call(copy, who, "POST", "/memory-query", {"task": "Answer.", "question": question})
        assert status == 200, packet
        return packet["outcome"], [item["content"] for item in packet["items"]]

    def said(self, words: str) -> list[str]:
        """Tables with a row that says these words, whoever may read it."""
        with lease(self.home), superuser_connection(Places.of(self.home), DATABASE) as connection:
            tables = [
                name
                for (name,) in connection.execute(
                    "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
                )
            ]
            like = f"%{words}%"
            found = [
                name
                for name in tables
                if connection.execute(f"SELECT EXISTS (SELECT 1 FROM {name} t WHERE t::text LIKE %s)", [like]).fetchone()[0]
            ]
        return sorted(found)


@pytest.fixture
def here(tmp_path: Path, monkeypatch) -> Installation:
    for name in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE"):
        monkeypatch.delenv(name, raising=False)
    return Installation(tmp_path / "home")


@pytest.mark.requirement("DJ-10", "DJ-11", "RA-28", "RA-29")
def test_what_was_deleted_since_a_backup_does_not_come_back_with_it(here, tmp_path):
    with served(here.home, "--no-worker") as copy:
        lost = here.remember(copy, "alice", SECRET)
        here.remember(copy, "bob", BOBS)
        kept = here.remember(copy, "alice", KEPT)
        made = here.json("backup", str(tmp_path / "backups"))
        folder = Path(made["location"])
        # After the backup: a memory and a subject are deleted, and something is held.
        status, deletion = here.call(copy, "alice", "DELETE", f"/memories/{lost}?deletion_request_id=d-1")
        assert status == 202
        body = {"deletion_request_id": "d-2", "target": {"kind": "subject", "id": "bob"}}
        assert here.call(copy, "bob", "POST", "/memory-deletions", body)[0] == 202
        here.manage("worker", "--drain", "--kinds", "deletion")
        status, done = here.call(copy, "alice", "GET", f"/memory-deletions/{deletion['job_id']}")
        assert done["status"] == "completed"
        [remaining] = [one for one in done["remaining_copies"] if one["layer"] == "backups"]
        assert (remaining["location"], remaining["until"][:10]) == (folder.name, made["expires_at"][:10])
        hold = here.json(
            "legal_holds", "--tenant", "drill", "place", "memory", kept, "--reason", "case.7", "--until", "2030-01-31"
        )
    assert here.said(SECRET) == here.said(BOBS) == []

    # The worst case: the database is put back by other means, and the product is started as if nothing were.
    put_back_by_hand(here.home, folder / "database.dump")
    assert here.said(SECRET) == here.said(BOBS) == ["evidence_content"]
    with served(here.home, "--no-worker") as copy:
        assert ready(copy)["ledger"] == "ahead"
        for who in ("alice", "bob"):
            assert here.ask(copy, who, "what does the zebrafinch or the quokka do?") == ("unavailable", [])
            assert here.call(copy, who, "GET", "/memories")[0] == 503
        assert here.call(copy, "alice", "GET", f"/memories/{lost}")[0] == 503
        found = here.json("restore_guard")
        assert (found["standing"], found["missing"], found["open_deletions"], found["revived"]) == ("ok", 0, 0, 0)
        assert found["applied"] >= 3
        nothing_is_back(here, copy, lost, kept)
        assert here.call(copy, "bob", "GET", "/memories")[1]["items"] == []
        assert here.said(SECRET) == here.said(BOBS) == []
        # One record copied back by hand out of the old backup is served to nobody, and found.
        copy_one_record_back(here.home, lost)
        nothing_is_back(here, copy, lost, kept)
        found = here.json("restore_guard")
        assert (found["applied"], found["cleared_again"], found["revived"]) == (0, 1, 0)
        assert here.said(SECRET) == []

    # With the product's own command, which does all of it.
    found = here.json("restore", str(folder), "--replace")["guard"]
    assert (found["standing"], found["open_deletions"]) == ("ok", 0) and found["applied"] >= 3
    assert here.said(SECRET) == here.said(BOBS) == []
    assert [one["hold"] for one in here.json("legal_holds", "--tenant", "drill", "list")["holds"]] == [hold["holds"][0]["hold"]]


def nothing_is_back(here: Installation, copy: Served, lost: str, kept: str) -> None:
    assert here.ask(copy, "alice", "what does the zebrafinch do?")[1] == []
    assert here.ask(copy, "alice", "when does the pelican fish?")[1] == [KEPT]
    assert here.call(copy, "alice", "GET", f"/memories/{lost}")[0] in (404, 410)
    assert [one["memory_id"] for one in here.call(copy, "alice", "GET", "/memories")[1]["items"]] == [kept]


def ready(copy: Served) -> Any:
    connection = http.client.HTTPConnection(copy.address, timeout=30)
    try:
        connection.request("GET", "/api/v1/health/ready")
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def lost_row(public: str) -> str:
    from apps.core.ids import parse_public_id

    return str(parse_public_id("mem", public))


def put_back_by_hand(home: Path, dump: Path) -> None:
    """As somebody would who knows PostgreSQL and not the product: into another database, and that one takes the name."""
    from memory_platform.embedded.places import OWNER
    from memory_platform.embedded.programs import program

    with lease(home):
        host = str(Places.of(home).socket_folder)
        with superuser_connection(Places.of(home)) as admin:
            admin.execute(f"CREATE DATABASE by_hand OWNER {OWNER}")
        command = [program("pg_restore"), "--host", host, "--username", "postgres", "--dbname", "by_hand", "--no-comments", dump]
        subprocess.run(command, check=True, capture_output=True)
        with superuser_connection(Places.of(home)) as admin:
            admin.execute(f"ALTER DATABASE {DATABASE} RENAME TO thrown_away")
            admin.execute(f"ALTER DATABASE by_hand RENAME TO {DATABASE}")
            admin.execute("DROP DATABASE thrown_away")


def copy_one_record_back(home: Path, public: str) -> None:
    """The memory's row and its words, as they were, past every trigger and wall."""
    key = lost_row(public)
    with lease(home), superuser_connection(Places.of(home), DATABASE) as admin:
        with pytest.raises(Exception, match="stays revoked"):
            admin.execute("UPDATE memories_memory SET state = 'active' WHERE id = %s", [key])
        with admin.transaction():
            admin.execute("SET LOCAL session_replication_role = replica")
            row = admin.execute(
                "INSERT INTO evidence_content (id, tenant_id, namespace_id, text, sha256, size, created_at) "
                "SELECT gen_random_uuid(), tenant_id, namespace_id, %s, '', 9, now() FROM memories_memory WHERE id = %s RETURNING id",
                [SECRET, key],
            ).fetchone()
            version = admin.execute(
                "UPDATE memories_memoryversion SET content_id = %s WHERE memory_id = %s RETURNING id", [row[0], key]
            ).fetchone()
            admin.execute(
                "UPDATE memories_memory SET state = 'active', fact_key = 'zebrafinch', head_id = %s WHERE id = %s",
                [version[0], key],
            )
