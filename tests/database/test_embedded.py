"""The embedded PostgreSQL: what it is like, who may use it, who starts and stops it."""

from __future__ import annotations

import importlib.util
import os
import stat

import psutil
import psycopg
import pytest

from memory_platform.embedded.errors import EmbeddedDatabaseError
from memory_platform.embedded.leases import lease
from memory_platform.embedded.places import Places, database_settings
from tests.database.conftest import query, server_pid


def test_the_server_is_durable_private_and_speaks_unicode(home):
    with lease(home):
        [settings] = query(
            home,
            "SELECT current_setting('fsync'), current_setting('synchronous_commit'), current_setting('full_page_writes'), "
            "current_setting('data_checksums'), current_setting('server_encoding'), current_setting('listen_addresses'), "
            "current_setting('TimeZone'), current_setting('jit')",
        )
        assert settings == ("on", "on", "on", "on", "UTF8", "", "UTC", "off")
        places = Places.of(home)
        assert stat.S_IMODE(places.data.stat().st_mode) == 0o700
        assert stat.S_IMODE(places.socket_folder.stat().st_mode) == 0o700
        assert query(home, "SELECT lower('ÄÖ天文台')") == [("äö天文台",)]


def test_the_owner_is_bound_by_row_level_security(home):
    with lease(home):
        [row] = query(
            home,
            "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolreplication FROM pg_roles WHERE rolname = current_user",
        )
        assert row == ("memory_platform", False, False, True, False)
        [(owner,)] = query(home, "SELECT datdba::regrole::text FROM pg_database WHERE datname = current_database()")
        assert owner == "memory_platform"


def test_the_owner_can_become_a_role_it_makes(home):
    """What the first migration relies on."""
    with lease(home):
        query(home, "CREATE ROLE visitor NOLOGIN; GRANT visitor TO CURRENT_USER; SET ROLE visitor; SELECT 1")


def test_the_last_to_leave_stops_it(home, holder):
    first, second = holder(), holder()
    first.wait_up()
    second.wait_up()
    pid = server_pid(home)
    first.leave()
    assert server_pid(home) == pid
    assert query(home, "SELECT word FROM kept") == [("tide",)]
    second.leave()
    assert server_pid(home) is None
    assert not runs(pid)


def test_two_that_start_at_once_share_one_new_server(tmp_path):
    from tests.database.conftest import Holder

    home = tmp_path / "fresh"
    both = [Holder(home), Holder(home)]
    try:
        for one in both:
            one.wait_up()
        assert query(home, "SELECT 1") == [(1,)]
        for one in both:
            one.leave()
    finally:
        for one in both:
            one.kill()
    assert server_pid(home) is None
    assert not list((home / "postgres").glob("data.*"))


def test_a_deep_home_gets_a_short_socket(tmp_path):
    home = tmp_path / ("deep" * 30)
    home.mkdir()
    folder = Places.of(home).socket_folder
    assert len(os.fsencode(folder)) < 60
    with lease(home):
        assert query(home, "SELECT 1") == [(1,)]
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists(), "nothing may be left outside the home folder"


def test_somebody_elses_socket_folder_is_refused(home):
    """Who owns the folder could sit between us and the server."""
    folder = Places.of(home).socket_folder
    if folder.is_symlink():  # of an earlier run of this test that was cut short, under the same path
        folder.unlink()
    if folder.exists():  # that of a deep home is gone after a stop
        folder.rmdir()
    target = home / "elsewhere"
    target.mkdir()
    folder.symlink_to(target)
    try:
        with pytest.raises(EmbeddedDatabaseError, match="belongs to somebody else"), lease(home):
            pass
    finally:
        folder.unlink()
    assert server_pid(home) is None


def test_no_text_gets_into_the_server_log(home):
    secret = "canary-7f3a-the-lighthouse-key"
    with lease(home):
        for statement in (f"INSERT INTO kept VALUES ('{secret}')",) * 2 + (f"SELECT '{secret}'::uuid", f"SELEC '{secret}'"):
            try:
                query(home, statement)
            except psycopg.Error:
                continue
    log = Places.of(home).log.read_text()
    assert "ready to accept connections" in log
    assert "canary" not in log
    assert stat.S_IMODE(Places.of(home).log.stat().st_mode) == 0o600


def test_a_missing_wheel_is_named(home, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(EmbeddedDatabaseError, match="DATABASE_URL"), lease(home):
        pass


def test_another_major_version_is_refused(home):
    (Places.of(home).data / "PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedDatabaseError, match="made by PostgreSQL 17"), lease(home):
        pass


def test_settings_name_the_database_before_it_runs(tmp_path):
    database = database_settings(tmp_path / "nowhere")
    assert database["HOST"].startswith("/")
    assert not (tmp_path / "nowhere").exists()


def runs(pid: int) -> bool:
    """Ended means ended also where nobody has collected its exit code yet."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
