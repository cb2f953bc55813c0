"""One server process: find it, start it, stop it. Every function here is called with the start lock held."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import stat
import subprocess
import time
from typing import TYPE_CHECKING

import psutil
import psycopg
from psycopg import sql

from memory_platform.embedded.account import Account, login_name, server_account
from memory_platform.embedded.cluster import ensure_data_folder, server_environment
from memory_platform.embedded.errors import EmbeddedDatabaseError
from memory_platform.embedded.places import DATABASE, OWNER, PORT, SUPERUSER, Places, socket_name
from memory_platform.embedded.programs import program
from memory_platform.signals import held_off

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)

_LOOK_EVERY = 0.02  # seconds
_RECOVERY_NOTICE_AFTER = 5.0
_RECOVERY_DEADLINE = 900.0  # a large database replays its log after a crash; giving up early would only start that again
_SOCKET_DEADLINE = 5.0
_STRAYS_DEADLINE = 20.0
_FAST_STOP_DEADLINE = 60.0
_ASK_EVERY = 0.2
_IMMEDIATE_STOP_DEADLINE = 10.0
_LARGEST_LOG = 8 * 1024 * 1024

# Given at every start, so that no edited file can weaken them. The log shows no statement, no parameter and no detail of an
# error, because those quote rows (log_min_messages=log leaves out errors of statements; the caller gets those anyway).
_FIXED_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "logging_collector": "off",
    "log_destination": "stderr",
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_line_prefix": "%m [%p] ",
}

# Servers that this process started: it is their parent and has to collect them when they end.
_children: list[subprocess.Popen[bytes]] = []


def ensure_running(places: Places) -> None:
    """Find the server of these places or start it, and make sure that role and database are there.

    Raises EmbeddedDatabaseError with the reason and the way on.
    """
    _collect_children()
    pid = running_pid(places)
    if pid is not None and _becomes_reachable(places, pid):
        return
    if pid is not None and running_pid(places) is not None:
        logger.warning("a database server (process %d) runs but does not answer at its socket; it is started again", pid)
        stop(places)
    account = server_account(places.data)
    ensure_data_folder(places, account)
    _clear_what_a_crash_left(places)
    _prepare_socket_folder(places.socket_folder, account)
    _write_login_rules(places)
    _start(places, account)
    _ensure_database(places)


def running_pid(places: Places) -> int | None:
    """The process id of the live server of this data folder, starting and stopping ones included."""
    pid = _recorded_pid(places)
    if pid is None or not _is_server_of(pid, places.data):
        return None
    return pid


def stop(places: Places) -> None:
    """Stop the server: connections are ended, everything is written, and ``postmaster.pid`` is gone afterwards."""
    pid = running_pid(places)
    if pid is None:
        return
    for how, seconds in ((signal.SIGINT, _FAST_STOP_DEADLINE), (signal.SIGQUIT, _IMMEDIATE_STOP_DEADLINE)):
        try:
            os.kill(pid, how)
        except ProcessLookupError:
            break
        if _wait_until_gone(pid, places, seconds):
            break
        logger.warning("the database server (process %d) did not end within %.0f s", pid, seconds)
    else:
        msg = f"the database server (process {pid}) does not end. Look at {places.log}."
        raise EmbeddedDatabaseError(msg)
    if places.socket_folder.parent != places.root:
        shutil.rmtree(places.socket_folder, ignore_errors=True)  # a short folder outside is not left behind


def superuser_connection(places: Places, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
    """An autocommit connection as the server's superuser, for making databases; not for anything the product stores."""
    return psycopg.connect(
        host=str(places.socket_folder), port=PORT, user=SUPERUSER, dbname=database, connect_timeout=10, autocommit=True
    )


def ensure_extension(places: Places, name: str) -> None:
    """Add an extension to the product's database."""
    with superuser_connection(places, DATABASE) as connection:
        connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(name)))


