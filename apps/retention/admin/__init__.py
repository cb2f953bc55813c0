"""Console pages of floor 4."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.core.ids import public_id
from apps.retention.admin import downstream, exports  # noqa: F401 - they register their pages
from apps.retention.layers import ORDER
from apps.retention.models import (
    Cancellation,
    DeletionCertificate,
    DeletionJob,
    DeletionStep,
    Exposure,
    LegalHold,
    RetentionClass,
    Revocation,
)
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.cards import Card, any_at_all, register_card
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.filters import vocabulary
from apps.tenants.console.site import console
from apps.tenants.models import Role

RETENTION_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})
_UNDER_WAY = (DeletionJob.State.ACCEPTED, DeletionJob.State.RUNNING, DeletionJob.State.RETRY_WAIT)


@admin.register(DeletionJob, site=console)
class DeletionJobAdmin(GovernedAdmin):
    roles = RETENTION_ROLES
    area = Area.FORGETTING
    about = _("What was asked to be deleted. From its acceptance on nothing reads it; the steps say how far the erasure is.")
    when_empty = _("Agents delete through the API, on behalf of the person a memory is about.")
    id_prefix = "del"
    hidden_fields = ("request_sha256", "reason", "target_ids")
    references = {"requested_by": "tenants.User", "job_id": "jobs.ProcessingJob"}
    list_display = ("deletion_request_id", "state", "target_kind", "target_public_id", "accepted_at", "completed_at")
    list_filter = ("state", "target_kind", "accepted_at")
    linked_by = {"state__in": _("state"), "namespace": _("namespace"), "job_id": _("job"), "revocation": _("revocation")}
    search_fields = ("deletion_request_id", "target_public_id")
    search_help_text = _("A whole id (del_…), request or target.")
    ordering = ("-accepted_at", "-id")
    sections = (
        Section(_("What is deleted"), ("target_kind", "target_public_id", "namespace", "cover_sources", "suppress_future")),
        Section(_("How it stands"), ("state", "accepted_at", "started_at", "completed_at", "job_id")),
        Section(_("Who asked"), ("deletion_request_id", "requested_by", "subject")),
        Section(_("Since when nothing reads it"), ("revocation", "epoch", "revision")),
    )
    related = (
        Related(
            _("Steps"),
            "retention.DeletionStep",
            by("job"),
            ("layer", "state", "found", "cleared", "remaining", "attempts", "verified_at", "detail"),
            order=("position",),
        ),
        Related(_("Certificate"), "retention.DeletionCertificate", by("job"), ("issued_at", "key_id")),
        Related(
            _("Other systems that were told"),
            "retention.DownstreamNotice",
            by("job"),
            ("system", "state", "attempts", "last_answer", "last_tried_at"),
        ),
        Related(_("Who had been given it before"), "retention.Exposure", by("job"), ("agent", "trace_id", "at"), order=("-at",)),
        Related(
            _("What was done with it"),
            "audits.AuditEntry",
            lambda row: {"object_type": "deletion", "object_id": public_id("del", row.pk)},
            ("at", "verb", "actor", "result"),
        ),
    )


@admin.register(RetentionClass, site=console)
class RetentionClassAdmin(GovernedAdmin):
    area = Area.FORGETTING
    about = _("How long each part of a record lives, in days, and what happens then. Nothing lives for ever.")
    when_empty = _("Retention classes come from the provisioning file.")
    label_for_everyone = True
    list_display = ("key", "purpose", "content_days", "index_days", "candidate_days", "trace_days", "audit_days", "at_end")
    search_fields = ("key__startswith",)
    ordering = ("key",)


@admin.register(LegalHold, site=console)
class LegalHoldAdmin(GovernedAdmin):
    roles = RETENTION_ROLES
    area = Area.FORGETTING
    about = _("What has to be kept, why and until when. A hold wins over every deletion; it makes nothing readable.")
    when_empty = _("Nothing has to be kept. Holds are placed with manage.py legal_holds.")
    hidden_fields = ("keys",)
    references = {"placed_by": "tenants.User", "lifted_by": "tenants.User", "subject_id": "tenants.Subject"}
    list_display = ("target_kind", "target_public_id", "reason_code", "placed_at", "until", "lifted_at")
    list_filter = ("target_kind", "until")
    linked_by = {"namespace": _("namespace")}
    search_fields = ("target_public_id",)
    search_help_text = _("The whole id of a target.")
    ordering = ("-placed_at", "-id")


@admin.register(Revocation, site=console)
class RevocationAdmin(GovernedAdmin):
    roles = RETENTION_ROLES
    area = Area.RECORDS
    about = _("The barrier of each deletion: what it covers, and from when on nothing may read, write or rebuild it.")
    when_empty = _("Nothing has been deleted.")
    hidden_fields = ("fact_digest",)
    list_display = ("target_kind", "target_id", "namespace", "epoch", "accepted_at")
    list_filter = ("target_kind",)
    linked_by = {"namespace": _("namespace")}
    search_fields = ("target_id",)
    search_help_text = _("The whole id of a target.")
    ordering = ("-accepted_at", "-id")
    related = (
        Related(
            _("Deletion"),
            "retention.DeletionJob",
            by("revocation"),
            ("deletion_request_id", "state", "accepted_at", "completed_at"),
        ),
    )

    def label(self, row: Revocation) -> str:
        return str(_("%(kind)s, epoch %(epoch)s") % {"kind": row.get_target_kind_display(), "epoch": row.epoch})


@admin.register(DeletionStep, site=console)
class DeletionStepAdmin(GovernedAdmin):
    roles = RETENTION_ROLES
    area = Area.RECORDS
    about = _("Each layer of each deletion: what was found there, what is cleared, and when its absence was proved.")
    when_empty = _("Nothing has been deleted.")
    list_display = ("layer", "job", "state", "found", "cleared", "remaining", "attempts", "verified_at")
    list_filter = ("state", vocabulary("layer", _("layer"), lambda: [(key, key) for key in ORDER]))
    linked_by = {"job": _("deletion")}
    ordering = ("-job", "position")


@admin.register(DeletionCertificate, site=console)
class DeletionCertificateAdmin(GovernedAdmin):
    roles = RETENTION_ROLES
    area = Area.RECORDS
    about = _("The signed result of each completed deletion: counts and ids, no text. Anybody can check it.")
    when_empty = _("No deletion has been completed.")
    list_display = ("job", "issued_at", "key_id")
    linked_by = {"job": _("deletion")}
    ordering = ("-id",)


@admin.register(Cancellation, site=console)
class CancellationAdmin(GovernedAdmin):
    roles = RETENTION_ROLES
    area = Area.RECORDS
    about = _("Hosts that were asked to use no further what they had been given. It recalls nothing, so it is recorded.")
    when_empty = _("Nobody has asked a host to stop.")
    references = {"requested_by": "tenants.User"}
    list_display = ("session_id", "subject", "requested_by", "requested_at")
    ordering = ("-requested_at", "-id")


@admin.register(Exposure, site=console)
class ExposureAdmin(GovernedAdmin):
    roles = RETENTION_ROLES
    area = Area.RECORDS
    about = _("Who had been given something before it was deleted. That cannot be recalled, so it is listed.")
    when_empty = _("Nothing that was deleted had been handed out.")
    references = {"trace_id": "retrieval.RetrievalTrace"}
    list_display = ("agent", "job", "trace_id", "at")
    linked_by = {"job": _("deletion")}
    ordering = ("-id",)


for card in (
    Card(
        "deletions_under_way",
        Area.FORGETTING,
        _("Deletions under way"),
        "retention.DeletionJob",
        {"state__in": ",".join(state.value for state in _UNDER_WAY)},
        instant="accepted_at",
        quiet=_("Nothing waits to be erased."),
    ),
    Card(
        "deletions_blocked",
        Area.FORGETTING,
        _("Deletions blocked"),
        "retention.DeletionJob",
        {"state__exact": DeletionJob.State.BLOCKED_BY_RETENTION.value},
        instant="accepted_at",
        attention=any_at_all,
        quiet=_("No duty to keep is in the way."),
    ),
    Card(
        "deletions_stuck",
        Area.FORGETTING,
        _("Deletions stuck"),
        "retention.DeletionJob",
        {"state__exact": DeletionJob.State.FAILED_REQUIRES_ACTION.value},
        instant="accepted_at",
        attention=any_at_all,
        quiet=_("None has failed."),
    ),
    Card(
        "deletions_completed",
        Area.FORGETTING,
        _("Deletions completed"),
        "retention.DeletionJob",
        {"state__exact": DeletionJob.State.COMPLETED.value},
    ),
):
    register_card(card)
