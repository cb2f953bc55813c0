"""The home folder and the secrets in it."""

from __future__ import annotations

import stat
import subprocess
import sys

import pytest

from memory_platform.home import HomeError, home_folder, instance_secret, private_folder
from tests.database.conftest import PROJECT


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMORY_PLATFORM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_it_is_made_closed_to_others(home):
    assert home_folder() == home
    assert stat.S_IMODE(home.stat().st_mode) & 0o066 == 0, "nobody else lists or writes it"
    assert stat.S_IMODE(private_folder("exports").stat().st_mode) == 0o700


def test_a_secret_is_made_once(home):
    first = instance_secret("secret_key")
    assert len(first) >= 40
    assert instance_secret("secret_key") == first
    assert instance_secret("another") != first
    assert stat.S_IMODE((home / "secrets" / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in (home / "secrets").iterdir() if path.name.startswith(".")] == []


def test_processes_that_start_together_agree_on_a_secret(home):
    command = [sys.executable, "-c", "from memory_platform.home import instance_secret; print(instance_secret('together'))"]
    started = [subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    assert len({process.communicate()[0] for process in started}) == 1


def test_a_secret_that_others_can_read_is_refused(home):
    instance_secret("secret_key")
    (home / "secrets" / "secret_key").chmod(0o644)
    with pytest.raises(HomeError, match="chmod 600"):
        instance_secret("secret_key")


def test_an_empty_secret_is_refused(home):
    instance_secret("secret_key")
    (home / "secrets" / "secret_key").write_text("\n")
    with pytest.raises(HomeError, match="is empty"):
        instance_secret("secret_key")


def test_a_home_that_is_a_file_is_refused(home):
    home.write_text("not a folder")
    with pytest.raises(HomeError, match="cannot be used"):
        home_folder()
