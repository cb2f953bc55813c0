"""The review queue: what waits for people to decide, the most dangerous first, and what each of them said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.ids import public_id
from apps.memories.admin.memories import MEMORY_ROLES
from apps.memories.admin.review_page import ReviewPage
from apps.memories.models import OPEN, ReviewPolicy, ReviewRequest, ReviewVote
from apps.memories.reviews.requests import HIGH, HIGHEST, LOW, MIDDLE, PREFIX, hash_of
from apps.memories.reviews.voting import standing_of
from apps.tenants.console import values
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.cards import Card, any_at_all, register_card
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.filters import scope_filter
from apps.tenants.console.site import console

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString
    from django_stubs_ext import StrOrPromise

RISKS: dict[int, StrOrPromise] = {
    LOW: _("low"),
    MIDDLE: _("middle"),
    HIGH: _("high"),
    HIGHEST: _("highest"),
}


@admin.register(ReviewRequest, site=console)
class ReviewRequestAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    area = Area.REVIEW
    page_title = _("review queue")
    about = _("What waits for people to decide: the most dangerous first, then what is due first. j and k go through the rows.")
    when_empty = _("Reviews are opened by proposals that wait, by memories that have to be looked at again, and by promotions.")
    namespace_paths = ("namespace",)
    policy_paths = ("memory__access_policy", "candidate__access_policy")
    id_prefix = PREFIX
    hidden_fields = ("rationale", "subject_hash")
    references = {"requested_by": "tenants.User", "claimed_by": "tenants.User"}
    told_by_others = ("risk",)
    list_display = ("kind", "about_what", "status", "danger", "due", "votes_so_far", "claim", "namespace")
    list_filter = ("status", "kind", scope_filter("namespace"))
    linked_by = {"memory": _("memory"), "candidate": _("candidate"), "namespace": _("namespace"), "policy": _("review policy")}
    search_help_text = _("A whole id (rvw_…).")
    search_fields = ("id",)
    ordering = ("-risk", "due_at", "id")
    row_pages = (ReviewPage,)
    sections = (
        Section(_("What is decided about"), ("kind", "namespace", "memory", "candidate")),
        Section(_("How it stands"), ("status", "due_at", "claimed_by", "claimed_until", "decided_at")),
        Section(_("From whom"), ("requested_by", "requested_for", "created_at")),
        Section(_("By which rule"), ("policy",)),
        Section(_("What it became"), ("result_memory", "result_version")),
    )
    related = (
        Related(_("Votes"), "memories.ReviewVote", by("request"), ("verdict", "reviewer", "reason_code", "cast_at")),
        Related(
            _("What was done with it"),
            "audits.AuditEntry",
            lambda row: {"object_type": "review", "object_id": public_id(PREFIX, row.pk)},
            ("at", "verb", "actor", "result"),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("memory__head", "candidate", "policy")

    def label(self, row: ReviewRequest) -> str:
        subject = row.candidate or row.memory
        key = "" if subject is None else subject.fact_key
        return f"{capfirst(row.get_kind_display())} · {key}" if key else str(capfirst(row.get_kind_display()))

    @admin.display(description=_("about"))
    def about_what(self, row: ReviewRequest) -> SafeString:
        subject = row.candidate or row.memory
        return values.code(subject.fact_key) if subject is not None and subject.fact_key else values.NOTHING

    @admin.display(description=_("risk"))
    def danger(self, row: ReviewRequest) -> SafeString:
        return format_html("{}", RISKS.get(row.risk, row.risk))

    @admin.display(description=_("due"))
    def due(self, row: ReviewRequest) -> SafeString:
        late = row.status in OPEN and row.due_at < clock.now()
        return format_html("{} {}", values.instant(row.due_at), values.state("failed", _("overdue")) if late else "")

    @admin.display(description=_("approvals"))
    def votes_so_far(self, row: ReviewRequest) -> SafeString:
        stands = standing_of(row, hash_of(row) if row.status in OPEN else row.subject_hash)
        return format_html("{} / {}", stands.approvals, stands.needed)

    @admin.display(description=_("claim"))
    def claim(self, row: ReviewRequest) -> SafeString:
        if row.claimed_until is None or row.claimed_until <= clock.now():
            return values.NOTHING
        return format_html("{} {}", _("until"), values.instant(row.claimed_until))


@admin.register(ReviewVote, site=console)
class ReviewVoteAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    area = Area.RECORDS
    about = _("What each reviewer said, and about which state of the subject. Votes are never deleted; an edit voids them.")
    when_empty = _("Nobody has voted.")
    namespace_paths = ("request__namespace",)
    hidden_fields = ("comment", "subject_hash")
    list_display = ("verdict", "request", "reviewer", "reason_code", "cast_at")
    list_filter = ("verdict", "reason_code")
    linked_by = {"request": _("review"), "reviewer": _("reviewer")}
    ordering = ("-id",)


@admin.register(ReviewPolicy, site=console)
class ReviewPolicyAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    area = Area.RECORDS
    about = _(
        "How many approvals each kind of review needs. Without a row the built-in rule holds: one; two for the organization."
    )
    when_empty = _("Review policies come from the provisioning file; the built-in rules hold.")
    list_display = ("kind", "version", "approvals", "distinct_groups", "author_barred", "due_days", "created_at")
    list_filter = ("kind",)
    ordering = ("kind", "-version")


register_card(
    Card(
        "reviews",
        Area.REVIEW,
        _("Reviews"),
        "memories.ReviewRequest",
        {"status__exact": ReviewRequest.Status.PENDING_REVIEW.value},
        instant="created_at",
        attention=any_at_all,
        quiet=_("Nothing waits for a decision."),
    )
)
