"""Where the embedded database lives, and how Django reaches it.

Everything here follows from the home folder alone, so settings can name the database before it runs.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATABASE = "memory_platform"
OWNER = "memory_platform"
SUPERUSER = "postgres"
# Only part of the socket's name: the server listens on no network address.
PORT = 5432

# The kernel takes 107 bytes (Linux) or 103 (macOS) for the whole name of a socket.
_LONGEST_SOCKET_NAME = 103


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one embedded database."""

    root: Path

    @classmethod
    def of(cls, home: Path) -> Places:
        """The places below a home folder, with links resolved: two names of one folder must mean one server."""
        return cls(home.resolve() / "postgres")

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def log(self) -> Path:
        return self.root / "server.log"

    @property
    def start_lock(self) -> Path:
        return self.root / "start.lock"

    @property
    def users_lock(self) -> Path:
        return self.root / "users.lock"

    @property
    def socket_folder(self) -> Path:
        """``socket`` beside the data, or a short folder named after the root where that path is too long for a socket."""
        near = self.root / "socket"
        if len(os.fsencode(near / socket_name())) <= _LONGEST_SOCKET_NAME:
            return near
        name = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]
        return Path("/tmp") / f"memory-platform-{name}"  # noqa: S108 - owner and mode are checked before use (server.py)


def socket_name() -> str:
    return f".s.PGSQL.{PORT}"


def database_settings(home: Path) -> dict[str, Any]:
    """The entry of DATABASES for the embedded database of a home folder; the server need not run yet."""
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": DATABASE,
        "USER": OWNER,
        "PASSWORD": "",  # the kernel tells the server who calls (peer authentication)
        "HOST": str(Places.of(home).socket_folder),
        "PORT": str(PORT),
    }
