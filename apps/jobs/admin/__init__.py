"""Console pages of floor 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.ids import public_id
from apps.jobs.admin.dead_letters import DiscardPage, RetryPage
from apps.jobs.heartbeats import ALIVE
from apps.jobs.models import Outbox, ProcessingJob, WorkerHeartbeat
from apps.jobs.registry import handlers
from apps.tenants.console import values
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.cards import Card, any_at_all, register_card
from apps.tenants.console.details import Related, Section
from apps.tenants.console.filters import vocabulary
from apps.tenants.console.site import console
from apps.tenants.models import Role

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from apps.tenants.console.paging import Tally

WORK_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR, Role.OPERATOR})


@admin.register(ProcessingJob, site=console)
class ProcessingJobAdmin(GovernedAdmin):
    roles = WORK_ROLES
    area = Area.WORK
    about = _(
        "Work that goes on in the background, each piece done once. A dead letter has used up its attempts: somebody has to look."
    )
    when_empty = _("A job is made when an event is to be read or a deletion is to be worked off.")
    id_prefix = "job"
    list_display = ("kind", "state", "attempts", "last_error", "created_at", "finished_at", "id")
    list_filter = ("state", vocabulary("kind", _("kind"), lambda: [(kind, kind) for kind in sorted(handlers())]))
    linked_by = {"state__in": _("state")}
    references = {"namespaces": "tenants.Namespace"}
    search_fields = ("id",)
    search_help_text = _("A whole id (job_…).")
    ordering = ("-created_at", "-id")
    sections = (
        Section(_("What it is"), ("kind", "key", "payload", "namespaces")),
        Section(_("How it stands"), ("state", "attempts", "max_attempts", "last_error", "checkpoint")),
        Section(_("When"), ("created_at", "started_at", "finished_at", "next_try_at", "lease_until", "fence")),
    )
    row_pages = (RetryPage, DiscardPage)
    detail_template = "console/job.html"
    related = (
        Related(
            _("Events it reads"),
            "evidence.SourceEvent",
            lambda row: {"job_id": row.pk},
            ("event_id", "source_type", "namespace", "occurred_at"),
        ),
        Related(
            _("The deletion it works off"),
            "retention.DeletionJob",
            lambda row: {"job_id": row.pk},
            ("deletion_request_id", "state", "accepted_at"),
        ),
        Related(
            _("What was done with it"),
            "audits.AuditEntry",
            lambda row: {"object_type": "job", "object_id": public_id("job", row.pk)},
            ("at", "verb", "actor", "result", "codes"),
        ),
    )

    def label(self, row: ProcessingJob) -> str:
        return f"{row.kind} · {self.spelled(row.pk)}"


@admin.register(WorkerHeartbeat, site=console)
class WorkerHeartbeatAdmin(GovernedAdmin):
    """Workers serve every tenant; that they live is no secret of one."""

    roles = WORK_ROLES
    area = Area.WORK
    about = _("The processes that do the background work, and when each was last heard of.")
    when_empty = _("No worker has been seen: background work waits. Start one with “manage.py worker”.")
    list_display = ("name", "alive", "seen_at")
    list_filter = ("seen_at",)
    sortable = ("name", "seen_at")
    ordering = ("-seen_at",)

    @admin.display(description=_("sign of life"))
    def alive(self, row: WorkerHeartbeat) -> SafeString:
        lives = row.seen_at >= clock.now() - ALIVE
        return values.state("active" if lives else "failed", _("working") if lives else _("silent"))


@admin.register(Outbox, site=console)
class OutboxAdmin(GovernedAdmin):
    roles = WORK_ROLES
    area = Area.RECORDS
    about = _("What has to be told to others, written in the transaction that made it true and delivered at least once.")
    when_empty = _("Nothing has been published yet.")
    list_display = ("topic", "object_id", "version", "created_at", "delivered_at", "attempts")
    list_filter = ("created_at",)
    ordering = ("-created_at", "-id")


def _silent(workers: Tally) -> bool:
    """Nobody works: no worker at all, or none that gave a sign of life lately."""
    return workers.at is None or clock.now() - workers.at > ALIVE


for card in (
    Card(
        "dead_letters",
        Area.WORK,
        _("Dead letters"),
        "jobs.ProcessingJob",
        {"state__exact": ProcessingJob.State.DEAD.value},
        instant="created_at",
        attention=any_at_all,
        quiet=_("No job has given up."),
    ),
    Card(
        "jobs_waiting",
        Area.WORK,
        _("Jobs waiting"),
        "jobs.ProcessingJob",
        {"state__in": f"{ProcessingJob.State.QUEUED.value},{ProcessingJob.State.RETRY_WAIT.value}"},
        instant="created_at",
        quiet=_("Everything is worked off."),
    ),
    Card(
        "jobs_running",
        Area.WORK,
        _("Jobs running"),
        "jobs.ProcessingJob",
        {"state__exact": ProcessingJob.State.RUNNING.value},
        instant="created_at",
    ),
    Card(
        "workers",
        Area.WORK,
        _("Workers"),
        "jobs.WorkerHeartbeat",
        instant="-seen_at",
        attention=_silent,
        quiet=_("No worker: background work waits."),
    ),
):
    register_card(card)
