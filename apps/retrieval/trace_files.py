"""Traces as files: names that say when and which, owner-only, and pruning that goes by the name alone (TC-02..06).

Pruning is the one place here that deletes. It touches a regular file whose whole name is that of a trace and whose date is over;
everything else in the folder is left alone, links are never followed or removed, and a date that cannot be is not guessed.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from apps.core.ids import parse_public_id, public_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from uuid import UUID

OWNER_FILE: Final = 0o600
OWNER_FOLDER: Final = 0o700
_NAME = re.compile(r"trace-([0-9]{8}T[0-9]{6}Z)-(trc_[0-9a-z]{26})\.json", re.ASCII)
_INSTANT = "%Y%m%dT%H%M%SZ"
_UNFINISHED = ".part"


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a pruning did, or would do: names removed, and how many entries stayed for which reason."""

    removed: tuple[str, ...]
    kept: int
    impossible: int
    links: int
    other: int


class NotAFolder(ValueError):
    """The path is no folder of its own: absent, a file, or a link to somewhere else."""


def file_name(at: datetime, trace_id: UUID) -> str:
    """``trace-20261018T100000Z-trc_….json``: when the trace was made (UTC, to the second) and which it is."""
    return f"trace-{at.astimezone(UTC).strftime(_INSTANT)}-{public_id('trc', trace_id)}.json"


def made_at(name: str) -> datetime | None:
    """When the trace of this name was made; None for a name that is none, or whose date or id cannot be."""
    found = _NAME.fullmatch(name)
    if found is None or parse_public_id("trc", found[2]) is None:
        return None
    try:
        return datetime.strptime(found[1], _INSTANT).replace(tzinfo=UTC)
    except ValueError:
        return None


@contextmanager
def open_folder(path: Path, *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder itself, never of what a link in its place points to. Raises NotAFolder.

    With ``make`` it is made, for the owner only, if it is not there.
    """
    if make:
        path.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as trouble:
        raise NotAFolder(str(path)) from trouble
    try:
        yield folder
    finally:
        os.close(folder)


def write(folder: int, name: str, text: bytes) -> bool:
    """Write a trace file for its owner only, whole or not at all; False if something of that name is there already."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        pass
    else:
        return False
    unfinished = name + _UNFINISHED
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with os.fdopen(os.open(unfinished, flags, OWNER_FILE, dir_fd=folder), "wb") as file:
        os.fchmod(file.fileno(), OWNER_FILE)  # what was left of an interrupted export may have had another mode
        file.write(text)
    os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    return True


def prune(folder: int, *, before: datetime, dry_run: bool = False) -> Pruned:
    """Remove the trace files made before an instant, as their names tell. Not recursive."""
    removed: list[str] = []
    kept = impossible = links = other = 0
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries)
    for name in names:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            links += 1
        elif not stat.S_ISREG(mode) or _NAME.fullmatch(name) is None:
            other += 1
        elif (made := made_at(name)) is None:
            impossible += 1
        elif made >= before:
            kept += 1
        else:
            if not dry_run:
                os.unlink(name, dir_fd=folder)
            removed.append(name)
    return Pruned(tuple(removed), kept, impossible, links, other)
