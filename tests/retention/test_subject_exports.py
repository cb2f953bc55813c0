"""Subject access: everything that is held about a subject, by the layers of a deletion, as a signed archive."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from apps.audits.models import AuditEntry
from apps.core import clock
from apps.core.ids import parse_public_id
from apps.evidence.models import Content
from apps.jobs.models import ProcessingJob
from apps.jobs.runner import drain
from apps.memories.models import MemoryVersion
from apps.retention import layers
from apps.retention.exports import archive, reach, spool, working
from apps.retention.exports.archive import MANIFEST, verify
from apps.retention.models import SubjectExport
from apps.retention.reads import read_deletion
from apps.retention.signing import public_key
from apps.retention.sweeps import due, sweep_tenant
from apps.tenants.models import Subject
from memory_platform import urls  # noqa: F401 - loads the pages
from tests.evidence.drafts import body
from tests.tenants.world import World, face, problem

KINDS = ["subject_export"]
NASTY = "<script>alert(1)</script> & \u202eolleh \"quoted\" 'single'"


@pytest.fixture(autouse=True)
def _only_evidence():
    """Here all floors' layers are meant."""


@pytest.fixture
def world(db, tmp_path, settings) -> World:
    settings.HOME = tmp_path
    return World("orchard")


@pytest.fixture
def lasting(transactional_db, tmp_path, settings) -> World:
    """A world whose commits are real: for the layer that rewrites tables, and for what happens after a commit."""
    settings.HOME = tmp_path
    return World("orchard")


def remember(caller, fact_key="lamp.place", content="The lamp stands in the hall", **more):
    made = caller.post(
        "/memory-candidates",
        {
            "candidate_id": f"cand-{fact_key}",
            "scope": "user",
            "memory_type": "fact",
            "fact_key": fact_key,
            "content": content,
            "epistemic_status": "explicit",
            **more,
        },
    )
    assert made.status_code == 201, made.content
    return made.json()["memory_id"]


def lived(world):
    """Something in every layer that hands something out."""
    alice = world.alice
    assert alice.post("/memory-events", body("I moved to Utrecht", event_id="e-1", metadata={"note": NASTY})).status_code == 202
    drain()
    assert alice.post("/memory-events", body("not read yet", event_id="e-2", derived_from=["e-1"])).status_code == 202
    made = remember(alice, rationale="because it is dark", source_event_ids=["e-1"])
    remember(alice, "door.colour", NASTY)  # waits for review
    other = remember(alice, "lamp.height", "The lamp hangs high", relations=[{"type": "derived_from", "memory_id": made}])
    revised = {"content": "The lamp stands in the attic", "reason": "moved", "expected_version": 1}
    assert alice.patch(f"/memories/{made}", revised).status_code == 200
    packet = alice.post("/memory-query", {"question": "where does the lamp stand?"}).json()
    assert packet["items"]
    used = {"adopted": [{"memory_id": made, "version": 2, "used": True, "reason": "it fits"}]}
    assert alice.post(f"/memory-traces/{packet['trace_id']}/adoptions", used).status_code == 200
    return made, other


def ask(caller, request_id="exp-1", subject="alice", **more):
    return caller.post("/subject-exports", {"export_request_id": request_id, "subject": subject, **more})


def exported(caller, request_id="exp-1"):
    answer = ask(caller, request_id)
    assert answer.status_code == 202, answer.content
    drain(kinds=KINDS)
    shown = caller.get(f"/subject-exports/{answer.json()['export_id']}").json()
    assert shown["status"] == "ready", shown
    return shown


def fetched(caller, shown) -> bytes:
    answer = caller.get(shown["archive_url"].removeprefix("/api/v1"))
    assert answer.status_code == 200 and answer["Content-Type"] == "application/zip"
    assert answer["Cache-Control"] == "no-store" and "attachment" in answer["Content-Disposition"]
    return b"".join(answer.streaming_content)


def rows(data: bytes) -> dict[str, list[dict]]:
    with zipfile.ZipFile(io.BytesIO(data)) as found:
        return {
            name.removesuffix(".jsonl"): [json.loads(line) for line in found.read(name).splitlines()]
            for name in found.namelist()
            if name.endswith(".jsonl")
        }


def counts(shown) -> dict[str, int]:
    return {one["layer"]: one["exported"] for one in shown["layers"]}


# -- one registry for both


def test_every_layer_hands_out_what_it_clears_or_says_why_not():
    for layer in layers.registered_layers():
        hands_out = type(layer).export is not layers.Layer.export
        assert hands_out is not (layer.key in reach.NOTHING_TO_HAND_OUT), layer.key
    assert set(reach.NOTHING_TO_HAND_OUT) <= set(layers.ORDER)