def _start(places: Places, account: Account) -> None:
    log_start = _open_log(places.log)
    child: subprocess.Popen[bytes] | None = None
    try:
        with held_off():
            child = _launch(places, account)
        if _becomes_reachable(places, child.pid):
            return
    except BaseException:
        if child is not None:
            _abandon(child)
        raise
    child.poll()
    msg = f"the database server did not start (exit code {child.returncode}). It said:\n{_tail(places.log, log_start)}"
    raise EmbeddedDatabaseError(msg)


def _launch(places: Places, account: Account) -> subprocess.Popen[bytes]:
    postgres = program("postgres")
    settings = {
        **_FIXED_SETTINGS,
        "unix_socket_directories": '"' + str(places.socket_folder).replace('"', '""') + '"',
        "hba_file": str(places.root / "pg_hba.conf"),
        "ident_file": str(places.root / "pg_ident.conf"),
    }
    command = [str(postgres), "-D", str(places.data)]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    try:
        with places.log.open("ab") as log:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=server_environment(),
                cwd="/",
                start_new_session=True,  # a signal to our terminal or process group must not reach the server
                preexec_fn=account.becoming(postgres, places.root),  # noqa: PLW1509 - the caller has no threads yet
            )
    except (OSError, subprocess.SubprocessError) as trouble:
        msg = f"the database server cannot be started as user {account.name}: {trouble}"
        raise EmbeddedDatabaseError(msg) from trouble
    _children.append(child)
    return child


def _abandon(child: subprocess.Popen[bytes]) -> None:
    """End a server that we were interrupted in waiting for: stop() would not find it before it has written its pid file.

    The signal is sent again until the server is gone: before it has its handlers, one that we have inherited as ignored is lost.
    """
    until = time.monotonic() + _FAST_STOP_DEADLINE
    while time.monotonic() < until:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(_ASK_EVERY)
        except subprocess.TimeoutExpired:
            continue
        return
    child.send_signal(signal.SIGQUIT)


def _becomes_reachable(places: Places, pid: int) -> bool:
    """Wait while the server starts, recovers or stops; True once it takes connections, False if it is gone or unreachable."""
    begun = time.monotonic()
    ready_since: float | None = None
    noticed = False
    while time.monotonic() - begun < _RECOVERY_DEADLINE:
        _collect_children()
        if not _is_alive(pid):
            return False
        if _recorded_pid(places) == pid and _recorded_status(places) == "ready":
            if _answers(places):
                return True
            ready_since = ready_since or time.monotonic()
            if not (places.socket_folder / socket_name()).exists() and time.monotonic() - ready_since > _SOCKET_DEADLINE:
                return False
        if not noticed and time.monotonic() - begun > _RECOVERY_NOTICE_AFTER:
            logger.warning("waiting for the database server (after a crash it replays its log before it answers)")
            noticed = True
        time.sleep(_LOOK_EVERY)
    msg = f"the database server (process {pid}) was not ready within {_RECOVERY_DEADLINE:.0f} s. Look at {places.log}."
    raise EmbeddedDatabaseError(msg)


def _answers(places: Places) -> bool:
    """Whether it takes a connection now; a refusal that waiting does not cure raises EmbeddedDatabaseError."""
    try:
        superuser_connection(places).close()
    except psycopg.OperationalError as trouble:
        said = str(trouble).strip()
        # Starting up, shutting down, recovering; or nobody listens yet (any more).
        if "the database system is" in said or "FATAL" not in said:
            return False
        msg = f"the database server refuses us: {said}"
        raise EmbeddedDatabaseError(msg) from trouble
    return True


def _clear_what_a_crash_left(places: Places) -> None:
    """After a kill -9: let the old server's helpers end, and drop a pid file whose number now belongs to another process."""
    pid = _recorded_pid(places)
    file = places.data / "postmaster.pid"
    if pid is None and not file.exists():
        return
    deadline = time.monotonic() + _STRAYS_DEADLINE
    while strays := _processes_in(places.data):
        if time.monotonic() > deadline:
            msg = f"processes of an earlier database server still run: {strays}. End them (kill -QUIT), then start again."
            raise EmbeddedDatabaseError(msg)
        time.sleep(_LOOK_EVERY)
    logger.warning("the database server was not stopped cleanly the last time; it recovers by itself")
    if pid is None or psutil.pid_exists(pid):
        # The server would take the other process for itself and refuse. With a dead number it decides on its own, and better.
        file.unlink(missing_ok=True)


