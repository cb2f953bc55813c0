"""``manage.py check_labels``: which stored records carry a label that is no canonical key."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from django.core.management.base import BaseCommand, CommandError

from apps.core.isolation import system_context
from apps.memories.label_check import check_labels
from apps.tenants.models import Tenant

if TYPE_CHECKING:
    from argparse import ArgumentParser

FINDINGS, USAGE = 1, 2


class Command(BaseCommand):
    help = "Check the labels of all stored records against the vocabulary. Reads only. Exit code 1 when there are findings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", help="key of one tenant (default: all)")
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *_arguments: object, **options: object) -> None:
        with system_context():
            tenants = list(Tenant.objects.order_by("key").values_list("id", "key"))
        if options["tenant"] is not None:
            tenants = [row for row in tenants if row[1] == options["tenant"]]
            if not tenants:
                message = "There is no such tenant."
                raise CommandError(message, returncode=USAGE)
        found = {key: check_labels(tenant_id) for tenant_id, key in tenants}
        if options["json"]:
            self.stdout.write(json.dumps({key: [asdict(one) for one in rows] for key, rows in found.items()}, ensure_ascii=False))
        else:
            for key, rows in found.items():
                for one in rows:
                    self.stdout.write(f"{key}: {one.record} {one.pointer}: {one.label} is no canonical key")
            count = sum(map(len, found.values()))
            self.stdout.write(f"{len(tenants)} tenants, {count} findings")
        if any(found.values()):
            raise SystemExit(FINDINGS)
