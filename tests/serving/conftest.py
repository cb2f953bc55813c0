"""A running ``serve`` with a home of its own, and a migrated home to copy."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from memory_platform.embedded.leases import lease
from memory_platform.home import BASE_DIR


class Served:
    """One running ``serve`` with a home of its own."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.home = home
        self.log = home.parent / "serve.log"
        self.port = free_port()
        self._output = self.log.open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{self.port}", *arguments],
            cwd=BASE_DIR,
            env=environment(home),
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def wait_ready(self) -> Served:
        wait_until(lambda: self.ready_lines() or self.process.poll() is not None, self.text)
        assert self.process.poll() is None, self.text()
        return self

    def text(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def ready_lines(self) -> list[str]:
        return re.findall(rf"^ready http://127\.0\.0\.1:{self.port}$", self.text(), re.MULTILINE)

    def answers(self, path: str = "/api/v1/health/ready") -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def find(self, words: str) -> psutil.Process | None:
        """The child whose command line holds the words; others may come and go meanwhile."""
        for child in psutil.Process(self.process.pid).children():
            with suppress(psutil.NoSuchProcess):
                if words in " ".join(child.cmdline()):
                    return child
        return None

    def child(self, words: str) -> psutil.Process:
        found = self.find(words)
        assert found is not None, self.text()
        return found

    def database(self) -> psutil.Process:
        return psutil.Process(int((self.home / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0]))

    def stop(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(30)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._output.close()


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")}
    return {**kept, "MEMORY_PLATFORM_HOME": str(home), "PYTHONUNBUFFERED": "1"}


def manage(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=BASE_DIR,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="session")
def migrated_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("migrated") / "home"
    home.mkdir()
    done = manage(home, "worker", "--drain")  # the shortest of those that bring the schema up to date
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture
def home(migrated_home: Path, tmp_path: Path) -> Path:
    subprocess.run(["cp", "-a", migrated_home, tmp_path / "home"], check=True)
    return tmp_path / "home"


@pytest.fixture
def serve(home: Path) -> Iterator[Callable[..., Served]]:
    started: list[Served] = []

    def start(*arguments: str) -> Served:
        started.append(Served(home, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.close()
    # What a killed `serve` leaves ends by itself; the database is stopped by its next user, as in life.
    with lease(home):
        pass


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(true: Callable[[], object], explain: Callable[[], str], seconds: float = 60.0, every: float = 0.05) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, explain()
        time.sleep(every)
