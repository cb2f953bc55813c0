"""The file of the ledger: what a crash, a full disk, a second writer and a stranger's hand leave, and what is made of it."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from apps.core import clock
from apps.core.canonical import canonical_json, sha256_hex
from apps.core.ids import new_id
from apps.retention.ledger import file
from apps.retention.ledger.file import NAME, Draft, LedgerTroubleError, Reader

PROJECT = Path(__file__).resolve().parents[2]

WRITER = """
import os, sys
from pathlib import Path
from apps.core.ids import new_id
from apps.retention.ledger import file
from apps.retention.ledger.file import Draft, NAME, Reader
path, tear = Path(sys.argv[1]) / NAME, sys.argv[2:] == ["--tear"]
if tear:
    write = os.write
    def half(descriptor, data):
        write(descriptor, bytes(data)[: len(data) // 2])
        os.fsync(descriptor)
        os.kill(os.getpid(), 9)
    os.write = half
for number in range(25):
    with file.writing(path.parent):
        reader = Reader(path)
        reader.catch_up()
        file.append(reader, [Draft("revocation", new_id(), new_id(), {"epoch": number})])
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "ledger" / NAME
    with file.writing(found.parent):
        file.begin(found, new_id())
    return found


def draft(**body) -> Draft:
    return Draft("revocation", new_id(), new_id(), body)


def write(path: Path, *drafts: Draft) -> list[Draft]:
    with file.writing(path.parent):
        reader = Reader(path)
        reader.catch_up()
        file.append(reader, drafts)
    return list(drafts)


def names(path: Path) -> list:
    return [entry.name for entry in file.entries(path)]


def run(path: Path, *options: str) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path.parent), *options], cwd=PROJECT, stderr=subprocess.PIPE)


def trouble(path: Path) -> str:
    with pytest.raises(LedgerTroubleError) as found:
        list(file.entries(path))
    return found.value.code


@pytest.mark.requirement("PC-01", "DJ-10")
def test_entries_are_chained_and_only_their_owner_reads_them(path):
    written = write(path, draft(epoch=1), draft(epoch=2)) + write(path, draft(epoch=3))
    assert names(path) == [one.name for one in written]
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for before, line in zip([None, *lines], lines, strict=False):
        claimed = line.pop("hash")
        assert sha256_hex(canonical_json(line)) == claimed
        assert line["previous"] == ("" if before is None else before["hash"])
        line["hash"] = claimed
    assert [line["number"] for line in lines] == [0, 1, 2, 3]
    for one in (path.parent, *path.parent.iterdir()):
        assert stat.S_IMODE(one.stat().st_mode) & 0o077 == 0


def test_a_process_that_dies_in_the_middle_of_a_line_loses_that_line_alone(path):
    kept = write(path, draft(epoch=1), draft(epoch=2))
    whole = path.stat().st_size
    killed = run(path, "--tear")
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert path.stat().st_size > whole and not path.read_bytes().endswith(b"\n")
    assert names(path) == [one.name for one in kept]
    kept += write(path, draft(epoch=3))
    assert names(path) == [one.name for one in kept]


@pytest.mark.parametrize("tail", [b"{", b"\0\0\0\0", b'{"number":3,"kind":"revocation"', "半".encode()[:2]], ids=repr)
def test_a_torn_tail_is_cut_off_by_the_next_writer(path, tail):
    kept = write(path, draft(epoch=1))
    with path.open("ab") as handle:
        handle.write(tail)
    kept += write(path, draft(epoch=2))
    assert names(path) == [one.name for one in kept]


def test_several_processes_never_interleave(path):
    writers = [run(path) for _ in range(3)]
    for one in writers:
        _, said = one.communicate(timeout=120)
        assert one.returncode == 0, said
    assert len(names(path)) == len(set(names(path))) == 75


def test_a_full_disk_changes_nothing_and_is_told(path, monkeypatch):
    kept = write(path, draft(epoch=1))
    real = os.write

    def full(descriptor, data):
        real(descriptor, bytes(data)[:40])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(LedgerTroubleError) as found:
        write(path, draft(epoch=2))
    assert found.value.code == "unwritable"
    monkeypatch.setattr(os, "write", real)
    assert names(path) == [one.name for one in kept] and path.read_bytes().endswith(b"\n")
    kept += write(path, draft(epoch=3))
    assert names(path) == [one.name for one in kept]


