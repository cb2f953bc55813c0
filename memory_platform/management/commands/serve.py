"""``manage.py serve``: the whole product in the foreground (design/06 Commands)."""

from __future__ import annotations

import argparse
import http.client
import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory_platform.commands import SCHEMA_IS_CURRENT, close_connections
from memory_platform.home import BASE_DIR
from memory_platform.supervision import Child, RestartBudget, Supervisor, TooManyRestarts

if TYPE_CHECKING:
    from memory_platform.demo import DemoAccess
    from memory_platform.embedded.leases import Lease

READY_PATH = "/api/v1/health/ready"
_PROBE_EVERY = 0.05
_NOTICE_AFTER = 30.0
_BACKLOG = 512
_HIGHEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Address:
    """Where the web server listens."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """``HOST:PORT``, an IPv6 address in brackets; raises ArgumentTypeError, which ends the command as wrong usage."""
        host, colon, port = text.rpartition(":")
        bare = host.removeprefix("[").removesuffix("]")
        if not colon or not bare or not port.isdecimal() or int(port) > _HIGHEST_PORT:
            msg = f"{text!r} is not HOST:PORT"
            raise argparse.ArgumentTypeError(msg)
        return cls(bare, int(port))

    @property
    def url(self) -> str:
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    @property
    def probe_host(self) -> str:
        """Where we ask ourselves whether we answer; "every address" is none to ask."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 - compared, not bound

    def listen(self) -> tuple[socket.socket, Address]:
        """Open the port; raises CommandError if it is taken."""
        try:
            found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            family, kind, protocol, _, address = found[0]
            listener = socket.socket(family, kind, protocol)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError as trouble:
            msg = f"cannot listen on {self.host}:{self.port}: {trouble.strerror}. Stop what uses it, or name another with --bind."
            raise CommandError(msg, returncode=1) from trouble
        return listener, Address(self.host, listener.getsockname()[1])


class Command(BaseCommand):
    help = (
        "Run the whole product: embedded database (unless DATABASE_URL is set), migrations, web server and worker. "
        "Prints one line 'ready http://HOST:PORT' when it answers; SIGINT or SIGTERM stops everything."
    )
    # Read and set by memory_platform.commands: whose schema we may bring up to date, and the lease of the embedded database.
    applies_migrations = True
    lease: Lease | None = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--bind", type=Address.parse, default=Address("127.0.0.1", 8000), metavar="HOST:PORT", help="default 127.0.0.1:8000"
        )
        parser.add_argument("--no-worker", action="store_true", help="only the web server; start workers yourself")
        parser.add_argument("--demo", action="store_true", help="load the demo tenant and print how to use it")

    def handle(self, *_args: object, bind: Address, no_worker: bool, demo: bool, **_options: object) -> None:
        listener, address = bind.listen()
        with listener:
            close_connections()
            children = [_web(listener)] if no_worker else [_web(listener), _worker()]
            try:
                with Supervisor(children, tend=self._tend_database()) as supervisor:
                    account = self._load_demo() if demo else None
                    if self._await_answer(supervisor, address):
                        self.stdout.write(f"ready {address.url}")
                        if account is not None:
                            self.stdout.write(account.instructions(address.url))
                        self.stdout.flush()
                    while not supervisor.stopping:
                        supervisor.look_around()
            except TooManyRestarts as trouble:
                raise CommandError(str(trouble), returncode=1) from trouble

    def _tend_database(self) -> Callable[[], None]:
        """What keeps the embedded database up while we serve; nothing to do for a database of somebody else."""
        held = self.lease
        if held is None:
            return lambda: None
        budget = RestartBudget("the database server")

        def tend() -> None:
            if not held.alive:
                budget.spend()
                self.stderr.write("the database server is gone and is started again")
                held.ensure_running()

        return tend

    def _load_demo(self) -> DemoAccess | None:
        from memory_platform.demo import ensure_demo  # noqa: PLC0415 - only with --demo

        try:
            return ensure_demo()
        finally:
            close_connections()

    def _await_answer(self, supervisor: Supervisor, address: Address) -> bool:
        """Wait until the product says that it is ready; False if it was stopped before."""
        begun = time.monotonic()
        noticed = False
        while not supervisor.stopping:
            if _answers(address):
                return True
            if not noticed and time.monotonic() - begun > _NOTICE_AFTER:
                self.stderr.write(f"not ready after {_NOTICE_AFTER:.0f} s; {READY_PATH} names what is missing")
                noticed = True
            supervisor.look_around(_PROBE_EVERY)
        return False


def _answers(address: Address) -> bool:
    connection = http.client.HTTPConnection(address.probe_host, address.port, timeout=5)
    try:
        connection.request("GET", READY_PATH)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _environment() -> dict[str, str]:
    # Two heaps per process are enough for our few threads and keep the memory at rest low.
    return {"MALLOC_ARENA_MAX": "2", **os.environ}


def _web(listener: socket.socket) -> Child:
    descriptor = listener.fileno()
    command = [sys.executable, "-m", "gunicorn", "--config", "python:memory_platform.gunicorn_conf", "--chdir", str(BASE_DIR)]
    command += ["--bind", f"fd://{descriptor}"]
    return Child("the web server", command, _environment(), pass_fds=(descriptor,))


def _worker() -> Child:
    command = [sys.executable, str(BASE_DIR / "manage.py"), "worker"]
    return Child("the worker", command, {**_environment(), SCHEMA_IS_CURRENT: "1"})