@pytest.mark.requirement("DJ-05", "DJ-23")
def test_an_export_and_the_erasure_after_it_agree_layer_by_layer_and_the_next_export_is_empty(lasting):
    world = lasting
    lived(world)
    shown = exported(world.alice)
    data = fetched(world.alice, shown)
    found = rows(data)
    assert {layer: len(told) for layer, told in found.items()} == counts(shown)
    assert all(counts(shown).values()), counts(shown)
    gone = {"deletion_request_id": "del-1", "target": {"kind": "subject", "id": "alice"}}
    job_id = world.alice.post("/memory-deletions", gone).json()["job_id"]
    # Under deletion: nothing half, neither a new one nor the old one.
    problem(ask(world.alice, "exp-2"), 409, "deletion_in_progress")
    problem(world.alice.get(shown["archive_url"].removeprefix("/api/v1")), 404, "not_found")
    assert not spool.is_held(parse_public_id("exp", shown["export_id"]))
    drain(kinds=["deletion"])
    result = read_deletion(world.access("alice"), job_id)
    assert result.status == "completed"
    erased = {one.layer: one.found for one in result.layers if one.layer in found}
    assert erased == counts(shown)
    assert [(one.location, one.reason) for one in result.remaining_copies if one.layer == "caches"] == [
        (f"subject_export/{shown['export_id']}", "downloaded")
    ]
    assert [(one.status, one.found, one.cleared) for one in result.layers if one.layer == "caches"] == [("cleared", 1, 1)]
    again = exported(world.alice, "exp-3")
    assert set(counts(again).values()) == {0}
    assert not any(rows(fetched(world.alice, again)).values())


def test_what_is_in_it_are_the_words_as_they_were_said(world):
    made, other = lived(world)
    found = rows(fetched(world.alice, exported(world.alice)))
    told = {(one["memory_id"], one["version"]): one for one in found["versions"]}
    assert told[made, 1]["content"] == "The lamp stands in the hall" and told[made, 1]["rationale"] == "because it is dark"
    assert (
        told[made, 2]["content"] == "The lamp stands in the attic"
        and told[made, 2]["reason"] == "moved"
        and told[made, 2]["current"]
    )
    assert {(one["kind"], one["memory_id"]) for one in found["relations"]} >= {("evidence", made), ("relation", other)}
    [waiting] = [one for one in found["candidates"] if one["status"] == "pending_review"]
    assert waiting["content"] == NASTY
    events = {one["event_id"]: one for one in found["sources"]}
    assert events["e-1"]["content"] == "I moved to Utrecht" and NASTY in json.loads(events["e-1"]["metadata"]).values()
    assert events["e-2"]["derived_from"] == ["e-1"] and events["e-1"]["namespace"] == "user/alice"
    kinds = {one["kind"]: one for one in found["traces"]}
    assert "where does the lamp stand?" in kinds["question"]["words"] and kinds["report"]["words"] == "it fits"
    assert [one["kind"] for one in found["pending_work"]] == ["extract"]


def test_versions_of_a_memory_that_stays_are_handed_out_too(world):
    """Somebody else's evidence keeps the memory; the versions that rest on the subject alone would go, so they are told."""
    scoped = {"scope": "project", "scope_id": "kiosk"}
    for caller, event_id in ((world.bob, "b-1"), (world.alice, "a-1")):
        assert caller.post("/memory-events", body("the till is green", event_id=event_id, **scoped)).status_code == 202
    made = remember(world.bob, "till.colour", "The till is green", source_event_ids=["b-1"], **scoped)
    revised = {"content": "The till is blue", "reason": "x", "expected_version": 1, "source_event_ids": ["a-1"]}
    assert world.alice.patch(f"/memories/{made}", revised).status_code == 200
    found = rows(fetched(world.alice, exported(world.alice)))
    assert [(one["memory_id"], one["version"], one["content"]) for one in found["versions"]] == [(made, 2, "The till is blue")]
    with world.inside():  # it was tried, and nothing of it happened
        assert MemoryVersion.objects.exclude(content=None).count() == 2
    assert world.bob.get(f"/memories/{made}").json()["content"] == "The till is blue"


def test_the_words_of_somebody_elses_question_are_not_handed_out(world):
    scoped = {"scope": "project", "scope_id": "kiosk"}
    assert world.alice.post("/memory-events", body("the till is green", event_id="a-1", **scoped)).status_code == 202
    remember(world.alice, "till.colour", "The till is green", source_event_ids=["a-1"], **scoped)
    assert world.bob.post("/memory-query", {"question": "is bob's till green?", "project": "kiosk"}).json()["items"]
    data = fetched(world.alice, exported(world.alice))
    [question] = [one for one in rows(data)["traces"] if one["kind"] == "question"]
    assert (question["words"], question["withheld"]) == (None, "asked_by_another")
    assert b"bob's till" not in data and "agent" not in question


