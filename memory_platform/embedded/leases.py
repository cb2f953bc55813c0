"""How processes share one server: each that uses it holds a shared file lock, which the kernel lets go when the process ends,
however it ends. Whoever gives its lease back and finds no other holder stops the server.

A second lock makes starting and stopping exclusive. After a kill -9 of every user the server stays up until the next command
finds it, uses it and stops it.

A lease belongs to the process that took it. Children that it forks do not hold it as well: one that lives a moment longer than
a killed parent would be taken for a user, and whoever leaves meanwhile would leave the server running.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_platform.embedded import server
from memory_platform.embedded.errors import EmbeddedDatabaseError
from memory_platform.embedded.places import Places, database_settings
from memory_platform.signals import held_off


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to use the embedded database of a home folder; the server runs at least as long as somebody holds one."""

    home: Path
    places: Places

    @property
    def settings(self) -> dict[str, Any]:
        """The entry for Django's DATABASES."""
        return database_settings(self.home)

    def ensure_running(self) -> None:
        """Start the server again if it died (kill -9, out of memory). Raises EmbeddedDatabaseError."""
        with _start_lock(self.places):
            server.ensure_running(self.places)

    def ensure_extension(self, name: str) -> None:
        """Add an extension that the server brings along, which takes its superuser; in the product's own database."""
        server.ensure_extension(self.places, name)

    @property
    def alive(self) -> bool:
        return server.running_pid(self.places) is not None


_descriptors: set[int] = set()  # the locks of this process's leases


def _forget_the_parents_leases() -> None:
    for descriptor in _descriptors:
        os.close(descriptor)
    _descriptors.clear()


os.register_at_fork(after_in_child=_forget_the_parents_leases)


@contextmanager
def lease(home: Path) -> Iterator[Lease]:
    """Use the embedded database of a home folder: find or start the server, and stop it at the end if nobody else uses it.

    The end is the end of the block, an exception, or a signal at any time, also while the server starts.
    Raises EmbeddedDatabaseError with a message for people.
    """
    places = Places.of(home)
    with _explained():
        _make_root(places)
        users = os.open(places.users_lock, os.O_RDWR | os.O_CREAT, 0o600)
    _descriptors.add(users)
    joined = False
    try:
        with _explained(), _start_lock(places):
            fcntl.flock(users, fcntl.LOCK_SH)
            joined = True
            server.ensure_running(places)
        yield Lease(home, places)
    finally:
        with held_off():
            try:
                if joined and places.root.exists():  # the whole home may be gone: then the server ends on its own
                    with _explained(), _start_lock(places):
                        _leave(users, places)
            finally:
                _descriptors.discard(users)
                os.close(users)


@contextmanager
def _explained() -> Iterator[None]:
    """A file that cannot be read or written becomes a sentence with its name."""
    try:
        yield
    except OSError as trouble:
        msg = f"{trouble.filename or 'the embedded database'}: {trouble.strerror or trouble}. Check who owns the home folder."
        raise EmbeddedDatabaseError(msg) from trouble


def _leave(users: int, places: Places) -> None:
    """Give the lease back; nobody can take a new one meanwhile, because that needs the start lock, which we hold."""
    fcntl.flock(users, fcntl.LOCK_UN)
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    server.stop(places)


@contextmanager
def _start_lock(places: Places) -> Iterator[None]:
    descriptor = os.open(places.start_lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _make_root(places: Places) -> None:
    places.root.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
