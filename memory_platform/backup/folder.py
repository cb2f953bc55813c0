"""The folder of one backup: the dump, and a manifest that names each file with its size and SHA-256."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from apps.core.canonical import canonical_json, sha256_hex

FORMAT: Final = "memory-platform/backup/1"
MANIFEST: Final = "manifest.json"
DUMP: Final = "database.dump"
_PIECE: Final = 1 << 20


class NoBackupError(Exception):
    """A folder that is no backup of this product; the message says why."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself."""

    backup_id: UUID
    made_at: datetime
    postgresql: int
    migrations: dict[str, str]
    files: dict[str, dict[str, Any]]
    sha256: str


def write_manifest(folder: Path, *, backup_id: UUID, made_at: datetime, postgresql: int, migrations: dict[str, str]) -> Manifest:
    """The last file of a backup: without it a folder is none."""
    files = {file.name: _measured(file) for file in sorted(folder.iterdir())}
    document = {
        "format": FORMAT,
        "backup": str(backup_id),
        "made_at": made_at.isoformat(),
        "postgresql": postgresql,
        "migrations": migrations,
        "files": files,
    }
    text = canonical_json(document)
    write_private(folder / MANIFEST, text.encode())
    return read_manifest(folder)


def read_manifest(folder: Path) -> Manifest:
    """Raises NoBackupError."""
    try:
        text = (folder / MANIFEST).read_bytes()
        document = json.loads(text)
        return Manifest(
            backup_id=UUID({FORMAT: document["backup"]}[document["format"]]),
            made_at=datetime.fromisoformat(document["made_at"]),
            postgresql=int(document["postgresql"]),
            migrations=dict(document["migrations"]),
            files=dict(document["files"]),
            sha256=sha256_hex(text),
        )
    except OSError as trouble:
        msg = f"{folder} is no backup: {MANIFEST} cannot be read ({trouble.strerror})."
        raise NoBackupError(msg) from trouble
    except (ValueError, KeyError, TypeError, AttributeError) as trouble:
        msg = f"{folder} is no backup of this product: {MANIFEST} is not one of ours."
        raise NoBackupError(msg) from trouble


def damage(folder: Path, manifest: Manifest) -> list[str]:
    """What differs from the manifest, file by file; empty when the backup is as it was made."""
    found = []
    for name, told in manifest.files.items():
        try:
            seen = _measured(folder / Path(name).name)
        except FileNotFoundError:
            found.append(f"{name}: missing")
        except OSError as trouble:
            found.append(f"{name}: {trouble.strerror}")
        else:
            found += [f"{name}: another {what} than in the manifest" for what in ("size", "sha256") if seen[what] != told[what]][
                :1
            ]
    known = {*manifest.files, MANIFEST}
    return found + [f"{file.name}: not in the manifest" for file in sorted(folder.iterdir()) if file.name not in known]


def write_private(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(descriptor)


def _measured(file: Path) -> dict[str, Any]:
    digest = hashlib.sha256()
    with file.open("rb") as data:
        while piece := data.read(_PIECE):
            digest.update(piece)
        return {"size": os.fstat(data.fileno()).st_size, "sha256": digest.hexdigest()}
