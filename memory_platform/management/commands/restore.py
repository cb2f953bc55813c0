"""``manage.py restore DIR``: put a backup back, and let the restore guard take out again what was deleted since."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.retention.ledger.report import is_fine, make_good
from memory_platform.backup import putting_back
from memory_platform.backup.folder import NoBackupError, damage, read_manifest
from memory_platform.backup.programs import ProgramError

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from memory_platform.backup.folder import Manifest

FINDINGS, USAGE = 1, 2


class Command(BaseCommand):
    help = (
        "Replace the database by a backup: checked file by file first, then all of it or nothing. Whatever the ledger says was "
        "deleted or held since is applied again before anything is given out. Stop serve and worker before. Exit code 0 when "
        "database and ledger agree at the end, 1 when they do not or the restore was refused, 2 when DIR is no backup."
    )
    applies_migrations = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("directory", type=Path, metavar="DIR", help="the folder of one backup, as backup printed it")
        parser.add_argument("--replace", action="store_true", help="also where the database holds something, which is lost then")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *_args: object, directory: Path, replace: bool, **options: Any) -> None:
        try:
            manifest = read_manifest(directory)
        except NoBackupError as trouble:
            raise CommandError(str(trouble), returncode=USAGE) from trouble
        _require_restorable(directory, manifest, replace=replace)
        try:
            putting_back.put_back(directory)
        except ProgramError as trouble:
            raise CommandError(f"{trouble}. The database is as it was.", returncode=FINDINGS) from trouble
        found = make_good()
        if options["json"]:
            self.stdout.write(
                json.dumps({"backup": str(manifest.backup_id), "made_at": manifest.made_at.isoformat(), "guard": found})
            )
        else:
            self.stdout.write(f"restored: {directory}, made {manifest.made_at:%Y-%m-%d %H:%M} UTC")
            self.stdout.write(
                f"ledger {found['standing']}: {found['applied']} entries applied again, {found['open_deletions']} open"
            )
        if not is_fine(found):
            raise SystemExit(FINDINGS)


def _require_restorable(directory: Path, manifest: Manifest, *, replace: bool) -> None:
    """Raises CommandError for everything that should be known before anything is touched."""
    broken = damage(directory, manifest)
    if broken:
        raise CommandError(f"{directory} is damaged: {'; '.join(broken)}.", returncode=FINDINGS)
    newer = putting_back.newer_than_us(manifest)
    if newer:
        raise CommandError(f"The backup was made by a newer release ({', '.join(newer)}). Install that one.", returncode=FINDINGS)
    if not replace and not putting_back.is_empty():
        raise CommandError(
            "The database is not empty. Make a backup of it if you may need it, then say --replace.", returncode=FINDINGS
        )
    others = putting_back.others_connected()
    if others:
        raise CommandError(
            f"{others} other sessions use the database. Stop serve and worker, then try again.", returncode=FINDINGS
        )
