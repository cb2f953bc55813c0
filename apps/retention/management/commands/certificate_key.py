"""``manage.py certificate_key``: the public key with which anybody can check this installation's certificates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from apps.retention.signing import ALGORITHM, key_id, pem_of, public_key

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = "Print the public key (PEM) that checks this installation's deletion certificates. Give it away freely."
    needs_database = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print it as JSON, with its id")

    def handle(self, *_args: object, **options: Any) -> None:
        key = public_key()
        if options["json"]:
            self.stdout.write(json.dumps({"algorithm": ALGORITHM, "key_id": key_id(key), "public_key": pem_of(key)}))
        else:
            self.stdout.write(pem_of(key), ending="")