def test_a_second_writer_waits_and_gives_up_in_the_end(path, monkeypatch):
    waited = []
    monkeypatch.setattr(clock, "pause", waited.append)
    monkeypatch.setattr(clock, "monotonic", lambda: sum(waited))
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with file.writing(path.parent):
            inside.set()
            leave.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert inside.wait(60)
        with pytest.raises(LedgerTroubleError) as found, file.writing(path.parent):
            pass
        assert found.value.code == "busy" and sum(waited) == pytest.approx(10, abs=0.1)
    finally:
        leave.set()
        holder.join()


@pytest.mark.parametrize(
    "harm",
    [
        lambda lines: [lines[0], lines[1].replace(b'"epoch":1', b'"epoch":7'), *lines[2:]],
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[0], lines[2], lines[1], lines[3]],
        lambda lines: [*lines[1:]],
        lambda lines: [*lines[:2], b"{}\n", *lines[2:]],
        lambda lines: [*lines[:2], b"\xff\n", *lines[2:]],
        lambda lines: [*lines, lines[3]],
        lambda lines: [lines[0].replace(b"ledger/1", b"ledger/9"), *lines[1:]],
    ],
    ids=["altered", "dropped", "reordered", "beheaded", "inserted", "bytes", "repeated", "format"],
)
def test_a_strangers_hand_is_found(path, harm):
    write(path, draft(epoch=1), draft(epoch=2), draft(epoch=3))
    path.write_bytes(b"".join(harm(path.read_bytes().splitlines(keepends=True))))
    assert trouble(path) == "corrupt"
    with pytest.raises(LedgerTroubleError):
        Reader(path).catch_up()


def test_a_cut_end_is_a_chain_of_its_own_and_is_known_by_its_number(path):
    write(path, draft(epoch=1), draft(epoch=2))
    reader = Reader(path)
    found, _ = reader.after(2)
    assert found
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    assert Reader(path).after(2) == (None, []) and reader.after(2) == (None, [])


def test_what_was_read_is_not_read_again_unless_the_file_is_another(path):
    first = write(path, draft(epoch=1))
    reader = Reader(path)
    assert [mark.name for mark in reader.after(0)[1]] == [one.name for one in first]
    second = write(path, draft(epoch=2))
    offset = reader.offset
    digest, marks = reader.after(1)
    assert digest and [mark.name for mark in marks] == [one.name for one in second] and reader.offset > offset
    assert len(reader.after(0)[1]) == 2  # asked for an earlier one
    other = path.with_name("other")
    other.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    other.replace(path)
    assert reader.after(0) == (reader.hash, [])


def test_clocks_that_go_back_do_not_matter(path):
    for hours in (0, -5, 3):
        with clock.set_clock(lambda hours=hours: datetime(2026, 5, 1, tzinfo=UTC) + timedelta(hours=hours)):
            write(path, draft(epoch=hours))
    assert len(names(path)) == 3


def test_trouble_has_a_name(path, monkeypatch):
    missing = path.with_name("elsewhere")
    assert trouble(missing) == "missing"
    with pytest.raises(LedgerTroubleError, match="missing"):
        Reader(missing).catch_up()
    assert trouble(path.parent) == "unreadable"
    blocked = path.parent / "blocked"
    blocked.write_text("a file where a folder should be")
    with pytest.raises(LedgerTroubleError, match="unwritable"), file.writing(blocked / "ledger"):
        pass


# -- the second location


def test_the_copy_follows_and_a_strange_one_is_left_alone(path, tmp_path):
    copy = tmp_path / "copy"
    write(path, draft(epoch=1))
    assert not file.copy_is_current(path, copy)
    file.bring_copy_up_to_date(path, copy)
    assert (copy / NAME).read_bytes() == path.read_bytes() and file.copy_is_current(path, copy)
    write(path, draft(epoch=2), draft(epoch=3))
    with (copy / NAME).open("ab") as handle:
        handle.write(b'{"torn')
    file.bring_copy_up_to_date(path, copy)
    assert (copy / NAME).read_bytes() == path.read_bytes()
    for strange in (path.read_bytes() + b"{}\n", path.read_bytes()[:-9] + b'        "\n'):
        (copy / NAME).write_bytes(strange)
        assert not file.copy_is_current(path, copy)
        with pytest.raises(LedgerTroubleError, match="corrupt"):
            file.bring_copy_up_to_date(path, copy)
        assert (copy / NAME).read_bytes() == strange
