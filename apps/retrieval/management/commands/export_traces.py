"""``manage.py export_traces DIR``: one file for each retrieval trace, ids and codes only."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.core import clock
from apps.core.isolation import system_context
from apps.retrieval.exporting import export_traces
from apps.retrieval.trace_files import NotAFolder, open_folder
from apps.tenants.models import Tenant

if TYPE_CHECKING:
    from argparse import ArgumentParser

USAGE = 2


class Command(BaseCommand):
    help = (
        "Write every retrieval trace as a file of its own, readable by its owner only, named by date and trace id. "
        "Ids and codes, no words. A file that is there already is left as it is."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, help="where to; made, for the owner only, if it is not there")
        parser.add_argument("--tenant", help="key of one tenant (default: all)")
        parser.add_argument("--days", type=int, help="only traces of the last so many days (default: all)")
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        with system_context():
            tenants = list(Tenant.objects.order_by("key").values_list("id", "key"))
        if options["tenant"]:
            tenants = [row for row in tenants if row[1] == options["tenant"]]
            if not tenants:
                raise CommandError("There is no such tenant.", returncode=USAGE)
        since = clock.now() - timedelta(days=options["days"]) if options["days"] is not None else None
        written = there = 0
        try:
            with open_folder(options["folder"], make=True) as folder:
                for tenant_id, key in tenants:
                    done = export_traces(tenant_id, key, folder, since=since, progress=partial(self._progress, key))
                    written, there = written + done[0], there + done[1]
        except (NotAFolder, FileExistsError) as trouble:
            raise CommandError(f"{options['folder']} is no folder of its own.", returncode=USAGE) from trouble
        if options["json"]:
            self.stdout.write(json.dumps({"written": written, "there": there}))
        else:
            self.stdout.write(f"{written} traces written, {there} were there already")

    def _progress(self, key: str, count: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{key}: {count}", ending="\n")
