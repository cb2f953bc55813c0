"""``manage.py rebuild_index``: a new generation of the lexical index, or the vectors that are missing; the old ones answer."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.isolation import system_context, tenant_context
from apps.retrieval.rebuild import LabelsInvalidError, rebuild_namespace
from apps.retrieval.semantic.embedders import EmbedderError, chosen
from apps.retrieval.semantic.indexing import drop_namespace, embed_namespace, is_wanted
from apps.retrieval.semantic.searching import ensure_extension, ensure_index
from apps.tenants.console_access import command_access
from apps.tenants.models import Namespace, Tenant

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from uuid import UUID

FINDINGS, USAGE = 1, 2
_NO_EXTENSION = (
    "This database has no pgvector. Install it on the server, and let a superuser run CREATE EXTENSION vector in this database."
)


class Command(BaseCommand):
    help = (
        "Rebuild the lexical index of every namespace (or of one tenant) from what memory says, and flip to it. --semantic: "
        "instead embed what has no vector of the chosen embedder yet, and remove what others made and what tenants do not allow."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", default="", help="key of the tenant (default: all)")
        parser.add_argument("--semantic", action="store_true", help="vectors instead of words; see SEMANTIC_EMBEDDER")
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        with system_context():
            tenants = list(Tenant.objects.filter(**({"key": options["tenant"]} if options["tenant"] else {})).order_by("key"))
        if options["tenant"] and not tenants:
            raise CommandError(f"There is no tenant {options['tenant']}.", returncode=USAGE)
        if options["semantic"]:
            self._embed(tenants, as_json=options["json"])
            return
        sums = {"namespaces": 0, "memories": 0, "postings": 0}
        kept = False
        for tenant in tenants:
            access = command_access(tenant.id, actor="rebuild_index")
            for namespace_id in _namespaces(tenant):
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

    def _embed(self, tenants: list[Tenant], *, as_json: bool) -> None:
        embedder = chosen()
        if embedder is None:
            raise CommandError("SEMANTIC_EMBEDDER names no embedder: the semantic lane is off.", returncode=USAGE)
        if not ensure_extension():
            raise CommandError(_NO_EXTENSION, returncode=USAGE)
        sums = {"namespaces": 0, "texts": 0, "removed": 0}
        for tenant in tenants:
            access = command_access(tenant.id, actor="rebuild_index")
            for namespace_id in _namespaces(tenant):
                with tenant_context(tenant.id):
                    wanted = is_wanted(tenant.id, namespace_id, embedder)
                    sums["removed"] += 0 if wanted else drop_namespace(tenant.id, namespace_id)
                if wanted:
                    sums["namespaces"] += 1
                    try:
                        sums["texts"] += embed_namespace(access, namespace_id, embedder, progress=self._progress(tenant.key))
                    except EmbedderError as trouble:
                        raise CommandError(f"{tenant.key}: the embedder stopped ({trouble.code}).") from trouble
        ensure_index(embedder)
        text = "{namespaces} namespaces, {texts} texts embedded, {removed} vectors removed".format(**sums)
        self.stdout.write(json.dumps(sums) if as_json else text)

    def _progress(self, key: str) -> Any:
        def show(done: int) -> None:
            if sys.stderr.isatty():
                self.stderr.write(f"\r{key} {done}", ending="")

        return show


def _namespaces(tenant: Tenant) -> list[UUID]:
    with system_context():
        return list(Namespace.objects.filter(tenant_id=tenant.id).order_by("id").values_list("id", flat=True))
