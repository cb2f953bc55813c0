"""``manage.py verify_export FILE``: check the archive of a subject export without a database and without a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.retention.exports.archive import verify
from apps.retention.signing import BadKey, key_id, public_key, read_public_key

if TYPE_CHECKING:
    from argparse import ArgumentParser

FINDINGS, USAGE = 1, 2


class Command(BaseCommand):
    help = (
        "Check the signature of a subject export's archive (GET /subject-exports/{id}/archive) and the hash of every file in it. "
        "Needs no database. Exit code 0 when it is genuine and whole, 1 when it is not, 2 when a file cannot be read."
    )
    needs_database = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the archive as it was fetched")
        parser.add_argument(
            "--key", help="public key in PEM of the installation that made it (default: this one's; see certificate_key)"
        )
        parser.add_argument("--json", action="store_true", help="print the verdict as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        try:
            key = public_key() if options["key"] is None else read_public_key(Path(options["key"]).read_bytes())
            with Path(options["file"]).open("rb") as file:
                document, reason = verify(file, key)
        except BadKey as trouble:
            message = f"{options['key']} is no Ed25519 public key in PEM."
            raise CommandError(message, returncode=USAGE) from trouble
        except OSError as trouble:
            message = f"{trouble.filename} cannot be read: {trouble.strerror}."
            raise CommandError(message, returncode=USAGE) from trouble
        named = {name: document.get(name) for name in ("export_id", "subject", "as_of")}
        if options["json"]:
            self.stdout.write(json.dumps({"genuine": reason is None, "reason": reason, "key_id": key_id(key), **named}))
        elif reason is None:
            self.stdout.write(f"genuine: {named['export_id']}, as of {named['as_of']}, signed with key {key_id(key)}")
        else:
            self.stdout.write(f"not genuine: {reason} (checked with key {key_id(key)})")
        if reason is not None:
            raise SystemExit(FINDINGS)
