"""``manage.py serve`` as a person or an operating system meets it: real processes, real signals."""

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
from pathlib import Path

import psutil
import pytest

from memory_platform.home import BASE_DIR

pytestmark = [pytest.mark.chaos, pytest.mark.slow]


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

    def child(self, words: str) -> psutil.Process:
        return next(p for p in psutil.Process(self.process.pid).children() if words in " ".join(p.cmdline()))

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
    done = manage(home, "migrate", "--verbosity", "0")
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
    # What a killed `serve` leaves ends by itself; the database is stopped by the next command, as in life.
    manage(home, "showmigrations", "core")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_says_ready_once_and_stops_cleanly(serve, how):
    served = serve().wait_ready()
    assert served.answers()
    assert len(served.ready_lines()) == 1
    everybody = [*served.children(), served.database()]
    assert served.stop(how) == 0, served.text()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", served.port)) != 0
    assert list(served.home.rglob("postmaster.pid")) == []
    assert [process for process in everybody if process.is_running() and process.status() != psutil.STATUS_ZOMBIE] == []


def test_web_worker_and_database_come_back_after_a_kill(serve):
    served = serve().wait_ready()
    for find in (lambda: served.child("gunicorn"), lambda: served.child("worker"), served.database):
        victim = find()
        victim.send_signal(signal.SIGKILL)
        wait_until(lambda victim=victim: not victim.is_running() or victim.status() == psutil.STATUS_ZOMBIE, served.text)
        wait_until(served.answers, served.text)
    assert served.text().count("is started again") == 3, served.text()
    assert served.stop() == 0, served.text()
    assert list(served.home.rglob("postmaster.pid")) == []


def test_nothing_outlives_a_killed_serve_and_the_next_one_goes_on(serve):
    served = serve().wait_ready()
    children = served.children()
    served.process.kill()
    served.process.wait()
    wait_until(lambda: not any(child.is_running() for child in children), served.text)
    after = serve().wait_ready()
    assert after.answers()
    assert after.stop() == 0
    assert list(served.home.rglob("postmaster.pid")) == []


def test_commands_run_beside_it_and_leave_the_database_up(serve, home):
    served = serve("--no-worker").wait_ready()
    before = served.database().pid
    assert manage(home, "showmigrations", "core").returncode == 0
    assert served.database().pid == before
    assert served.answers()
    assert served.stop() == 0


def test_a_port_in_use_is_named(home):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = manage(home, "serve", "--bind", address)
    assert done.returncode == 1
    assert address in done.stderr
    assert "--bind" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(home.rglob("postmaster.pid")) == []


@pytest.mark.parametrize("bind", ["8000", ":8000", "127.0.0.1:http", "127.0.0.1:70000", "127.0.0.1:-1"])
def test_a_wrong_address_is_wrong_usage(tmp_path, bind):
    done = manage(tmp_path, "serve", "--bind", bind)
    assert done.returncode == 2
    assert "HOST:PORT" in done.stderr


@pytest.mark.parametrize("arguments", [("serve", "--help"), ("migrate", "--no-such-flag"), ("help",), ("no_such_command",)])
def test_no_database_is_made_for_help_and_wrong_usage(tmp_path, arguments):
    manage(tmp_path, *arguments)
    assert not (tmp_path / "postgres").exists()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(true: Callable[[], object], explain: Callable[[], str], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, explain()
        time.sleep(0.05)
