"""``manage.py legal_holds``: place, list and lift duties to keep."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils.dateparse import parse_date

from apps.core.errors import DomainError
from apps.core.isolation import system_context
from apps.retention.holds import holds_in_force, lift_hold, place_hold
from apps.retention.models import LegalHold
from apps.tenants.console_access import command_access
from apps.tenants.models import Tenant
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from apps.tenants.access import Access

FINDINGS, USAGE = 1, 2


class Command(BaseCommand):
    help = (
        "Legal holds of a tenant: what is held is neither deleted nor swept until the hold ends. "
        "Exit code 1 when the target or the hold is not there, 2 when the command was not understood."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", required=True, help="key of the tenant")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="the holds in force; reads only")
        placing = actions.add_parser("place", help="keep something")
        placing.add_argument("kind", choices=LegalHold.Kind.values, help="what kind of thing")
        placing.add_argument("target", help="mem_… | event id | key of a subject | scope/scope_id of a namespace")
        placing.add_argument("--reason", required=True, metavar="CODE", help="why, as a code: litigation.2026-4")
        placing.add_argument("--until", required=True, metavar="DATE", help="last day of the hold (UTC), at most ten years away")
        lifting = actions.add_parser("lift", help="end a hold; blocked deletions go on")
        lifting.add_argument("hold", type=UUID, help="id of the hold, as list prints it")

    def handle(self, *_args: object, **options: Any) -> None:
        access = _access(options["tenant"])
        try:
            result = _do(access, options)
        except DomainError as refused:
            message = f"{refused.title}: {refused.detail}"
            raise CommandError(message, returncode=FINDINGS) from refused
        self.stdout.write(json.dumps(result) if options["json"] else "\n".join(_lines(result)))


def _do(access: Access, options: dict[str, Any]) -> dict[str, Any]:
    if options["action"] == "lift":
        return {"resumed": lift_hold(access, options["hold"])}
    if options["action"] == "place":
        until = _end_of(options["until"])
        return {
            "holds": [_row(place_hold(access, options["kind"], options["target"], reason_code=options["reason"], until=until))]
        }
    with tenant_transaction(access):
        return {"holds": [_row(hold) for hold in holds_in_force(access.tenant_id).order_by("until")]}


def _row(hold: LegalHold) -> dict[str, str]:
    return {
        "hold": str(hold.id),
        "kind": hold.target_kind,
        "target": hold.target_public_id,
        "reason": hold.reason_code,
        "until": hold.until.isoformat(),
    }


def _lines(result: dict[str, Any]) -> list[str]:
    if "resumed" in result:
        return [f"lifted; deletions that go on: {result['resumed']}"]
    return ["  ".join(row.values()) for row in result["holds"]] or ["nothing is held"]


def _end_of(text: str) -> datetime:
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        message = f"{text} is no date (YYYY-MM-DD)."
        raise CommandError(message, returncode=USAGE)
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)


def _access(key: str) -> Access:
    with system_context():
        tenant = Tenant.objects.filter(key=key).first()
    if tenant is None:
        message = "There is no such tenant."
        raise CommandError(message, returncode=USAGE)
    return command_access(tenant.id)
