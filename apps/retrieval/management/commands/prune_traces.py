"""``manage.py prune_traces DIR``: remove exported traces that are older than their window, by their names alone (TC-02..06)."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.core import clock
from apps.retrieval.trace_files import NotAFolder, open_folder, prune
from apps.retrieval.traces import DEFAULT_WINDOW_DAYS

if TYPE_CHECKING:
    from argparse import ArgumentParser

USAGE = 2


class Command(BaseCommand):
    help = (
        "Remove exported trace files older than so many days. The age is read from the file's name; only files that are named "
        "wholly like an export are touched, links and impossible dates are left alone."
    )
    needs_database = False
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "folder", metavar="DIR", type=Path, help="where export_traces wrote to; a link to a folder is refused"
        )
        parser.add_argument(
            "--days", type=int, default=DEFAULT_WINDOW_DAYS, help=f"keep the last so many days (default: {DEFAULT_WINDOW_DAYS})"
        )
        parser.add_argument("--dry-run", action="store_true", help="name what would go and remove nothing")
        parser.add_argument("--json", action="store_true", help="print names and counts as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        if options["days"] < 0:
            raise CommandError("Days are counted from 0.", returncode=USAGE)
        before = clock.now() - timedelta(days=options["days"])
        try:
            with open_folder(options["folder"]) as folder:
                done = prune(folder, before=before, dry_run=options["dry_run"])
        except NotAFolder as trouble:
            raise CommandError(f"{options['folder']} is no folder of its own.", returncode=USAGE) from trouble
        if options["json"]:
            counts = {"kept": done.kept, "impossible": done.impossible, "links": done.links, "other": done.other}
            self.stdout.write(json.dumps({"removed": list(done.removed), "dry_run": options["dry_run"], **counts}))
            return
        if options["dry_run"]:
            for name in done.removed:
                self.stdout.write(name)
        word = "would be removed" if options["dry_run"] else "removed"
        self.stdout.write(
            f"{len(done.removed)} {word}, {done.kept} kept; left alone: {done.impossible} with a date that cannot be, "
            f"{done.links} links, {done.other} other entries"
        )
