"""The files of exports: written by the worker alone, readable for nobody else, gone with the export.

While it is worked on, an export has a folder with one file of JSON lines per layer; afterwards it has one archive. Names are the
keys of rows, so a file says nothing about whose it is.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson
from django.conf import settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from uuid import UUID

_PRIVATE_FOLDER: Final = 0o700
_PRIVATE_FILE: Final = 0o600
_OPTIONS: Final = orjson.OPT_UTC_Z


def folder() -> Path:
    found = Path(settings.HOME) / "exports"
    found.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    return found


def work_folder(export_id: UUID) -> Path:
    return folder() / f"{export_id}.part"


def archive_file(export_id: UUID) -> Path:
    return folder() / f"{export_id}.zip"


def begin(export_id: UUID) -> None:
    """An empty working folder."""
    remove(export_id)
    work_folder(export_id).mkdir(mode=_PRIVATE_FOLDER)


def append(export_id: UUID, layer: str, offset: int, rows: Sequence[dict[str, Any]]) -> int:
    """Write rows behind ``offset`` and return where they end, once they are on disk.

    What stands behind the offset was written by an attempt that never committed, and is overwritten.
    """
    lines = b"".join(orjson.dumps(row, option=_OPTIONS) + b"\n" for row in rows)
    descriptor = os.open(lines_file(export_id, layer), os.O_WRONLY | os.O_CREAT, _PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as file:
        file.truncate(offset)
        file.seek(offset)
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def lines_file(export_id: UUID, layer: str) -> Path:
    return work_folder(export_id) / f"{layer}.jsonl"


def rows_of(file: Path) -> Iterator[dict[str, Any]]:
    with file.open("rb") as lines:
        for line in lines:
            yield orjson.loads(line)


def create(file: Path) -> int:
    """A descriptor of a new private file; one that an earlier attempt left is written anew."""
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC, _PRIVATE_FILE)


def remove(export_id: UUID) -> None:
    """Remove whatever there is of an export; raises OSError when something stays."""
    archive_file(export_id).unlink(missing_ok=True)
    if work_folder(export_id).exists():
        shutil.rmtree(work_folder(export_id))


def is_held(export_id: UUID) -> bool:
    """Whether there is any file of it."""
    return archive_file(export_id).exists() or work_folder(export_id).exists()
