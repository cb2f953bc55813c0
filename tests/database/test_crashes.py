"""What a crash can leave behind, and that nothing of it loses data or needs a person."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memory_platform.embedded.errors import EmbeddedDatabaseError
from memory_platform.embedded.leases import lease
from memory_platform.embedded.places import Places, socket_name
from tests.database.conftest import PROJECT, kill_server, query, server_pid

pytestmark = pytest.mark.chaos


def words(home: Path) -> list[str]:
    return [word for (word,) in query(home, "SELECT word FROM kept ORDER BY word")]


def test_a_server_whose_user_was_killed_is_found_and_stopped_by_the_next(home, holder):
    doomed = holder()
    doomed.wait_up()
    pid = server_pid(home)
    query(home, "INSERT INTO kept VALUES ('ebb')")
    doomed.kill()
    with lease(home):
        assert server_pid(home) == pid, "the running server is used, not a second one started"
        assert words(home) == ["ebb", "tide"]
    assert server_pid(home) is None


def test_a_killed_server_recovers_what_was_committed(home):
    with lease(home) as held:
        query(home, "INSERT INTO kept VALUES ('ebb')")
        kill_server(home)
        wait_until(lambda: not held.alive)
        held.ensure_running()
        assert words(home) == ["ebb", "tide"]
    assert server_pid(home) is None


def test_server_and_user_killed_together_like_a_power_cut(home, holder):
    doomed = holder()
    doomed.wait_up()
    query(home, "INSERT INTO kept VALUES ('ebb')")
    kill_server(home)
    doomed.kill()
    assert server_pid(home) is not None, "the pid file is left"
    with lease(home):
        assert words(home) == ["ebb", "tide"]


def test_a_pid_file_whose_number_belongs_to_another_process(home, holder):
    """After a reboot the number in a left pid file is soon somebody else's, here one that runs as the server's own user."""
    doomed = holder()
    doomed.wait_up()
    kill_server(home)
    doomed.kill()
    file = Places.of(home).data / "postmaster.pid"
    account = Places.of(home).data.stat()
    bystander = subprocess.Popen(["sleep", "60"], user=account.st_uid)
    try:
        lines = file.read_text().splitlines()
        file.write_text("\n".join([str(bystander.pid), *lines[1:]]) + "\n")
        with lease(home):
            assert words(home) == ["tide"]
        assert bystander.poll() is None, "the other process is left alone"
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.parametrize("content", ["", "not a number\n", "99999999\n"])
def test_a_broken_pid_file(home, content):
    (Places.of(home).data / "postmaster.pid").write_text(content)
    with lease(home):
        assert words(home) == ["tide"]


def test_left_socket_files_are_no_obstacle(home):
    folder = Places.of(home).socket_folder
    folder.mkdir(mode=0o700, exist_ok=True)  # that of a deep home is outside it and gone after a stop
    (folder / socket_name()).touch()
    (folder / f"{socket_name()}.lock").write_text(f"{os.getpid()}\n")
    with lease(home):
        assert words(home) == ["tide"]


def test_a_first_start_that_was_killed_is_moved_aside(tmp_path, caplog):
    home = tmp_path / "fresh"
    script = f"from pathlib import Path; from memory_platform.embedded.leases import lease\nwith lease(Path({str(home)!r})): pass"
    first = subprocess.Popen([sys.executable, "-c", script], cwd=PROJECT)
    root = home / "postgres"
    wait_until(lambda: any(root.glob("data.part-*/global")))
    first.kill()
    first.wait()
    [part] = root.glob("data.part-*")
    kept = [path.name for path in part.iterdir()]
    with lease(home):
        assert query(home, "SELECT 1") == [(1,)]
    assert "half-made database folder was moved to" in caplog.text
    [aside] = root.glob("data.half-made-*")
    assert kept[0] in [path.name for path in aside.iterdir()], "moved, not deleted"


def test_a_folder_without_the_control_file_is_moved_aside_if_it_never_was_whole(tmp_path):
    data = tmp_path / "home" / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("18\n")
    with lease(tmp_path / "home"):
        assert query(tmp_path / "home", "SELECT 1") == [(1,)]
    assert list(data.parent.glob("data.half-made-*"))


def test_a_database_that_lost_files_is_never_replaced_by_an_empty_one(home):
    (Places.of(home).data / "global" / "pg_control").unlink()
    with pytest.raises(EmbeddedDatabaseError, match=r"lost files.*Restore it from a backup"), lease(home):
        pass
    assert (Places.of(home).data / "base").exists()


def test_a_stopping_server_is_waited_for(home, holder):
    doomed = holder()
    doomed.wait_up()
    first = server_pid(home)
    doomed.kill()
    os.kill(first, signal.SIGINT)
    with lease(home):
        assert words(home) == ["tide"]
    assert server_pid(home) is None


def test_a_server_that_cannot_start_says_why(home):
    places = Places.of(home)
    with (places.data / "postgresql.conf").open("a") as config:
        config.write("shared_buffers = nonsense\n")
    with pytest.raises(EmbeddedDatabaseError, match="did not start") as refused, lease(home):
        pass
    assert "shared_buffers" in str(refused.value)


def wait_until(true, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
