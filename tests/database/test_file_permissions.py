"""Owner-only modes on everything written under the home folder, and links that do not lead out of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory_platform.file_permissions import find_open_doors

PROJECT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def home(tmp_path) -> Path:
    folder = tmp_path / "home"
    for name in ("secrets", "exports", "postgres/data/base"):
        (folder / name).mkdir(parents=True)
    for name in ("secrets/secret_key", "exports/one.json", "postgres/data/base/1", "postgres/server.log"):
        (folder / name).write_text("private")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    return folder


def broken(home: Path, *, enforced: bool = True) -> set[tuple[str, str]]:
    return {(one.path, one.rule) for one in find_open_doors(home) if one.enforced is enforced}


def test_a_private_home_has_no_findings(home):
    assert broken(home) == set()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666, 0o610])
@pytest.mark.parametrize("name", ["secrets/secret_key", "exports/one.json", "postgres/data/base/1", "postgres/server.log"])
def test_a_file_that_others_can_open_is_found(home, name, mode):
    (home / name).chmod(mode)
    assert broken(home) == {(name, "open_to_others")}


def test_a_folder_that_others_can_enter_is_found_and_the_servers_way_is_not(home):
    (home / "secrets").chmod(0o711)
    (home / "postgres").chmod(0o711)
    assert broken(home) == {("secrets", "open_to_others")}
    (home / "postgres").chmod(0o755)
    assert broken(home) == {("secrets", "open_to_others"), ("postgres", "open_to_others")}


def test_the_two_files_that_the_server_reads_may_be_read_but_not_written(home):
    rules = home / "postgres" / "pg_hba.conf"
    rules.write_text("local all all peer\n")
    rules.chmod(0o644)
    assert broken(home) == set()
    rules.chmod(0o664)
    assert broken(home) == {("postgres/pg_hba.conf", "open_to_others")}


def test_a_link_may_not_leave_the_home(home, tmp_path):
    outside = tmp_path / "elsewhere"
    outside.mkdir(mode=0o777)
    (outside / "open").write_text("")
    (home / "exports" / "inside").symlink_to(home / "secrets")
    (home / "exports" / "relative").symlink_to("../secrets/secret_key")
    assert broken(home) == set()
    (home / "exports" / "out").symlink_to(outside)
    (home / "exports" / "dangling").symlink_to("/nowhere/at/all")
    # What lies behind is another's: the link is named, and not followed.
    assert broken(home) == {("exports/out", "link_leaves_home"), ("exports/dangling", "link_leaves_home")}


def test_a_home_that_is_itself_a_link_is_looked_at_where_it_is(home, tmp_path):
    link = tmp_path / "moved"
    link.symlink_to(home)
    (home / "exports" / "one.json").chmod(0o644)
    assert broken(link) == {("exports/one.json", "open_to_others")}


def test_the_home_itself(home):
    home.chmod(0o711)
    assert (broken(home), broken(home, enforced=False) & {(".", "listable_by_others")}) == (set(), set())
    home.chmod(0o755)
    assert broken(home) == set() and (".", "listable_by_others") in broken(home, enforced=False)
    home.chmod(0o770)
    assert broken(home) == {(".", "writable_by_others")}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_found(home):
    os.chown(home / "exports" / "one.json", 4242, 4242)
    assert broken(home) == {("exports/one.json", "foreign_owner")}


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "MEMORY_PLATFORM_HOME": str(home)}
    command = [sys.executable, "manage.py", "check_permissions", *arguments]
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False, timeout=60)


def test_the_command_answers_with_its_exit_code_and_needs_no_database(home):
    done = run(home)
    assert done.returncode == 0 and "0 findings" in done.stdout, done
    (home / "exports" / "one.json").chmod(0o644)
    done = run(home, "--json")
    assert done.returncode == 1, done
    assert [one["path"] for one in json.loads(done.stdout) if one["enforced"]] == ["exports/one.json"]
    assert (home / "exports" / "one.json").stat().st_mode & 0o777 == 0o644  # looked at, not mended
    assert run(home, "--unknown").returncode == 2
