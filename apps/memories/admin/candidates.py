"""Candidates, and the conflicts they may end in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Q
from django.utils.html import format_html_join
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from apps.evidence.models import SourceEvent
from apps.memories.admin.admission_trail import Outcome, Step, deciding, trail
from apps.memories.admin.conflict_page import SettlePage
from apps.memories.admin.memories import MEMORY_ROLES, TEXTS
from apps.memories.admin.saying import CandidateWordsPage
from apps.memories.admin.words import CHECKS, DECISIONS, REASONS, reason_words
from apps.memories.models import Candidate, ConflictSet, Memory, MemoryType, MemoryVersion
from apps.memories.reasons import Reason
from apps.tenants.console import values
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.filters import scope_filter, vocabulary
from apps.tenants.console.links import Links
from apps.tenants.console.scope import WHOLE_TENANT
from apps.tenants.console.site import console

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

_UNDECIDED = (Reason.EQUAL_TIME, Reason.NO_EFFECTIVE_TIME, Reason.OTHER_SUBJECT, Reason.WEAKER_FIDELITY, Reason.OPEN_CONFLICT)


_SHOWN_SOURCES = 20
_MOST_NAMED = 2_000
_TONES = {  # of the outcomes of checks, in words that have one (apps/tenants/console/states.py)
    Outcome.PASSED: "ok",
    Outcome.REFUSED: "refused",
    Outcome.WAITS: "pending_review",
    Outcome.DECIDED: "done",
    Outcome.NOT_REACHED: "not_reached",
}
_OUTCOMES = {
    Outcome.PASSED: _("passed"),
    Outcome.REFUSED: _("refused"),
    Outcome.WAITS: _("waits for somebody"),
    Outcome.DECIDED: _("compared"),
    Outcome.NOT_REACHED: _("not reached"),
}


def _with_reasons(rows: QuerySet[Any], codes: Iterable[str]) -> QuerySet[Any]:
    """Rows that carry one of these codes.

    Row-level security keeps the database from looking a code up in an index of arrays. So the small index of all candidates with
    reasons is read through: a few are named one by one; if there are many, the next page of them is never far.
    """
    told = Q(reasons__overlap=sorted(codes)) & ~Q(reasons=[])
    found = list(Candidate.objects.filter(told).order_by("-id").values_list("id", flat=True)[: _MOST_NAMED + 1])
    return rows.filter(pk__in=found) if len(found) <= _MOST_NAMED else rows.filter(told)


class ReasonFilter(admin.SimpleListFilter):
    """By a reason code, in words."""

    title = _("reason")
    parameter_name = "reason"

    def lookups(self, _request: HttpRequest, _page: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
        return [(str(code), words) for code, words in REASONS.items()]

    def queryset(self, _request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        code = self.value()
        return rows if code is None else _with_reasons(rows, [code])


class CheckFilter(admin.SimpleListFilter):
    """By the check that refused it or keeps it waiting."""

    title = _("stopped by")
    parameter_name = "check"

    def lookups(self, _request: HttpRequest, _page: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
        return [(check.key, check.title) for check in CHECKS if check.refuses or check.holds_back]

    def queryset(self, _request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return rows
        check = next((one for one in CHECKS if one.key == self.value()), None)
        return rows.none() if check is None else _with_reasons(rows, check.refuses | check.holds_back)


@admin.register(Candidate, site=console)
class CandidateAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    area = Area.REVIEW
    about = _("What was proposed to be remembered, and what became of it. A proposal is never a memory by itself.")
    when_empty = _(
        "Candidates come from agents that propose memories, and from events in which the rules find something to keep."
    )
    namespace_paths = ("namespace",)
    policy_paths = ("access_policy",)
    hidden_fields = (*TEXTS, "fingerprint", "conditions")
    told_by_others = ("status", "decision", "reasons", "memory", "memory_version", "conflict_set", "event", "source_events")
    vocabularies = {"decision": dict(DECISIONS)}
    references = {"actor_id": "tenants.User", "source_events": "evidence.SourceEvent", "evidence": "evidence.Evidence"}
    list_display = ("candidate_id", "status", "decided_by", "why", "waited", "memory_type", "fact_key", "namespace")
    list_filter = (
        "status",
        CheckFilter,
        ReasonFilter,
        vocabulary("decision__exact", _("decision"), lambda: DECISIONS),
        "memory_type",
        scope_filter("namespace"),
        "decided_at",
    )
    linked_by = {
        "decided_at__gte": _("decided from"),
        "decided_at__lt": _("decided before"),
        "decision__isnull": _("undecided"),
        "memory": _("memory"),
        "event": _("extracted from"),
        "namespace": _("namespace"),
        "conflict_set": _("conflict"),
        "source_events__contains": _("source event"),
    }
    search_fields = ("candidate_id",)
    search_help_text = _("A whole candidate id.")
    ordering = ("-id",)
    row_pages = (CandidateWordsPage,)
    detail_template = "console/candidate.html"
    sections = (
        Section(_("What is proposed"), ("candidate_id", "fact_key", "memory_type", "namespace", "topics", "entities")),
        Section(_("On what ground"), ("evidence", "epistemic_status", "verdict", "authority", "relations")),
        Section(_("From whom"), ("actor_id", "subject", "session_id", "origin", "policy_version")),
        Section(
            _("When it would hold"),
            ("valid_from", "valid_to", "observed_at", "last_confirmed_at", "expected_resolution_at"),
        ),
        Section(_("How it would be kept"), ("retrieval_policy", "access_policy", "expected_version")),
        Section(_("How long"), ("retention_class", "created_at", "decided_at", "expires_at", "revision")),
    )
    related = (
        Related(
            _("What was done with it"),
            "audits.AuditEntry",
            lambda row: {"object_type": "candidate", "object_id": row.candidate_id},
            ("at", "verb", "actor", "result"),
        ),
    )

    @admin.display(description=_("what decided"))
    def decided_by(self, row: Candidate) -> SafeString:
        """The check that refused it or keeps it waiting; when all were passed, the comparison with what stands there."""
        found = deciding(trail(row.status, row.decision, row.reasons))
        if not found:
            return values.NOTHING
        return format_html_join(" ", "{}", ((self._decided(row, step),) for step in found))

    @admin.display(description=_("why"))
    def why(self, row: Candidate) -> SafeString:
        if not row.reasons:
            return values.NOTHING
        return format_html_join("", '<span class="reason">{}</span>', ((capfirst(reason_words(code)),) for code in row.reasons))

    @admin.display(description=_("age"))
    def waited(self, row: Candidate) -> SafeString:
        return values.age(row.created_at)

    def told(self, request: HttpRequest, row: Candidate) -> dict[str, Any]:
        """The whole way: from the sources through the checks and the comparison to what it became."""
        links = Links(self.admin_site, request)
        version = _version_of(row)
        links.want(Memory, [row.memory_id])
        links.want(MemoryVersion, [version])
        links.want(ConflictSet, [row.conflict_set_id])
        return {
            "sources": self._sources(request, row, links),
            "steps": [_shown_step(step) for step in trail(row.status, row.decision, row.reasons)],
            "standing": values.state(row.status, row.get_status_display()),
            "decision": None
            if row.decision is None
            else values.state(row.decision, dict(DECISIONS).get(row.decision, row.decision)),
            "became": [
                shown
                for shown in (
                    links.show(Memory, row.memory_id) if row.memory_id else None,
                    links.show(MemoryVersion, version) if version else None,
                    links.show(ConflictSet, row.conflict_set_id) if row.conflict_set_id else None,
                )
                if shown is not None
            ],
        }

    def _sources(self, request: HttpRequest, row: Candidate, links: Links) -> list[tuple[SafeString, str, SafeString | str]]:
        """Link, kind and time of each source event; one out of reach is named by its key alone."""
        keys = list(dict.fromkeys([*([row.event_id] if row.event_id else []), *row.source_events]))[:_SHOWN_SOURCES]
        links.want(SourceEvent, keys)
        page = self.admin_site.open_page(request, "evidence.SourceEvent")
        found = {} if page is None or not keys else {one.pk: one for one in page.get_queryset(request).filter(pk__in=keys)}
        shown: list[tuple[SafeString, str, SafeString | str]] = []
        for key in keys:
            event = found.get(key)
            kind = "" if event is None else f"{capfirst(event.get_source_type_display())} · {event.get_trust_display()}"
            shown.append((links.show(SourceEvent, key), kind, "" if event is None else values.instant(event.occurred_at)))
        return shown

    def _decided(self, row: Candidate, step: Step) -> SafeString:
        if step.outcome is Outcome.DECIDED:
            return _decision(row.decision or row.status)
        return values.state(_TONES[step.outcome], f"{step.number} · {step.check.title}")


def _version_of(row: Candidate) -> UUID | None:
    """The key of the version that a candidate became."""
    if row.memory_id is None or row.memory_version is None:
        return None
    found = MemoryVersion.objects.filter(memory_id=row.memory_id, version=row.memory_version)
    return found.values_list("pk", flat=True).first()


def _decision(word: str) -> SafeString:
    return values.state(word, dict(DECISIONS).get(word, word))


def _shown_step(step: Step) -> dict[str, Any]:
    return {
        "number": step.number,
        "title": step.check.title,
        "question": step.check.question,
        "outcome": step.outcome.value,
        "state": values.state(_TONES[step.outcome], _OUTCOMES[step.outcome]),
        "reasons": [(code, capfirst(reason_words(code))) for code in step.reasons],
    }


@admin.register(ConflictSet, site=console)
class ConflictSetAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    area = Area.REVIEW
    about = _("Facts with several values of which none may call itself the current one.")
    when_empty = _("A conflict opens when two records contradict each other and neither time nor ground tells which one holds.")
    namespace_paths = ("namespace",)
    id_prefix = "cfl"
    row_pages = (SettlePage,)
    references = {"resolved_by": "tenants.User", "last_members": "memories.Memory"}
    vocabularies = {"memory_type": dict(MemoryType.choices), "reason": REASONS}
    hidden_fields = ("conditions_hash",)
    list_display = ("fact_key", "status", "reason", "memory_type", "namespace", "created_at", "id")
    list_filter = (
        "status",
        vocabulary("reason", _("why undecided"), lambda: [(code.value, REASONS[code]) for code in _UNDECIDED]),
    )
    linked_by = {"namespace": _("namespace")}
    search_help_text = _("A whole id (cfl_…) or a whole fact key.")
    search_fields = ("fact_key",)
    ordering = ("-id",)
    sections = (
        Section(_("What is in dispute"), ("fact_key", "memory_type", "namespace")),
        Section(_("How it stands"), ("status", "reason", "created_at", "resolved_at")),
        Section(_("How it was settled"), ("outcome", "winner", "resolved_by", "last_members")),
    )
    related = (
        Related(
            _("Members"),
            "memories.Memory",
            by("conflict_set"),
            ("fact_key", "standing", "version", "created_for", "created_at", "id"),
        ),
        Related(_("Candidates"), "memories.Candidate", by("conflict_set"), ("candidate_id", "status", "decision", "created_at")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """A conflict about something under a policy is not shown to those who may not read under it."""
        rows = super().get_queryset(request)
        access = self.access(request)
        if access is None or self.roles & access.roles & WHOLE_TENANT:
            return rows
        restricted = Memory.objects.filter(~Q(access_policy=None), ~Q(access_policy_id__in=access.policies))
        return rows.exclude(id__in=restricted.exclude(conflict_set=None).values("conflict_set_id"))
