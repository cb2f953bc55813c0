"""Who can read and change what the installation has written: modes, owners and links of everything below the home folder.

Enforced rules are about private things: breaking one is a finding. Advisory ones are about what surrounds them, and may be meant.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_OTHERS = 0o077
_OTHERS_MAY_WRITE = 0o022
_OTHERS_MAY_LIST = 0o066
# Started by root the server runs as another user: it walks through this folder and reads these files (embedded/server.py).
_WALKED = frozenset({"postgres"})
_READ_BY_SERVER = frozenset({"postgres/pg_hba.conf", "postgres/pg_ident.conf"})


@dataclass(frozen=True, slots=True)
class Finding:
    """``path`` is relative to the home folder ("." is the folder itself). ``enforced`` ones make the check fail."""

    path: str
    rule: str
    enforced: bool
    detail: str


def find_open_doors(home: Path) -> list[Finding]:
    """Everything below a home folder that breaks a rule, in the order of the paths. Nothing is changed, no link is followed.

    Raises OSError when the home folder itself cannot be looked at.
    """
    root = home.resolve(strict=True)
    return [*_of_home(root), *_of_contents(root)]


def find_open_files(folder: Path) -> list[Finding]:
    """The same for a folder elsewhere in which everything is private: the ledger's second location, a backup.

    Paths are absolute here. Raises OSError.
    """
    found = []
    for path in (folder, *sorted(folder.rglob("*"))):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if not path.is_symlink() and mode & _OTHERS:
            found.append(Finding(str(path), "open_to_others", enforced=True, detail=f"mode {mode:o}"))
    return found


def _of_home(root: Path) -> Iterator[Finding]:
    mode = stat.S_IMODE(root.stat().st_mode)
    if mode & _OTHERS_MAY_WRITE:
        yield Finding(".", "writable_by_others", enforced=True, detail=f"mode {mode:o}: others can put files in the home folder")
    if mode & _OTHERS_MAY_LIST & ~_OTHERS_MAY_WRITE:
        yield Finding(".", "listable_by_others", enforced=False, detail=f"mode {mode:o}: others see the names in the home folder")
    for parent in root.parents:
        info = parent.stat()
        if info.st_mode & _OTHERS_MAY_WRITE and not info.st_mode & stat.S_ISVTX:
            where = os.path.relpath(parent, root)
            yield Finding(where, "parent_writable_by_others", enforced=False, detail="others can put another folder in its place")


def _of_contents(root: Path) -> Iterator[Finding]:
    accounts = {os.geteuid(), root.stat().st_uid}
    data = root / "postgres" / "data"
    if data.is_dir() and not data.is_symlink():
        accounts.add(data.stat().st_uid)
    for base, folders, files in os.walk(root, onerror=_raise):
        folders.sort()
        for name in sorted([*folders, *files]):
            path = Path(base, name)
            try:
                info = path.lstat()
            except FileNotFoundError:  # a running server makes and removes files all the time
                continue
            yield from _of_entry(root, path, info, accounts)


def _of_entry(root: Path, path: Path, info: os.stat_result, accounts: set[int]) -> Iterator[Finding]:
    name = path.relative_to(root).as_posix()
    if stat.S_ISLNK(info.st_mode):
        if not path.resolve().is_relative_to(root):
            yield Finding(name, "link_leaves_home", enforced=True, detail="what it leads to is not under these rules")
        return
    if info.st_uid not in accounts:
        yield Finding(name, "foreign_owner", enforced=True, detail=f"belongs to user number {info.st_uid}")
    mode = stat.S_IMODE(info.st_mode)
    if mode & _forbidden(name, info.st_mode):
        yield Finding(name, "open_to_others", enforced=True, detail=f"mode {mode:o}")


def _forbidden(name: str, mode: int) -> int:
    """The permission bits that a path must not have."""
    if stat.S_ISSOCK(mode):
        return 0o007  # the folder around it and the kernel's word for the caller decide who may speak
    if name in _WALKED:
        return _OTHERS_MAY_LIST
    return _OTHERS_MAY_WRITE if name in _READ_BY_SERVER else _OTHERS


def _raise(trouble: OSError) -> None:
    if not isinstance(trouble, FileNotFoundError):
        raise trouble
