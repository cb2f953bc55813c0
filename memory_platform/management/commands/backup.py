"""``manage.py backup DIR``: copy the database, and look whether the copies that there are can be relied on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.retention.backups import LONGEST_DAYS, backup_standing, keep_days, newest_age
from apps.retention.models import Backup
from memory_platform.backup.folder import NoBackupError, damage, read_manifest
from memory_platform.backup.making import make_backup
from memory_platform.backup.programs import ProgramError
from memory_platform.file_permissions import find_open_files

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from datetime import timedelta

FINDINGS, USAGE = 1, 2


class Command(BaseCommand):
    help = (
        "Make a backup of the database below DIR, while everything goes on, and register it with the day on which it expires. "
        "The ledger is not part of it. --check looks at the backups there are, file by file, and at the age of the newest. Exit "
        "code 0, 1 for a failure or a finding, 2 when the command was not understood."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("directory", nargs="?", type=Path, metavar="DIR", help="folder below which the backup gets its own")
        parser.add_argument("--keep-days", type=int, metavar="N", help="days until it expires (default: BACKUP_KEEP_DAYS)")
        parser.add_argument("--check", action="store_true", help="make none; check those that are registered")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *_args: object, directory: Path | None, keep_days: int | None, **options: Any) -> None:
        if options["check"] == (directory is not None):
            raise CommandError("Name either DIR or --check.", returncode=USAGE)
        if options["check"]:
            self._check(as_json=options["json"])
        elif directory is not None:
            self._make(directory, _days(keep_days), as_json=options["json"])

    def _make(self, directory: Path, days: int, *, as_json: bool) -> None:
        try:
            made = make_backup(directory, days=days)
        except ProgramError as trouble:
            raise CommandError(str(trouble), returncode=FINDINGS) from trouble
        if as_json:
            self.stdout.write(json.dumps(_row(made)))
            return
        self.stdout.write(f"{made.location}\n{made.size} bytes, expires {made.expires_at:%Y-%m-%d %H:%M} UTC")

    def _check(self, *, as_json: bool) -> None:
        finished = Backup.objects.exclude(finished_at=None).order_by("-made_at")
        rows = [_row(one) | {"damage": _damage(one)} for one in finished]
        age = newest_age()
        found = {"standing": backup_standing(), "age_seconds": None if age is None else int(age.total_seconds()), "backups": rows}
        if as_json:
            self.stdout.write(json.dumps(found))
        else:
            for row in rows:
                self.stdout.write(
                    f"{row['location']}: {', '.join(row['damage']) or 'as it was made'}, expires {row['expires_at']}"
                )
            self.stdout.write(f"{found['standing']}: {_age_in_words(age)}")
        if found["standing"] != "ok" or any(row["damage"] for row in rows):
            raise SystemExit(FINDINGS)


def _days(asked: int | None) -> int:
    if asked is None:
        return keep_days()
    if not 1 <= asked <= LONGEST_DAYS:
        raise CommandError(f"--keep-days is between 1 and {LONGEST_DAYS}: no backup is for ever.", returncode=USAGE)
    return asked


def _row(backup: Backup) -> dict[str, Any]:
    return {
        "backup": str(backup.id),
        "location": backup.location,
        "made_at": backup.made_at.isoformat(),
        "expires_at": backup.expires_at.isoformat(),
        "size": backup.size,
        "sha256": backup.sha256,
    }


def _damage(backup: Backup) -> list[str]:
    folder = Path(backup.location)
    try:
        manifest = read_manifest(folder)
        if manifest.sha256 != backup.sha256:
            return ["manifest.json: another one than was registered"]
        return damage(folder, manifest) + [f"{Path(one.path).name}: {one.detail}" for one in find_open_files(folder)]
    except NoBackupError as missing:
        return [str(missing)]


def _age_in_words(age: timedelta | None) -> str:
    if age is None:
        return "there is no backup"
    minutes = int(age.total_seconds()) // 60
    return f"the newest backup is {minutes // 60} h {minutes % 60} min old"
