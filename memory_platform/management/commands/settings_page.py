"""``manage.py settings_page``: write docs/settings.md, or with ``--check`` say whether it is that of the code."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from django.core.management.base import BaseCommand, CommandError

from memory_platform.settings_page import PAGE, PageError, render

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = "Write docs/settings.md from the code. With --check nothing is written, and a page that differs ends with exit code 1."
    needs_database = False
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="only compare")

    def handle(self, *_args: object, check: bool, **_options: object) -> None:
        try:
            page = render()
        except PageError as trouble:
            raise CommandError(str(trouble)) from None
        if not check:
            PAGE.write_text(page, encoding="utf-8")
            return
        found = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        if found != page:
            lines = difflib.unified_diff(found.splitlines(), page.splitlines(), "docs/settings.md", "the code", lineterm="", n=0)
            self.stdout.write("\n".join(lines))
            message = "docs/settings.md is not that of the code: run manage.py settings_page"
            raise CommandError(message)
