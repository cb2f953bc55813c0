"""The folder that holds everything an installation writes, and the secrets it keeps there.

Read by settings before Django is there, so nothing here imports Django.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
HOME_VARIABLE = "MEMORY_PLATFORM_HOME"

_PRIVATE = 0o700
# As root the embedded database runs under another user, which must be able to walk through the folder but not list it.
_WALKABLE = 0o711


class HomeError(Exception):
    """The home folder cannot be used; the message says what to do."""


def home_folder() -> Path:
    """The absolute path of MEMORY_PLATFORM_HOME (default ``var`` in the project); the folder is made if it is missing.

    A folder that is there keeps its mode. Raises HomeError if it is no folder or cannot be made.
    """
    home = Path(os.environ.get(HOME_VARIABLE) or BASE_DIR / "var").expanduser()
    home = Path(os.path.abspath(home))  # noqa: PTH100 - resolve() would follow a link that an operator moves on purpose
    try:
        made = not home.exists()
        home.mkdir(parents=True, exist_ok=True)
        if made:
            home.chmod(_WALKABLE if os.geteuid() == 0 else _PRIVATE)
    except OSError as trouble:
        msg = f"{HOME_VARIABLE}={home} cannot be used: {trouble.strerror}. Name a folder that this user may write to."
        raise HomeError(msg) from trouble
    return home


def private_folder(name: str) -> Path:
    """A folder below the home folder that only this user may look into."""
    folder = home_folder() / name
    try:
        folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    except OSError as trouble:
        msg = f"{folder} cannot be made: {trouble.strerror}. Check who owns {HOME_VARIABLE}."
        raise HomeError(msg) from trouble
    return folder


def instance_secret(name: str) -> str:
    """A random secret of this installation (256 bits, URL-safe text), made once and kept in ``secrets/<name>`` with mode 0600.

    Processes that start at the same time agree on one value. Raises HomeError if others can read the file or it is empty.
    """
    file = private_folder("secrets") / name
    try:
        if not file.exists():
            _write_once(file, secrets.token_urlsafe(32))
        mode = stat.S_IMODE(file.stat().st_mode)
        value = file.read_text(encoding="ascii").strip()
    except OSError as trouble:
        msg = f"{file}: {trouble.strerror}. Check who owns {HOME_VARIABLE}."
        raise HomeError(msg) from trouble
    if mode & 0o077:
        msg = f"{file} can be read by other users. Run: chmod 600 {file}"
        raise HomeError(msg)
    if not value:
        msg = f"{file} is empty. Put the secret back from a backup; an empty secret is never used."
        raise HomeError(msg)
    return value


def _write_once(file: Path, value: str) -> None:
    """Write a complete file or none: a link to a finished temporary file fails if somebody else was first."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as out:
            out.write(value)
            out.flush()
            os.fsync(out.fileno())
        try:
            os.link(part, file)
        except FileExistsError:
            return
    finally:
        part.unlink(missing_ok=True)
