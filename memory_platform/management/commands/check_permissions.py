"""``manage.py check_permissions``: whether only their owner can read what the installation has written."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from memory_platform.file_permissions import find_open_doors, find_open_files

if TYPE_CHECKING:
    from argparse import ArgumentParser

FINDINGS, USAGE = 1, 2


class Command(BaseCommand):
    help = (
        "Look at modes, owners and links of everything below MEMORY_PLATFORM_HOME and LEDGER_COPY; changes nothing. Exit code "
        "0 when no enforced rule is broken (advice may be printed), 1 when one is, 2 when the folder cannot be looked at."
    )
    needs_database = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        try:
            found = find_open_doors(settings.HOME)
            if settings.LEDGER_COPY and Path(settings.LEDGER_COPY).is_dir():
                found += find_open_files(Path(settings.LEDGER_COPY))
        except OSError as trouble:
            message = (
                f"{trouble.filename} cannot be looked at: {trouble.strerror}. Run the check as the user who runs the product."
            )
            raise CommandError(message, returncode=USAGE) from trouble
        broken = [one for one in found if one.enforced]
        if options["json"]:
            self.stdout.write(json.dumps([asdict(one) for one in found]))
        else:
            for one in found:
                self.stdout.write(f"{'finding' if one.enforced else 'advice'}: {one.path}: {one.rule} ({one.detail})")
            self.stdout.write(f"{len(broken)} findings, {len(found) - len(broken)} pieces of advice")
        if broken:
            raise SystemExit(FINDINGS)
