"""``manage.py dead_letters``: look at jobs that failed too often, try them again or put them away (OJ-08)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.errors import NotFound
from apps.core.ids import parse_public_id, public_id
from apps.core.isolation import system_context
from apps.jobs.dead_letters import NotDead, discard_job, retry_job
from apps.jobs.models import ProcessingJob
from apps.tenants.console_access import command_access
from apps.tenants.models import Tenant

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterator
    from uuid import UUID

    from django.db.models import QuerySet

LEFT_OVER, USAGE = 1, 2
_REASON = re.compile(r"[a-z0-9_.:-]{1,64}")  # a code of the audit log
_AT_ONCE = 500


class Command(BaseCommand):
    help = (
        "List the dead letters, or settle them: retry runs them again with all of their attempts, discard puts them away. "
        "Exit code 1 when one of them was no dead letter (any more), 2 when the command was not understood."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        listing = actions.add_parser("list", help="the dead letters, the latest first; reads only")
        listing.add_argument("--limit", type=int, default=100, help="show at most so many (default: 100)")
        listing.add_argument("--json", action="store_true", help="print them as JSON")
        retry = actions.add_parser("retry", help="queue them again")
        discard = actions.add_parser("discard", help="put them away for good")
        discard.add_argument("--reason", required=True, metavar="CODE", help="why, as a code for the audit log: source_gone")
        for settling in (retry, discard):
            settling.add_argument("jobs", nargs="*", metavar="JOB", help="ids of jobs (job_…)")
            settling.add_argument("--all", action="store_true", help="every dead letter that the filters let through")
        for one in (listing, retry, discard):
            one.add_argument("--tenant", default="", help="key of the tenant (default: all)")
            one.add_argument("--kind", default="", help="only jobs of this kind: extract")
            one.add_argument("--error", default="", help="only jobs whose last error is this code")

    def handle(self, *_args: object, **options: Any) -> None:
        tenants = _tenants(options["tenant"])
        if options["action"] == "list":
            self._list(tenants, options)
            return
        if bool(options["jobs"]) == options["all"]:
            raise CommandError("Name jobs, or say --all.", returncode=USAGE)
        if options["action"] == "discard" and _REASON.fullmatch(options["reason"]) is None:
            raise CommandError("The reason is a code: small letters, digits and _ . : - only.", returncode=USAGE)
        chosen = _every(tenants, options) if options["all"] else _named(tenants, options)
        settled = left = 0
        for job_id, tenant_id in chosen:
            done = tenant_id is not None and _settle(tenant_id, job_id, options)
            settled += done
            left += not done
            if not done:
                self.stderr.write(f"{job_id}: no dead letter")
        word = "queued again" if options["action"] == "retry" else "discarded"
        self.stdout.write(f"{settled} {word}, {left} left as they were")
        if left:
            raise SystemExit(LEFT_OVER)

    def _list(self, tenants: dict[UUID, str], options: dict[str, Any]) -> None:
        with system_context():
            dead = _dead(tenants, options)
            total = dead.count()
            rows = [_row(job, tenants) for job in dead.order_by("-finished_at", "-id")[: max(0, options["limit"])]]
        if options["json"]:
            self.stdout.write(json.dumps({"total": total, "jobs": rows}))
            return
        for row in rows:
            self.stdout.write("{job_id}  {tenant}  {kind}  {last_error}  {attempts} attempts  {finished_at}".format(**row))
        self.stdout.write(f"{total} dead letters" + (f", {len(rows)} shown" if len(rows) < total else ""))


def _tenants(key: str) -> dict[UUID, str]:
    with system_context():
        found = dict(Tenant.objects.filter(**({"key": key} if key else {})).order_by("key").values_list("id", "key"))
    if key and not found:
        raise CommandError(f"There is no tenant {key}.", returncode=USAGE)
    return found


def _dead(tenants: dict[UUID, str], options: dict[str, Any]) -> QuerySet[ProcessingJob]:
    wanted = {name: options[option] for name, option in (("kind", "kind"), ("last_error", "error")) if options[option]}
    return ProcessingJob.objects.filter(tenant_id__in=list(tenants), state=ProcessingJob.State.DEAD, **wanted)


def _row(job: ProcessingJob, tenants: dict[UUID, str]) -> dict[str, str | int | None]:
    return {
        "job_id": public_id("job", job.pk),
        "tenant": tenants[job.tenant_id],
        "kind": job.kind,
        "last_error": job.last_error,
        "attempts": job.attempts,
        "finished_at": None if job.finished_at is None else job.finished_at.isoformat(),
    }


def _every(tenants: dict[UUID, str], options: dict[str, Any]) -> Iterator[tuple[str, UUID | None]]:
    """In the order of their ids, so that one that dies again meanwhile is not met twice."""
    after: UUID | None = None
    while True:
        with system_context():
            dead = _dead(tenants, options) if after is None else _dead(tenants, options).filter(pk__gt=after)
            rows = list(dead.order_by("pk").values_list("pk", "tenant_id")[:_AT_ONCE])
        for key, tenant_id in rows:
            yield public_id("job", key), tenant_id
        if len(rows) < _AT_ONCE:
            return
        after = rows[-1][0]


def _named(tenants: dict[UUID, str], options: dict[str, Any]) -> Iterator[tuple[str, UUID | None]]:
    """Each job with the tenant it is a dead letter of, None where there is none such."""
    for job_id in dict.fromkeys(options["jobs"]):
        key = parse_public_id("job", job_id)
        with system_context():
            found = None if key is None else _dead(tenants, options).filter(pk=key).values_list("tenant_id", flat=True).first()
        yield job_id, found


def _settle(tenant_id: UUID, job_id: str, options: dict[str, Any]) -> bool:
    access = command_access(tenant_id, actor="dead_letters")
    try:
        if options["action"] == "retry":
            retry_job(access, job_id)
        else:
            discard_job(access, job_id, reason_code=options["reason"])
    except (NotDead, NotFound):  # somebody else settled it, or the sweeper removed it
        return False
    return True
