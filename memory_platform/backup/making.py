"""Making a backup: a dump of the whole database at one instant, while everything goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from django.db.migrations.recorder import MigrationRecorder

from apps.retention.backups import finish_backup, register_backup, unregister_backup
from memory_platform.backup.folder import DUMP, write_manifest
from memory_platform.backup.programs import ProgramError, environment, explained, programs

if TYPE_CHECKING:
    from apps.retention.models import Backup


def make_backup(directory: Path, *, days: int) -> Backup:
    """Make one below a folder, owner-only, and register it; it expires after so many days.

    Raises ProgramError, and then nothing of it is left.
    """
    from django.db import connection  # noqa: PLC0415 - only needed here

    tools = programs()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as trouble:
        message = f"{directory} cannot be made: {trouble.strerror}. Name a folder that this user may write to."
        raise ProgramError(message) from trouble
    backup = register_backup(directory.resolve(), days=days)
    folder = Path(backup.location)
    try:
        folder.mkdir(mode=0o700)
        _dump(tools.pg_dump, folder / DUMP)
        made = write_manifest(
            folder,
            backup_id=backup.id,
            made_at=backup.made_at,
            postgresql=tools.major,
            migrations=latest_migrations(MigrationRecorder(connection)),
        )
    except BaseException as failure:
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            unregister_backup(backup.id)
        if isinstance(failure, OSError):
            message = f"{failure.filename or folder} cannot be written: {failure.strerror}."
            raise ProgramError(message) from failure
        raise
    finish_backup(backup, size=sum(file["size"] for file in made.files.values()), sha256=made.sha256)
    return backup


def latest_migrations(recorder: MigrationRecorder) -> dict[str, str]:
    """The last migration of each app that was applied."""
    return dict(sorted(recorder.applied_migrations()))


def _dump(program: Path, target: Path) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        # The owner is bound by row-level security, and says in its environment that it means every tenant (programs.py).
        command: list[str | Path] = [program, "--format=custom", "--enable-row-security", "--no-password"]
        done = subprocess.run(
            command, check=False, stdin=subprocess.DEVNULL, stdout=descriptor, stderr=subprocess.PIPE, env=environment()
        )
        if done.returncode != 0:
            raise explained(program.name, done.stderr)
        os.fsync(descriptor)
    finally:
        with suppress(OSError):
            os.close(descriptor)
