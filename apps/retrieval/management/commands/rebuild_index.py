"""``manage.py rebuild_index``: a new generation of the lexical index, namespace by namespace, while the old one answers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.isolation import system_context
from apps.retrieval.rebuild import LabelsInvalidError, rebuild_namespace
from apps.tenants.console_access import command_access
from apps.tenants.models import Namespace, Tenant

if TYPE_CHECKING:
    from argparse import ArgumentParser

FINDINGS, USAGE = 1, 2


class Command(BaseCommand):
    help = "Rebuild the lexical index of every namespace (or of one tenant) from what memory says, and flip to it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", default="", help="key of the tenant (default: all)")
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        with system_context():
            tenants = list(Tenant.objects.filter(**({"key": options["tenant"]} if options["tenant"] else {})).order_by("key"))
        if options["tenant"] and not tenants:
            raise CommandError(f"There is no tenant {options['tenant']}.", returncode=USAGE)
        sums = {"namespaces": 0, "memories": 0, "postings": 0}
        kept = False
        for tenant in tenants:
            access = command_access(tenant.id, actor="rebuild_index")
            with system_context():
                namespaces = list(Namespace.objects.filter(tenant_id=tenant.id).order_by("id").values_list("id", flat=True))
            for namespace_id in namespaces:
                try:
                    done = rebuild_namespace(access, namespace_id, progress=self._progress(tenant.key))
                except LabelsInvalidError as refused:
                    kept = True
                    for one in refused.findings:
                        self.stderr.write(f"{tenant.key}: {one.record} {one.pointer}: {one.label} is no canonical key")
                    continue
                sums["namespaces"] += 1
                sums["memories"] += done.memories
                sums["postings"] += done.postings
        if options["json"]:
            self.stdout.write(json.dumps(sums))
        else:
            self.stdout.write("{namespaces} namespaces, {memories} memories, {postings} postings".format(**sums))
        if kept:
            raise CommandError("Namespaces with labels that are none keep their old index.", returncode=FINDINGS)

    def _progress(self, key: str) -> Any:
        def show(done: int) -> None:
            if sys.stderr.isatty():
                self.stderr.write(f"\r{key} {done}", ending="")

        return show
