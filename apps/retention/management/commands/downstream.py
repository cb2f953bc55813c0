"""``manage.py downstream``: register, list and end the systems that are told of deletions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from apps.core.errors import DomainError, ValidationFailed
from apps.core.isolation import system_context
from apps.retention.downstream.systems import end_system, register_system
from apps.retention.models import DownstreamSystem
from apps.tenants.console_access import command_access
from apps.tenants.models import Tenant
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from apps.tenants.access import Access

FINDINGS, USAGE = 1, 2


class Command(BaseCommand):
    help = (
        "Systems of a tenant that hold copies and are told of every deletion, in signed messages (Standard Webhooks). "
        "The secret is printed once, by register. Exit code 1 when it was refused or is not there, 2 when the command was not "
        "understood."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", required=True, help="key of the tenant")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="the systems, and what each last answered; reads only")
        registering = actions.add_parser("register", help="tell a system of every deletion from now on")
        registering.add_argument("name", help="letters, digits, - and _")
        registering.add_argument("url", help="https://… where it takes messages")
        ending = actions.add_parser("end", help="tell it of no deletion that begins from now on")
        ending.add_argument("system", type=UUID, help="id of the system, as list prints it")

    def handle(self, *_args: object, **options: Any) -> None:
        with system_context():
            tenant = Tenant.objects.filter(key=options["tenant"]).first()
        if tenant is None:
            message = "There is no such tenant."
            raise CommandError(message, returncode=USAGE)
        try:
            rows = _do(command_access(tenant.id), options)
        except ValidationFailed as wrong:
            message = " ".join(f"{error.pointer.removeprefix('/')}: {error.detail}" for error in wrong.errors)
            raise CommandError(message, returncode=USAGE) from wrong
        except DomainError as refused:
            message = f"{refused.title}: {refused.detail}"
            raise CommandError(message, returncode=FINDINGS) from refused
        if options["json"]:
            self.stdout.write(json.dumps({"systems": rows}))
        else:
            self.stdout.write("\n".join("  ".join(str(value or "-") for value in row.values()) for row in rows) or "none")


def _do(access: Access, options: dict[str, Any]) -> list[dict[str, str | None]]:
    if options["action"] == "register":
        made = register_system(access, name=options["name"], url=options["url"])
        return [{"system": str(made.system_id), "name": made.name, "secret": made.secret}]
    if options["action"] == "end":
        end_system(access, options["system"])
    with tenant_transaction(access):
        rows = DownstreamSystem.objects.filter(tenant_id=access.tenant_id).order_by("registered_at", "id")
        return [
            {
                "system": str(row.id),
                "name": row.name,
                "url": row.url,
                "last_answer": row.last_answer,
                "ended_at": row.ended_at.isoformat() if row.ended_at else None,
            }
            for row in rows
        ]
