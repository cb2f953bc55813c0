"""``manage.py provision FILE [--json]``: the tenants of a file (design/06 Provisioning file)."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.tenants.provisioning import TenantResult, provision
from apps.tenants.provisioning_file import ProvisioningError

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

_STDIN = "-"


class Command(BaseCommand):
    help = (
        "Make the tenants, projects, subjects, agents, credentials and staff of a YAML or JSON file. "
        "Running it again changes nothing. Secrets are printed once, when they are made, and cannot be shown again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=_readable, metavar="FILE", help="the provisioning file; - reads standard input")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print the new secrets as one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            results = provision(_text(options["file"]))
        except ProvisioningError as trouble:
            raise CommandError(str(trouble)) from None
        if options["as_json"]:
            self.stdout.write(json.dumps({"tenants": {key: _secrets(one) for key, one in results.items()}}, ensure_ascii=False))
            return
        for key, result in results.items():
            self._tell(key, result)

    def _tell(self, key: str, result: TenantResult) -> None:
        made = ", ".join(f"{number} {what}" for what, number in result.created.items() if number)
        self.stdout.write(f"{key}: {made or 'nothing to do'}")
        for name, token in result.credentials.items():
            self.stdout.write(f"  credential {name}  {token}")
        for name, password in result.staff.items():
            self.stdout.write(f"  one-time password of {name}  {password}")


def _readable(path: str) -> str:
    """An argument that names a file; argparse turns the error into wrong usage (exit code 2)."""
    if path != _STDIN and not Path(path).is_file():
        msg = f"there is no file {path}"
        raise argparse.ArgumentTypeError(msg)
    return path


def _text(path: str) -> str:
    try:
        return sys.stdin.read() if path == _STDIN else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as trouble:
        msg = f"{path}: cannot be read as UTF-8 text ({type(trouble).__name__})"
        raise CommandError(msg) from None


def _secrets(result: TenantResult) -> dict[str, dict[str, str]]:
    return {"credentials": result.credentials, "staff": result.staff}
