"""``manage.py reextract``: have old events read by a new version of an extractor, or by one that was chosen later."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.errors import NotFound
from apps.core.isolation import system_context
from apps.memories import extractors
from apps.memories.rereading import Requeued, queue_again, require_extractor
from apps.tenants.console_access import command_access
from apps.tenants.models import Tenant

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from uuid import UUID

    from apps.memories.extractors.base import Extractor

USAGE = 2


class Command(BaseCommand):
    help = (
        "Queue the events of a tenant for the present version of an extractor; a worker reads them, taking turns with new ones. "
        "Run again after a stop, it goes on where it was; what this version has read is left alone."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", required=True, help="key of the tenant")
        parser.add_argument("--extractor", default="", help="name of a chosen extractor (default: the first of EXTRACTORS)")
        parser.add_argument("--project", help="only events of this project")
        parser.add_argument("--since", help="only events that happened at this time or later: 2026-01-31, 2026-01-31T12:00:00Z")
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        tenant_id, reader = _tenant(options["tenant"]), _extractor(options["extractor"])
        since = None if options["since"] is None else _instant(options["since"])
        done = Requeued()
        try:
            for more in queue_again(
                command_access(tenant_id, actor="reextract"), reader, project=options["project"], since=since
            ):
                done += more
                self._show(done)
        except NotFound:
            raise CommandError(f"There is no project {options['project']}.", returncode=USAGE) from None
        if options["json"]:
            self.stdout.write(json.dumps({"extractor": extractors.origin(reader), **asdict(done)}))
        else:
            self.stdout.write(
                f"{extractors.origin(reader)}: {done.events} events, {done.queued} queued, {done.present} queued or read before, "
                f"{done.withheld} not for this extractor"
            )

    def _show(self, done: Requeued) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{done.events} events, {done.queued} queued", ending="")


def _tenant(key: str) -> UUID:
    with system_context():
        tenant = Tenant.objects.filter(key=key).first()
    if tenant is None:
        raise CommandError(f"There is no tenant {key}.", returncode=USAGE)
    return tenant.id


def _extractor(name: str) -> Extractor:
    try:
        return require_extractor(name) if name else extractors.chosen()[0]
    except NotFound:
        there = ", ".join(extractors.origin(reader) for reader in extractors.chosen())
        raise CommandError(f"This deployment has not chosen {name} (EXTRACTORS). There are: {there}.", returncode=USAGE) from None


def _instant(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError("--since is a date or a time: 2026-01-31, 2026-01-31T12:00:00Z.", returncode=USAGE) from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
