"""``manage.py verify_certificate FILE``: check a deletion certificate without a database and without a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.retention.certificates import FORMAT, MEMBER
from apps.retention.signing import BadKey, find_fault, key_id, public_key, read_public_key

if TYPE_CHECKING:
    from argparse import ArgumentParser

FINDINGS, USAGE = 1, 2
_LARGEST = 4 * 1024 * 1024  # bytes; a certificate has a few thousand


class Command(BaseCommand):
    help = (
        "Check the signature of a deletion certificate (GET /memory-deletions/{id}/certificate). Needs no database. "
        "Exit code 0 when it is genuine, 1 when it is not, 2 when a file cannot be read."
    )
    needs_database = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the certificate as it was fetched")
        parser.add_argument(
            "--key", help="public key in PEM of the installation that issued it (default: this one's; see certificate_key)"
        )
        parser.add_argument("--json", action="store_true", help="print the verdict as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        try:
            key = public_key() if options["key"] is None else read_public_key(_read(options["key"]))
        except BadKey as trouble:
            message = f"{options['key']} is no Ed25519 public key in PEM."
            raise CommandError(message, returncode=USAGE) from trouble
        document, fault = find_fault(_read(options["file"]), MEMBER, key)
        reason = fault.value if fault is not None else None
        if reason is None and document.get("format") != FORMAT:
            reason = "unknown_format"
        named = {name: document.get(name) for name in ("job_id", "completed_at")}
        if options["json"]:
            self.stdout.write(json.dumps({"genuine": reason is None, "reason": reason, "key_id": key_id(key), **named}))
        elif reason is None:
            self.stdout.write(f"genuine: {named['job_id']}, completed {named['completed_at']}, signed with key {key_id(key)}")
        else:
            self.stdout.write(f"not genuine: {reason} (checked with key {key_id(key)})")
        if reason is not None:
            raise SystemExit(FINDINGS)


def _read(name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            return file.read(_LARGEST)
    except OSError as trouble:
        message = f"{name} cannot be read: {trouble.strerror}."
        raise CommandError(message, returncode=USAGE) from trouble