# -- asking


def test_the_same_request_is_the_same_export_and_another_is_a_conflict(world):
    first = ask(world.alice)
    again = ask(world.alice)
    assert (first.status_code, again.status_code) == (202, 200)
    assert again.json() == {**first.json(), "replayed": True}
    problem(ask(world.alice, reason="legal_order"), 409, "export_request_conflict")
    with world.inside():
        assert SubjectExport.objects.count() == 1 and ProcessingJob.objects.filter(kind="subject_export").count() == 1
        entry = AuditEntry.objects.get(verb="export.requested")
        assert (entry.object_id, entry.codes) == (first.json()["export_id"], ["subject_request"])


def test_unknown_subjects_those_of_others_and_of_other_tenants_are_one_answer(world):
    World("basin")
    answers = [
        ask(world.alice, f"exp-{n}", subject) for n, subject in enumerate(["nobody", "bob", "basin", "orchard/alice", "kiosk"])
    ]
    assert {answer.status_code for answer in answers} == {404} and len({face(answer) for answer in answers}) == 1
    shown = exported(world.alice, "exp-9")
    elsewhere = World("quarry")
    for caller in (world.bob, elsewhere.alice):
        for path in (f"/subject-exports/{shown['export_id']}", f"/subject-exports/{shown['export_id']}/archive"):
            assert face(caller.get(path)) == face(caller.get("/subject-exports/exp_unknown"))


@pytest.mark.requirement("ID-35")
def test_each_download_is_an_audit_entry(world):
    shown = exported(world.alice)
    fetched(world.alice, shown)
    fetched(world.alice, shown)
    with world.inside():
        entries = AuditEntry.objects.filter(verb="export.downloaded")
        assert [entry.object_id for entry in entries] == [shown["export_id"]] * 2
    assert world.alice.get(f"/subject-exports/{shown['export_id']}").json()["downloads"] == 2


# -- working it off


def test_it_goes_on_behind_the_last_chunk_whatever_an_attempt_left_behind(world, monkeypatch):
    lived(world)
    monkeypatch.setattr("apps.evidence.layers.CHUNK", 1)
    monkeypatch.setattr("apps.memories.layers.CHUNK", 1)
    real, calls = spool.append, []

    def dies_every_other_time(export_id, layer, offset, told):
        end = real(export_id, layer, offset, told)
        calls.append(layer)
        if len(calls) % 2:
            raise OSError
        return end

    monkeypatch.setattr(spool, "append", dies_every_other_time)
    export_id = ask(world.alice).json()["export_id"]
    for _ in range(60):
        drain(kinds=KINDS)
        with world.inside():
            if not ProcessingJob.objects.filter(state="retry_wait").update(next_try_at=clock.now(), attempts=0):
                break
    assert len(calls) > 20
    shown = world.alice.get(f"/subject-exports/{export_id}").json()
    assert shown["status"] == "ready"
    found = rows(fetched(world.alice, shown))
    assert {layer: len(told) for layer, told in found.items()} == counts(shown)
    assert len({json.dumps(one) for one in found["versions"]}) == len(found["versions"]) == 4


@pytest.mark.requirement("DJ-03", "VH-14")
def test_a_deletion_that_comes_meanwhile_ends_it_and_leaves_no_file(world, monkeypatch):
    made, _ = lived(world)
    real = archive.pack

    def erased_meanwhile(export_id, document, **more):
        packed = real(export_id, document, **more)
        assert world.alice.delete(f"/memories/{made}?deletion_request_id=del-1").status_code == 202
        return packed

    monkeypatch.setattr(working.archive, "pack", erased_meanwhile)
    export_id = ask(world.alice).json()["export_id"]
    drain(kinds=KINDS)
    shown = world.alice.get(f"/subject-exports/{export_id}").json()
    assert (shown["status"], shown["archive_url"], shown["size"]) == ("revoked", None, None)
    assert not spool.is_held(parse_public_id("exp", export_id))
    with world.inside():
        assert ProcessingJob.objects.get(kind="subject_export").state == "done"


def test_a_deletion_of_something_else_leaves_it_alone(world):
    lived(world)
    shown = exported(world.alice)
    bobs = remember(world.bob, "bob.lamp")
    assert world.bob.delete(f"/memories/{bobs}?deletion_request_id=del-b").status_code == 202
    assert fetched(world.alice, shown)


