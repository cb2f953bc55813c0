"""``manage.py triage_report``: the share of recorded queries that the deterministic parser could not read, against a ceiling."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.core import clock
from apps.core.isolation import system_context
from apps.retrieval.evaluation.tenants import EVALUATION_TENANTS
from apps.retrieval.fallback_rate import FallbackRate, measure
from apps.tenants.models import Tenant

if TYPE_CHECKING:
    from argparse import ArgumentParser

FINDINGS, USAGE = 1, 2
CEILING = 0.25


def share(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        message = "a number from 0 to 1"
        raise ArgumentTypeError(message)
    return value


class Command(BaseCommand):
    help = (
        "Run the parser of triage over the recorded queries and print how many it could only pass on (fallback rate). "
        "Exit code 1 above the ceiling. Reads only; prints counts, never words."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--ceiling", type=share, default=CEILING, help=f"the highest rate that is fine (default: {CEILING})")
        parser.add_argument("--tenant", help="key of one tenant (default: all but those that evaluations run in)")
        parser.add_argument("--days", type=int, help="only queries of the last so many days (default: all that are kept)")
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        with system_context():
            tenants = list(Tenant.objects.order_by("key").values_list("id", "key"))
        wanted = options["tenant"]
        chosen = [(pk, key) for pk, key in tenants if (key == wanted if wanted else key not in EVALUATION_TENANTS)]
        if wanted and not chosen:
            raise CommandError("There is no such tenant.", returncode=USAGE)
        since = clock.now() - timedelta(days=options["days"]) if options["days"] is not None else None
        counted = FallbackRate()
        for tenant_id, key in chosen:
            measure(tenant_id, counted, since=since, progress=partial(self._progress, key))
        exceeded = counted.rate > options["ceiling"]
        if options["json"]:
            self.stdout.write(json.dumps(_as_json(counted, options["ceiling"])))
        else:
            self.stdout.write(_as_text(counted, options["ceiling"], exceeded=exceeded))
        if exceeded:
            raise SystemExit(FINDINGS)

    def _progress(self, key: str, count: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{key}: {count} queries", ending="\n")


def _as_json(counted: FallbackRate, ceiling: float) -> dict[str, Any]:
    return {
        "queries": counted.queries,
        "fallbacks": counted.fallbacks,
        "rate": round(counted.rate, 4),
        "ceiling": ceiling,
        "without_window": counted.without_window,
        "unresolved": dict(counted.unresolved),
        "suggested": dict(counted.suggested),
        "divergences": dict(counted.divergences),
        "unreadable": counted.unreadable,
    }


def _as_text(counted: FallbackRate, ceiling: float, *, exceeded: bool) -> str:
    def listed(counts: dict[str, int]) -> str:
        return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"

    return "\n".join(
        [
            f"fallback rate {counted.rate:.3f} ({counted.fallbacks} of {counted.queries} recorded queries)",
            f"ceiling {ceiling:.3f}: {'exceeded' if exceeded else 'kept'}",
            f"unresolved: {listed(counted.unresolved)}",
            f"fallbacks without a recorded window: {counted.without_window}",
            f"triage would have said: {listed(counted.suggested)}",
            f"divergences from the caller's decision: {listed(counted.divergences)}",
            f"not counted, their words are gone: {counted.unreadable}",
        ]
    )
