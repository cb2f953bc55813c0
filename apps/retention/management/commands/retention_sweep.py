"""``manage.py retention_sweep``: end what has reached the end of its period, or show what would end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.isolation import system_context
from apps.retention.backups import expired_backups, remove_expired
from apps.retention.sweeps import due, sweep_tenant
from apps.tenants.models import Tenant

if TYPE_CHECKING:
    from argparse import ArgumentParser

USAGE = 2


class Command(BaseCommand):
    help = (
        "End what is past its retention period: texts of events, proposals that became nothing, traces, backups; and put "
        "memories up for review. The worker does the same once an hour. Holds win. Exit code 0, or 2 when the command was not "
        "understood."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", help="key of one tenant (default: all)")
        parser.add_argument("--dry-run", action="store_true", help="print what would end, and change nothing")
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        with system_context():
            tenants = dict(Tenant.objects.order_by("key").values_list("key", "id"))
        if options["tenant"] is not None:
            if options["tenant"] not in tenants:
                message = "There is no such tenant."
                raise CommandError(message, returncode=USAGE)
            tenants = {options["tenant"]: tenants[options["tenant"]]}
        work = due if options["dry_run"] else sweep_tenant
        found = {key: work(tenant_id) for key, tenant_id in tenants.items()}
        backups = 0
        if options["tenant"] is None:  # they are of the whole installation
            backups = len(expired_backups()) if options["dry_run"] else remove_expired()
        if options["json"]:
            self.stdout.write(json.dumps({"dry_run": options["dry_run"], "tenants": found, "backups": backups}))
            return
        if backups:
            self.stdout.write(f"backups past their end: {backups}")
        word = "would end" if options["dry_run"] else "ended"
        for key, counts in found.items():
            self.stdout.write(f"{key}: " + ", ".join(f"{kind} {count}" for kind, count in counts.items()))
        self.stdout.write(f"{word}: {sum(sum(counts.values()) for counts in found.values())} in {len(found)} tenants")
