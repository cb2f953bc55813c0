"""The archive: a zip of one JSON Lines file per layer, a page for people, and a signed manifest with the hash of every file.

Whoever has the installation's public key checks it without a database and without a network (manage.py verify_export).
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from apps.core.ids import public_id
from apps.retention import signing
from apps.retention.exports import pages, spool
from apps.retention.exports.reach import exporting_layers
from apps.retention.signing import Fault, find_fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import IO
    from uuid import UUID

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from apps.retention.models import SubjectExport

FORMAT: Final = "memory-platform/subject-export/1"
MANIFEST: Final = "manifest.json"
MEMBER: Final = "manifest"  # where the signed document stands in that file
PAGE: Final = "index.html"
_AT_ONCE: Final = 256 * 1024
_LARGEST_MANIFEST: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Packed:
    size: int
    sha256: str


def described(row: SubjectExport) -> dict[str, Any]:
    """What the manifest says besides its files; inside the tenant context."""
    return {
        "format": FORMAT,
        "export_id": public_id("exp", row.id),
        "export_request_id": row.export_request_id,
        "tenant_id": str(row.tenant_id),
        "subject": row.subject.key,
        "reason": row.reason_code,
        "as_of": row.as_of.isoformat().replace("+00:00", "Z") if row.as_of else None,
        "rows": {layer.key: row.counts.get(layer.key, 0) for layer in exporting_layers()},
    }


def pack(export_id: UUID, document: dict[str, Any], *, beat: Callable[[], None]) -> Packed:
    """Write the archive into the working folder; ``beat`` is called between two files. Nothing of it can be fetched yet."""
    part = _unpublished(export_id)
    layers = list(document["rows"])
    files: list[dict[str, Any]] = []
    with os.fdopen(spool.create(part), "wb") as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for layer in layers:
            with spool.lines_file(export_id, layer).open("rb") as lines:
                files.append(_add(archive, f"{layer}.jsonl", iter(lambda: lines.read(_AT_ONCE), b"")))
            beat()
        told = pages.page(document, {layer: spool.lines_file(export_id, layer) for layer in layers})
        files.append(_add(archive, PAGE, (piece.encode() for piece in told)))
        beat()
        manifest = {**document, "files": files}
        value, key_id = signing.sign(manifest)
        envelope = {MEMBER: manifest, "signature": {"algorithm": signing.ALGORITHM, "key_id": key_id, "value": value}}
        _add(archive, MANIFEST, [json.dumps(envelope, ensure_ascii=False, indent=1).encode()])
    with part.open("rb") as made:
        os.fsync(made.fileno())
        digest = hashlib.file_digest(made, "sha256").hexdigest()
    return Packed(part.stat().st_size, digest)


def publish(export_id: UUID) -> None:
    """Put the finished archive where it is fetched from, and remove what it was made of."""
    _unpublished(export_id).replace(spool.archive_file(export_id))
    for file in spool.work_folder(export_id).iterdir():
        file.unlink()
    spool.work_folder(export_id).rmdir()


def verify(file: IO[bytes], key: Ed25519PublicKey) -> tuple[dict[str, Any], str | None]:
    """The manifest of an archive, and what is wrong with it (None: nothing); reads every file once, unpacks none to disk."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            if len(set(names)) != len(names) or MANIFEST not in names:
                return {}, Fault.MALFORMED.value
            with archive.open(MANIFEST) as manifest:
                document, fault = find_fault(manifest.read(_LARGEST_MANIFEST), MEMBER, key)
            if fault is not None:
                return document, fault.value
            return document, _fault_of_files(archive, document, set(names) - {MANIFEST})
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError):
        return {}, Fault.MALFORMED.value


def _fault_of_files(archive: zipfile.ZipFile, document: dict[str, Any], names: set[str]) -> str | None:
    if document.get("format") != FORMAT:
        return "unknown_format"
    try:
        files = {str(one["name"]): (str(one["sha256"]), int(one["bytes"])) for one in document["files"]}
    except (KeyError, TypeError, ValueError):
        return Fault.MALFORMED.value
    if set(files) != names:
        return "files_differ"
    for name, (digest, size) in files.items():
        found, count = hashlib.sha256(), 0
        with archive.open(name) as content:
            while chunk := content.read(_AT_ONCE):
                found.update(chunk)
                count += len(chunk)
                if count > size:  # whatever else it would unfold to
                    return Fault.ALTERED.value
        if (found.hexdigest(), count) != (digest, size):
            return Fault.ALTERED.value
    return None


def _add(archive: zipfile.ZipFile, name: str, pieces: Any) -> dict[str, Any]:  # noqa: ANN401 - any iterable of bytes
    """Add a file, and say for the manifest what it is."""
    digest, size = hashlib.sha256(), 0
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    with archive.open(entry, "w", force_zip64=True) as out:
        for piece in pieces:
            out.write(piece)
            digest.update(piece)
            size += len(piece)
    return {"name": name, "sha256": digest.hexdigest(), "bytes": size}


def _unpublished(export_id: UUID) -> Path:
    return spool.work_folder(export_id) / "archive.zip"
