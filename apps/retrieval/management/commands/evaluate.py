"""``manage.py evaluate retrieval --dataset FILE``: figures of the real pipeline on a file in the LoCoMo layout."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.isolation import system_context
from apps.core.text import fold_key
from apps.memories.importing.locomo import read_locomo
from apps.memories.importing.turns import LayoutError
from apps.retrieval.evaluation.runs import Measured, import_dataset, measure
from apps.retrieval.evaluation.tenants import DATASETS
from apps.tenants.console_access import command_access
from apps.tenants.models import Project, Tenant
from apps.tenants.namespaces import create_project
from apps.tenants.provisioning import provision

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from uuid import UUID

USAGE = 2


class Command(BaseCommand):
    help = "Measure retrieval: recall@5/10/20 and MRR of the turns that answer a question, per category and over all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=("retrieval",), help="what to measure")
        parser.add_argument("--dataset", type=Path, required=True, help="a file in the LoCoMo layout")
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        path: Path = options["dataset"]
        if not path.is_file():
            raise CommandError(f"There is no file {path}.", returncode=USAGE)
        try:
            conversations = read_locomo(path)
        except (ValueError, KeyError, TypeError) as trouble:
            raise CommandError(f"{path.name} is not in the LoCoMo layout.") from trouble
        tenant_id = _tenant()
        project = Projects(tenant_id, fold_key(path.stem)[:60])
        for conversation in conversations:
            project(conversation.conversation_id)  # made before the access is built, which reaches what is there
        try:
            done = import_dataset(command_access(tenant_id, actor="evaluate"), path, project)
        except LayoutError as trouble:
            raise CommandError(f"{path.name}: {trouble}.") from trouble
        if done.refused:
            self.stderr.write(f"{done.refused} of {done.turns} turns were refused and are not measured")
        found = measure(command_access(tenant_id, actor="evaluate"), conversations, project, progress=self._progress)
        as_json = {m.group: {"questions": m.questions, **m.figures} for m in found}
        self.stdout.write(json.dumps(as_json) if options["json"] else table(found))

    def _progress(self, done: int, total: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{done}/{total}", ending="\n" if done == total else "")


class Projects:
    """The project of each conversation in the evaluation tenant, made when it is first asked for."""

    def __init__(self, tenant_id: UUID, prefix: str) -> None:
        self.tenant_id = tenant_id
        self.prefix = prefix

    def __call__(self, conversation: str) -> str:
        key = f"{self.prefix}.{fold_key(conversation)[:40]}"
        with system_context():
            there = Project.objects.filter(tenant_id=self.tenant_id, key=key).exists()
        if not there:
            create_project(command_access(self.tenant_id, actor="evaluate"), key=key, name=key)
        return key


def table(found: list[Measured]) -> str:
    """The figures as a text table."""
    names = ("recall@5", "recall@10", "recall@20", "mrr", "size")
    lines = [f"{'group':<12} {'questions':>9} " + " ".join(f"{name:>9}" for name in names)]
    lines += [f"{m.group:<12} {m.questions:>9} " + " ".join(f"{m.figures[name]:>9.3f}" for name in names) for m in found]
    return "\n".join(lines)


def _tenant() -> UUID:
    """A tenant of its own: what is measured never mixes with what is remembered."""
    provision(json.dumps({"tenants": [{"key": DATASETS}]}))
    with system_context():
        return Tenant.objects.get(key=DATASETS).id