def test_its_files_are_private_and_go_when_its_time_is_over(world, settings):
    shown = exported(world.alice)
    key = parse_public_id("exp", shown["export_id"])
    file = spool.archive_file(key)
    assert file.parent == Path(settings.HOME) / "exports" and not spool.work_folder(key).exists()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert due(world.tenant_id)["subject_exports"] == 0
    with world.inside():
        SubjectExport.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    problem(world.alice.get(f"/subject-exports/{shown['export_id']}/archive"), 404, "not_found")
    assert due(world.tenant_id)["subject_exports"] == 1 and file.exists()
    assert sweep_tenant(world.tenant_id)["subject_exports"] == 1
    assert not spool.is_held(key) and sweep_tenant(world.tenant_id)["subject_exports"] == 0
    assert world.alice.get(f"/subject-exports/{shown['export_id']}").json()["status"] == "expired"


def test_no_word_stands_in_a_table_because_of_an_export(world):
    lived(world)
    exported(world.alice)
    with world.inside(), connection.cursor() as cursor:
        for table in ("retention_subjectexport", "jobs_processingjob", "audits_auditentry"):
            cursor.execute(f"SELECT count(*) FROM {table} t WHERE t::text ILIKE ANY(%s)", [["%utrecht%", "%attic%"]])
            assert cursor.fetchone() == (0,), table
        assert Content.objects.filter(text__contains="attic").count() > 0


# -- checking one


def test_every_change_of_an_archive_is_found(world, tmp_path):
    lived(world)
    data = fetched(world.alice, exported(world.alice))
    assert verify(io.BytesIO(data), public_key())[1] is None
    file = tmp_path / "export.zip"
    file.write_bytes(data)
    call_command("verify_export", str(file))

    def rewritten(change) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
            for name in old.namelist():
                for made, content in change(name, old.read(name)):
                    new.writestr(made, content)
        return out.getvalue()

    changes = {
        "altered": lambda name, content: [(name, content.replace(b"attic", b"cellar"))],
        "files_differ": lambda name, content: [] if name == "traces.jsonl" else [(name, content)],
        "malformed": lambda name, content: [] if name == MANIFEST else [(name, content)],
    }
    for fault, change in changes.items():
        assert verify(io.BytesIO(rewritten(change)), public_key())[1] == fault
    added = rewritten(lambda name, content: [(name, content)] + ([("more.txt", b"x")] if name == MANIFEST else []))
    assert verify(io.BytesIO(added), public_key())[1] == "files_differ"
    relabelled = rewritten(lambda name, content: [(name, content.replace(b'"subject": "alice"', b'"subject": "bob"'))])
    assert verify(io.BytesIO(relabelled), public_key())[1] == "altered"
    for broken in (b"", b"PK", data[: len(data) // 2]):
        assert verify(io.BytesIO(broken), public_key())[1] == "malformed"
    file.write_bytes(added)
    with pytest.raises(SystemExit) as ended:
        call_command("verify_export", str(file))
    assert ended.value.code == 1


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def test_the_page_loads_and_runs_nothing_and_escapes_what_was_said(world):
    lived(world)
    data = fetched(world.alice, exported(world.alice))
    with zipfile.ZipFile(io.BytesIO(data)) as found:
        told = found.read("index.html").decode()
    page = _Page()
    page.feed(told)
    assert not page.tags & {"script", "img", "link", "iframe", "object", "embed", "form", "base", "svg"}
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in {"src", "style", "srcset"}]
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")
    assert "default-src 'none'" in told
    assert "<script>alert(1)</script>" in page.text and "\u202e" not in told and "\\u202e" in page.text


# -- in the console


def test_compliance_staff_ask_and_download_in_the_console_and_an_auditor_only_sees_it(world):
    lived(world)
    with world.inside():
        subject = Subject.objects.get(key="alice")
    staff, auditor = Client(), Client()
    staff.force_login(world.person("compliance"))
    auditor.force_login(world.person("auditor"))
    form = f"/admin/tenants/subject/{subject.pk}/export/"
    assert auditor.get(form).status_code == 403
    shown = staff.get(form)
    said = {**shown.context["form"].initial, "reason": "legal_order"}
    assert staff.post(form, {"reason": "legal_order"}).status_code == 200  # without its id it is no request
    first, again = staff.post(form, said), staff.post(form, said)
    assert first.status_code == 302 and first["Location"] == again["Location"]
    drain(kinds=KINDS)
    page = first["Location"]
    download = page.replace("/change/", "/archive/")
    assert download in staff.get(page).content.decode() and download not in auditor.get(page).content.decode()
    assert auditor.post(download).status_code == 403
    answer = staff.post(download)
    assert answer["Content-Type"] == "application/zip"
    assert verify(io.BytesIO(b"".join(answer.streaming_content)), public_key())[0]["subject"] == "alice"
    with world.inside():
        assert AuditEntry.objects.get(verb="export.downloaded").actor == "compliance_orchard"
        SubjectExport.objects.update(expires_at=clock.now())
    assert staff.post(download).status_code == 404