def _prepare_socket_folder(folder: Path, account: Account) -> None:
    """A folder that only the server's user (and root) can enter: entering it is what lets somebody speak to the server."""
    try:
        folder.mkdir(mode=0o700)
        account.own(folder)
    except FileExistsError:
        pass
    info = folder.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid not in (account.uid, os.geteuid()):
        msg = f"{folder} is needed for the database's socket but belongs to somebody else. Remove it, then start again."
        raise EmbeddedDatabaseError(msg)
    folder.chmod(0o700)
    account.own(folder)
    for leftover in folder.glob(f"{socket_name()}*"):
        leftover.unlink()


def _write_login_rules(places: Places) -> None:
    """Only the user who runs the product may log in, by the kernel's word for it; there are no passwords to lose."""
    login = '"' + login_name().replace('"', '""') + '"'
    _write(places.root / "pg_hba.conf", "local all all peer map=platform\nlocal replication all peer map=platform\n")
    _write(places.root / "pg_ident.conf", "".join(f"platform {login} {role}\n" for role in (OWNER, SUPERUSER)))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)  # the server's user reads it; the folder's mode decides who else can


def _ensure_database(places: Places) -> None:
    """Make the owner role and the database. The owner is no superuser, so that row-level security binds it as well."""
    with superuser_connection(places) as connection:
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [OWNER]).fetchone() is None:
            connection.execute(f"CREATE ROLE {OWNER} LOGIN CREATEROLE NOSUPERUSER NOBYPASSRLS NOCREATEDB NOREPLICATION")
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is not None:
            return
        # template1 gets the extension first: a database is either not there or whole, whenever we are killed.
        with superuser_connection(places, "template1") as template:
            template.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(f"CREATE DATABASE {DATABASE} OWNER {OWNER}")


def _recorded_pid(places: Places) -> int | None:
    lines = _pid_file_lines(places)
    return int(lines[0]) if lines and lines[0].strip().isdigit() else None


def _recorded_status(places: Places) -> str:
    lines = _pid_file_lines(places)
    return lines[7].strip() if len(lines) > 7 else ""  # noqa: PLR2004 - line 8 of postmaster.pid (miscadmin.h)


def _pid_file_lines(places: Places) -> list[str]:
    try:
        return (places.data / "postmaster.pid").read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _is_server_of(pid: int, data: Path) -> bool:
    """Whether a process is a PostgreSQL process of this data folder; process ids are used again after a crash or reboot."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE or process.name() != "postgres":
            return False
        return process.cwd() in ("", str(data))
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return False  # another user's process cannot be the server of our folder


def _processes_in(data: Path) -> list[int]:
    servers = (process.pid for process in psutil.process_iter(["name"]) if process.info["name"] == "postgres")
    return [pid for pid in servers if _is_server_of(pid, data)]


def _wait_until_gone(pid: int, places: Places, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        _collect_children()
        if not _is_alive(pid) and _recorded_pid(places) != pid:
            return True
        if not _is_alive(pid):
            return True  # ended without tidying up; the next start deals with its pid file
        time.sleep(_LOOK_EVERY)
    return False


def _collect_children() -> None:
    for child in list(_children):
        if child.poll() is not None:
            _children.remove(child)


def _open_log(path: Path) -> int:
    """Keep one older log, and say where the new lines begin."""
    if path.exists() and path.stat().st_size > _LARGEST_LOG:
        path.replace(path.with_suffix(".log.1"))
    path.touch(mode=0o600)
    return path.stat().st_size


def _tail(path: Path, start: int) -> str:
    with path.open("rb") as log:
        log.seek(start)
        return log.read()[-2000:].decode("utf-8", "replace").strip() or "(nothing)"
