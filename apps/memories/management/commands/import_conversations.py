"""``manage.py import_conversations FILE``: recorded conversations become events and episodes of one project each."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.core import clock
from apps.core.canonical import sha256_hex
from apps.core.isolation import system_context
from apps.core.text import fold_key
from apps.memories.importing.turns import LayoutError, RecordedTurn, read_turns
from apps.memories.importing.verb import Imported, import_turns
from apps.tenants.console_access import command_access
from apps.tenants.models import Project, Tenant
from apps.tenants.namespaces import create_project

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from uuid import UUID

USAGE = 2


class Command(BaseCommand):
    help = (
        "Import a file of recorded conversations (LoCoMo layout, or JSONL with conversation, turn, speaker, at, text). "
        "Each conversation goes into a project of its own. Run it again after a stop: it goes on where it was."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the file to read")
        parser.add_argument("--tenant", default="tenant_demo", help="key of the tenant (default: tenant_demo)")
        parser.add_argument("--prefix", default="", help="put in front of the conversation's name to make the project's key")
        parser.add_argument("--limit", type=int, default=0, help="import only the first LIMIT turns of each conversation")
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"There is no file {path}.", returncode=USAGE)
        try:
            turns = read_turns(path)
        except LayoutError as trouble:
            raise CommandError(f"{path.name}: {trouble}.") from trouble
        tenant_id = _tenant(options["tenant"])
        figures: dict[str, dict[str, float]] = {}
        for name, spoken in _conversations(turns, options["limit"]).items():
            key = _project(tenant_id, f"{options['prefix']}{name}")
            begun = clock.monotonic()
            done = import_turns(
                command_access(tenant_id, actor="import"), spoken, project=key, progress=self._progress(key, len(spoken))
            )
            seconds = clock.monotonic() - begun
            figures[key] = {**asdict(done), "seconds": round(seconds, 2)}
            if not options["json"]:
                self.stdout.write(
                    f"{key}: {done.turns} turns, {done.events} new events, {done.episodes} new episodes, "
                    f"{done.present} were there, {done.refused} refused, {seconds:.1f} s"
                )
        if options["json"]:
            self.stdout.write(json.dumps(figures))

    def _progress(self, key: str, total: int) -> Any:
        def show(done: Imported) -> None:
            if sys.stderr.isatty():
                end = "\n" if done.turns == total else ""
                self.stderr.write(f"\r{key} {done.turns}/{total}", ending=end)

        return show


def _tenant(key: str) -> UUID:
    with system_context():
        tenant = Tenant.objects.filter(key=key).first()
    if tenant is None:
        raise CommandError(f"There is no tenant {key}; see manage.py provision.", returncode=USAGE)
    return tenant.id


def _conversations(turns: list[RecordedTurn], limit: int) -> dict[str, list[RecordedTurn]]:
    found: dict[str, list[RecordedTurn]] = {}
    for turn in turns:
        rows = found.setdefault(turn.conversation, [])
        if not limit or len(rows) < limit:
            rows.append(turn)
    return found


def _project(tenant_id: UUID, name: str) -> str:
    """The key of the conversation's project, made when it is missing."""
    key = fold_key(name)[:100] or f"conversation-{sha256_hex(name)[:12]}"
    access = command_access(tenant_id, actor="import")
    with system_context():
        there = Project.objects.filter(tenant_id=tenant_id, key=key).exists()
    if not there:
        create_project(access, key=key, name=name[:200])
    return key
