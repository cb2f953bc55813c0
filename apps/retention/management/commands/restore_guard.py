"""``manage.py restore_guard``: whether this database has everything that stands in the ledger, and making it so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.retention.ledger.report import Unrepairable, check, is_fine, make_good

if TYPE_CHECKING:
    from argparse import ArgumentParser

FINDINGS = 1

_MEANING = {
    "none": "no deletion and no hold was ever recorded",
    "ok": "the database has everything that stands in the ledger",
    "ahead": "the ledger has entries that this database lacks: it was restored",
    "reapplying": "deletions that were applied again are not completed; a worker goes on with them",
    "behind": "the ledger lacks entries that the database has written; bring the file back, or make it anew with --rebuild",
    "foreign": "the ledger belongs to another installation; bring this one's back, or make it anew with --rebuild",
    "missing": "the ledger is gone; bring the file back, or make it anew with --rebuild",
    "unreadable": "the ledger cannot be read; look at its owner and mode",
    "corrupt": "the ledger was altered or damaged; bring it back from its second location, or make it anew with --rebuild",
}


class Command(BaseCommand):
    help = (
        "Compare the database with the ledger of revocations and holds, entry by entry. What the database lacks is applied again "
        "and worked off; until that is done nothing is given out. Exit code 0 when the two agree at the end, 1 when they do not "
        "or something is not as it should be, 2 when the command was not understood."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print what was found as JSON")
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--check", action="store_true", help="compare only, and change nothing")
        how.add_argument(
            "--rebuild",
            action="store_true",
            help="put a whole ledger in the place of a lost or broken one, from its second location or from this database; what "
            "the lost one alone knew stays lost, so never do this with a restored database while the old ledger can be had",
        )

    def handle(self, *_args: object, **options: Any) -> None:
        try:
            found = check() if options["check"] else make_good(rebuild=options["rebuild"])
        except Unrepairable as trouble:
            raise CommandError(str(trouble), returncode=FINDINGS) from trouble
        if options["json"]:
            self.stdout.write(json.dumps(found))
        else:
            self.stdout.write(f"{found['standing']}: {_MEANING[found['standing']]}")
            numbers = ("entries", "missing", "lost", "applied", "open_deletions", "unwritten", "revived", "cleared_again")
            self.stdout.write(", ".join(f"{name} {found[name]}" for name in numbers) + f", second location {found['copy']}")
        if not is_fine(found):
            raise SystemExit(FINDINGS)
