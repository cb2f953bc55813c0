"""The user the server runs as.

PostgreSQL refuses to run as root. Started by root it therefore runs as another user of the machine; that user needs no
password, no shell and nothing but the data folder.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memory_platform.embedded.errors import EmbeddedDatabaseError

_PREFERRED = ("postgres", "nobody")

# linux/prctl.h, linux/capability.h
_PR_SET_SECUREBITS = 28
_SECBIT_NO_SETUID_FIXUP = 1 << 2
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2
_CAP_DAC_OVERRIDE = 1
_CAPABILITY_VERSION_3 = 0x20080522


@dataclass(frozen=True, slots=True)
class Account:
    """The user of the server process; ``switch`` says whether becoming it takes a change of user."""

    name: str
    uid: int
    gid: int
    switch: bool

    def own(self, path: Path) -> None:
        """Hand a file or folder over to the server's user."""
        if self.switch:
            os.chown(path, self.uid, self.gid)

    def becoming(self, *needed: Path) -> Callable[[], None]:
        """What a new process runs before it turns into the server; ``needed`` are the paths that it must reach.

        A checkout below a private folder (root's own home, say) is closed to the other user. Opening that folder to everybody
        would be worse than what is done instead: the server keeps the one capability of root that walks past folder modes.
        """
        if not self.switch:
            return _private_umask
        keep = not all(self._reaches(path) for path in needed)
        if keep and not sys.platform.startswith("linux"):
            msg = (
                f"the database server runs as user {self.name} and cannot reach {needed[0]}. "
                "Start as a normal user, or move the project to a folder that others may walk through."
            )
            raise EmbeddedDatabaseError(msg)
        libc = ctypes.CDLL(None, use_errno=True) if keep else None

        def become() -> None:
            if libc is not None:
                # Capabilities outlive the change of user, and access(2), by which the server looks for its own files, sees them.
                _checked(libc.prctl(_PR_SET_SECUREBITS, _SECBIT_NO_SETUID_FIXUP, 0, 0, 0))
            os.setgroups([])
            os.setgid(self.gid)
            os.setuid(self.uid)
            if libc is not None:
                _keep_capability(libc)
            _private_umask()

        return become

    def _reaches(self, path: Path) -> bool:
        """Whether mode bits alone let the user walk to a path and, if it is a program, run it."""
        resolved = path.resolve()
        return all(self._may_execute(part) for part in (resolved, *resolved.parents))

    def _may_execute(self, path: Path) -> bool:
        info = path.stat()
        if info.st_uid == self.uid:
            return bool(info.st_mode & stat.S_IXUSR)
        if info.st_gid == self.gid:
            return bool(info.st_mode & stat.S_IXGRP)
        return bool(info.st_mode & stat.S_IXOTH)


def server_account(data: Path) -> Account:
    """Who runs the server for a data folder: this user, or for root the folder's owner, else ``postgres`` or ``nobody``.

    Raises EmbeddedDatabaseError if the data belongs to somebody else.
    """
    mine = os.geteuid()
    owner = data.stat().st_uid if data.exists() else None
    if mine != 0:
        if owner not in (None, mine):
            msg = f"{data} belongs to user number {owner}. Start as that user (or root), or name another MEMORY_PLATFORM_HOME."
            raise EmbeddedDatabaseError(msg)
        return Account(_name_of(mine), mine, os.getegid(), switch=False)
    if owner:
        entry = _entry(owner)
        return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, switch=True)
    for name in _PREFERRED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, switch=True)
    msg = "PostgreSQL does not run as root and this machine has neither a user postgres nor nobody. Start as a normal user."
    raise EmbeddedDatabaseError(msg)


def login_name() -> str:
    """The operating system's name of the user who calls, as the server sees it through the socket."""
    return _name_of(os.geteuid())


def _name_of(uid: int) -> str:
    return _entry(uid).pw_name


def _entry(uid: int) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(uid)
    except KeyError as missing:
        msg = f"user number {uid} has no name on this machine (getent passwd {uid}), and PostgreSQL asks for one. Add it."
        raise EmbeddedDatabaseError(msg) from missing


def _private_umask() -> None:
    os.umask(0o077)


def _keep_capability(libc: ctypes.CDLL) -> None:
    """Keep CAP_DAC_OVERRIDE and nothing else, over the exec that follows (capabilities(7), ambient set)."""

    class Header(ctypes.Structure):
        _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))

    class Data(ctypes.Structure):
        _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))

    bit = 1 << _CAP_DAC_OVERRIDE
    data = (Data * 2)(Data(bit, bit, bit), Data(0, 0, 0))
    _checked(libc.capset(ctypes.byref(Header(_CAPABILITY_VERSION_3, 0)), ctypes.byref(data)))
    _checked(libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE, 0, 0))


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
