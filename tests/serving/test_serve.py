"""``manage.py serve`` as a person or an operating system meets it: real processes, real signals."""

from __future__ import annotations

import signal
import socket
from contextlib import suppress

import psutil
import pytest

from memory_platform import commands
from memory_platform.commands import CommandLine
from tests.serving.conftest import manage, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.slow]


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
    for find in (lambda: served.child("-m gunicorn"), lambda: served.child("manage.py worker"), served.database):
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


@pytest.fixture
def no_database(monkeypatch):
    """Fails a command that asks for one."""

    def refused():
        raise AssertionError

    monkeypatch.setattr(commands, "database_running", refused)


@pytest.mark.parametrize("bind", ["8000", ":8000", "127.0.0.1:http", "127.0.0.1:70000", "127.0.0.1:-1"])
def test_a_wrong_address_is_wrong_usage(no_database, capsys, bind):
    with pytest.raises(SystemExit) as ended:
        CommandLine(["manage.py", "serve", "--bind", bind]).execute()
    assert ended.value.code == 2
    assert "HOST:PORT" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("serve", "--help"), ("migrate", "--no-such-flag"), ("help",), ("no_such_command",)])
def test_help_and_wrong_usage_need_no_database(no_database, capsys, arguments):
    with suppress(SystemExit):  # help ends with 0 or returns
        CommandLine(["manage.py", *arguments]).execute()
    said = capsys.readouterr()
    assert "usage: manage.py" in said.out + said.err or "manage.py help" in said.out + said.err


def test_no_database_is_made_for_them(tmp_path):
    assert manage(tmp_path, "serve", "--bind", "8000").returncode == 2
    assert not (tmp_path / "postgres").exists()
