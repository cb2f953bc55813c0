"""``manage.py demo``: load the demo tenant and walk the main job, printing each answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.tenants.authentication import authenticate
from memory_platform.demo import ensure_demo
from memory_platform.demo.walk import pretty, walk

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = "Load the demo tenant and walk the main job on its conversation: events, memories, questions, correction, deletion."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document per answer and nothing else")

    def handle(self, *_args: object, **options: Any) -> None:
        account = ensure_demo()
        if account is None:
            message = "The demo tenant is there, but the note with its token is gone; provision a credential of your own."
            raise CommandError(message)

        def tell(heading: str, answer: object) -> None:
            if not options["json"]:
                self.stdout.write(f"\n# {heading}")
            self.stdout.write(pretty(answer))

        walk(authenticate(account.token), tell)
