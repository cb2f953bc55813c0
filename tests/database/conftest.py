"""Homes with an embedded database of their own, and processes that use them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from memory_platform.embedded.leases import lease
from memory_platform.embedded.places import Places, database_settings

PROJECT = Path(__file__).resolve().parents[2]

HOLDER = """
import os, signal, sys, time
from pathlib import Path
signal.signal(signal.SIGINT, signal.SIG_IGN if "--without-sigint" in sys.argv else signal.default_int_handler)
from memory_platform.embedded.leases import lease
from memory_platform.signals import end_on_sigterm
end_on_sigterm()
with lease(Path(sys.argv[1])):
    if "--with-child" in sys.argv and os.fork() == 0:
        time.sleep(60)
    print("up", flush=True)
    sys.stdin.readline()
"""


def query(home: Path, statement: str) -> list[tuple]:
    database = database_settings(home)
    with psycopg.connect(
        host=database["HOST"], port=database["PORT"], user=database["USER"], dbname=database["NAME"], connect_timeout=5
    ) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def server_pid(home: Path) -> int | None:
    try:
        return int((Places.of(home).data / "postmaster.pid").read_text().splitlines()[0])
    except FileNotFoundError:
        return None


def kill_server(home: Path) -> None:
    """What a power cut leaves: every process of the server gone, its files as they were."""
    pid = server_pid(home)
    if pid is not None:
        os.kill(pid, signal.SIGKILL)


class Holder:
    """A process that holds a lease until it is told to go on."""

    def __init__(self, home: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(home), *options],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_up(self) -> None:
        line = self.process.stdout.readline()
        assert line == "up\n", self.process.stderr.read()

    def leave(self) -> None:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.wait(60) == 0, self.process.stderr.read()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="session")
def made_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose database was made, given one row, and stopped."""
    home = tmp_path_factory.mktemp("made") / "home"
    home.mkdir()
    with lease(home):
        query(home, "CREATE TABLE kept (word text PRIMARY KEY); INSERT INTO kept VALUES ('tide')")
    return home


@pytest.fixture
def home(made_home: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the made home for one test; whatever still runs there afterwards is ended."""
    copy = tmp_path / "home"
    subprocess.run(["cp", "-a", made_home, copy], check=True)
    yield copy
    kill_server(copy)
    shutil.rmtree(Places.of(copy).socket_folder, ignore_errors=True)  # outside the home if that is deep
    shutil.rmtree(copy, ignore_errors=True)


@pytest.fixture
def holder(home: Path) -> Iterator[Callable[..., Holder]]:
    started: list[Holder] = []

    def start(*options: str) -> Holder:
        started.append(Holder(home, *options))
        return started[-1]

    yield start
    for one in started:
        one.kill()
