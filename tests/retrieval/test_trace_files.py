"""Traces as files: written for their owner, pruned by name and by nothing else (TC-02..06)."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from apps.core import clock
from apps.core.ids import new_id, public_id
from apps.retrieval.adoptions import Adoption, report_adoptions
from apps.retrieval.models import RetrievalTrace
from apps.retrieval.trace_files import file_name, made_at

NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)
NAME = "trace-20260101T000000Z-trc_" + "0" * 25 + "1.json"


@pytest.fixture
def stopped(monkeypatch):
    monkeypatch.setattr(clock, "now", lambda: NOW)


def pruned(folder: Path, *arguments: str) -> dict:
    out = StringIO()
    call_command("prune_traces", str(folder), "--json", *arguments, stdout=out)
    return json.loads(out.getvalue())


def old(folder: Path, days: int = 40) -> Path:
    file = folder / file_name(NOW - timedelta(days=days), new_id())
    file.write_text("{}")
    return file


# -- names


@given(st.datetimes(min_value=datetime(1000, 1, 1), max_value=datetime(9999, 12, 31), timezones=st.just(UTC)))  # noqa: DTZ001 - naive bounds are the API
def test_a_name_tells_when_the_trace_was_made(at):
    assert made_at(file_name(at, new_id())) == at.replace(microsecond=0)


@pytest.mark.requirement("TC-02", "TC-05")
@pytest.mark.parametrize(
    "name",
    [
        NAME.replace("20260101", "20260231"),
        NAME.replace("20260101", "20261301"),
        NAME.replace("T000000Z", "T250000Z"),
        NAME.replace("trc_", "mem_"),
        NAME + ".bak",
        "x" + NAME,
        NAME.upper(),
        NAME.replace("0Z", "0"),
        NAME.replace("20260101", "２０２６０１０１"),
        NAME.replace("00001.json", "0000u.json"),
        NAME + "\n",
        "",
    ],
)
def test_what_is_no_name_of_a_trace_has_no_age(name):
    assert made_at(name) is None


# -- pruning


@pytest.mark.requirement("TC-02", "TC-03")
def test_only_old_files_with_the_whole_name_of_a_trace_go(tmp_path, stopped):
    gone, young = old(tmp_path), old(tmp_path, days=3)
    left = [young]
    for name in ("notes.txt", "trace-old.json", gone.name + ".bak", "." + gone.name, gone.name + ".part"):
        (tmp_path / name).write_text("mine")
        left.append(tmp_path / name)
    folder = tmp_path / file_name(NOW - timedelta(days=99), new_id())
    folder.mkdir()
    inside = old(folder)
    done = pruned(tmp_path)
    assert done == {"removed": [gone.name], "dry_run": False, "kept": 1, "impossible": 0, "links": 0, "other": 6}
    assert not gone.exists() and inside.exists() and all(file.exists() for file in left)


@pytest.mark.requirement("TC-04")
def test_age_is_that_of_the_name_whatever_the_file_system_says(tmp_path, stopped):
    copied, touched = old(tmp_path, days=40), old(tmp_path, days=3)
    os.utime(copied, (NOW.timestamp(), NOW.timestamp()))
    os.utime(touched, (0, 0))
    assert pruned(tmp_path)["removed"] == [copied.name]
    assert touched.exists()


@pytest.mark.requirement("TC-05")
def test_a_date_that_cannot_be_is_skipped_and_counted(tmp_path, stopped):
    impossible = tmp_path / NAME.replace("20260101", "20250230")
    impossible.write_text("{}")
    assert pruned(tmp_path)["impossible"] == 1 and impossible.exists()


@pytest.mark.requirement("TC-06", "PC-07")
def test_links_are_never_followed_and_never_removed(tmp_path, stopped):
    outside = tmp_path / "outside"
    outside.mkdir()
    target, folder = old(outside), tmp_path / "traces"
    folder.mkdir()
    link = folder / target.name
    link.symlink_to(target)
    dangling = folder / file_name(NOW - timedelta(days=50), new_id())
    dangling.symlink_to(tmp_path / "nowhere")
    assert pruned(folder) == {"removed": [], "dry_run": False, "kept": 0, "impossible": 0, "links": 2, "other": 0}
    assert link.is_symlink() and dangling.is_symlink() and target.exists()
    entrance = tmp_path / "entrance"
    entrance.symlink_to(outside)
    with pytest.raises(CommandError) as refused:
        pruned(entrance)
    assert refused.value.returncode == 2 and target.exists()


def test_a_dry_run_names_and_removes_nothing(tmp_path, stopped):
    file = old(tmp_path)
    out = StringIO()
    call_command("prune_traces", str(tmp_path), "--dry-run", stdout=out)
    assert file.name in out.getvalue() and file.exists()
    assert pruned(tmp_path, "--days", "41")["kept"] == 1


@pytest.mark.parametrize("arguments", [["{folder}/none"], ["{folder}/file"], ["{folder}", "--days", "-1"]])
def test_what_cannot_be_pruned_is_wrong_usage(tmp_path, arguments):
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError) as refused:
        call_command("prune_traces", *(one.format(folder=tmp_path) for one in arguments))
    assert refused.value.returncode == 2


# -- export


def exported(folder: Path, *arguments: str) -> dict:
    out = StringIO()
    call_command("export_traces", str(folder), "--json", *arguments, stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.django_db
@pytest.mark.requirement("TC-09", "TC-10", "PC-01")
def test_an_export_holds_ids_and_codes_for_its_owner_only(world, memories, asking, tmp_path):
    kept = memories.say("The zebra lamp is warm")
    packet = asking.packet("zebra lamp")
    report_adoptions(world.access("alice"), packet.trace_id, [Adoption(kept.memory_id, 1, used=False, reason="zebra no more")])
    folder = tmp_path / "deep" / "traces"
    os.umask(previous := os.umask(0))
    assert exported(folder, "--tenant", "orchard") == {"written": 1, "there": 0}
    os.umask(previous)
    (file,) = folder.iterdir()
    with world.inside():
        row = RetrievalTrace.objects.get()
    assert file.name == file_name(row.at, row.id) and packet.trace_id == public_id("trc", row.id)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, file)] == [0o700, 0o600]
    text = file.read_text()
    assert "zebra" not in text and "lamp" not in text
    document = json.loads(text)
    assert document["trace_id"] == packet.trace_id and document["tenant"] == "orchard"
    assert [(c["memory_id"], c["chosen"], c["fate"]) for c in document["candidates"]] == [(kept.memory_id, True, "not_used")]


@pytest.mark.django_db
def test_what_is_there_already_is_left_and_an_interrupted_file_is_written_anew(world, memories, asking, tmp_path):
    memories.say("The lamp is warm")
    asking.packet("lamp")
    exported(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text("mine")
    (tmp_path / (file.name + ".part")).write_text("half")
    asking.packet("lamp")
    assert exported(tmp_path) == {"written": 1, "there": 1}
    assert file.read_text() == "mine"
    assert exported(tmp_path, "--days", "0") == {"written": 0, "there": 0}


@pytest.mark.django_db
def test_an_export_does_not_go_through_a_link(world, memories, asking, tmp_path):
    memories.say("The lamp is warm")
    asking.packet("lamp")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CommandError) as refused:
        exported(tmp_path / "link")
    assert refused.value.returncode == 2 and not list((tmp_path / "elsewhere").iterdir())
    with pytest.raises(CommandError):
        exported(tmp_path / "t", "--tenant", "nobody")
