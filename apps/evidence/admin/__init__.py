"""Console pages of floor 5. Texts are never loaded here; a row says how much there is and where it belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.evidence.coverage import usable
from apps.evidence.models import Content, Derivation, Evidence, SourceEvent, Trust
from apps.evidence.sources import TRUST
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.filters import scope_filter, vocabulary
from apps.tenants.console.scope import WHOLE_TENANT
from apps.tenants.console.site import console
from apps.tenants.models import Role

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

EVIDENCE_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.REVIEWER, Role.AUDITOR})


class TrustFilter(vocabulary("trust__exact", _("trust"), lambda: Trust.choices)):  # type: ignore[misc]  # a class made by a function
    """By trust, which follows from the source type; that is what an index has."""

    def queryset(self, _request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        asked = self.value()
        kinds = [kind for kind, trust in TRUST.items() if trust == asked]
        return rows if asked is None else rows.filter(trust=asked, source_type__in=kinds)


@admin.register(SourceEvent, site=console)
class SourceEventAdmin(GovernedAdmin):
    """What a deletion covers is gone from here at once; its bare row comes back when it has been erased, as the proof of it."""

    roles = EVIDENCE_ROLES
    area = Area.MEMORY
    about = _("What agents sent in: who said it, when it happened, how far it may be believed. The text itself is not shown.")
    when_empty = _("Events arrive through the API or from an import of recorded conversations.")
    namespace_paths = ("namespace",)
    hidden_fields = ("content", "reference", "metadata", "content_sha256", "fingerprint", "no_rebuild")
    references = {"actor_id": "tenants.User", "job_id": "jobs.ProcessingJob"}
    list_display = ("event_id", "source_type", "trust", "namespace", "subject", "occurred_at", "sequence")
    list_filter = ("source_type", TrustFilter, scope_filter("namespace"))
    linked_by = {"namespace": _("namespace"), "subject": _("subject"), "session_id": _("session"), "job_id": _("job")}
    search_fields = ("event_id", "session_id")
    search_help_text = _("A whole event id or session id.")
    ordering = ("-id",)  # the order of arrival, and the one that an index has for all namespaces together
    sections = (
        Section(_("What it is"), ("event_id", "source_type", "trust", "namespace", "subject", "session_id", "actor_id")),
        Section(_("When"), ("occurred_at", "ingested_at", "sequence")),
        Section(_("What was made of it"), ("job_id", "topics", "entities", "redactions")),
        Section(_("How long"), ("retention_class", "deletion_epoch", "covered", "erased_at")),
    )
    related = (
        Related(
            _("Candidates extracted from it"),
            "memories.Candidate",
            by("event"),
            ("candidate_id", "status", "decision", "fact_key", "memory", "created_at"),
        ),
        Related(_("Evidence"), "evidence.Evidence", by("event"), ("id", "kind", "fidelity", "availability", "created_at")),
        Related(_("Made from"), "evidence.Derivation", by("child"), ("parent",)),
        Related(_("Made of it"), "evidence.Derivation", by("parent"), ("child",)),
        Related(
            _("What was done with it"),
            "audits.AuditEntry",
            lambda row: {"object_type": "event", "object_id": row.event_id},
            ("at", "verb", "actor", "result"),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        access = self.access(request)
        everything = access is not None and bool(self.roles & access.roles & WHOLE_TENANT)
        return usable(rows) | rows.filter(erased_at__isnull=False) if everything else usable(rows)


@admin.register(Evidence, site=console)
class EvidenceAdmin(GovernedAdmin):
    roles = EVIDENCE_ROLES
    area = Area.MEMORY
    about = _("Stable ids for whatever supports or refutes a memory: they stay when the text behind them is erased.")
    when_empty = _("Each event becomes one piece of evidence.")
    namespace_paths = ("namespace",)
    id_prefix = "evd"
    list_display = ("id", "kind", "event", "fidelity", "availability", "namespace", "created_at")
    list_filter = ("kind", "fidelity", "availability", scope_filter("namespace"))
    linked_by = {"event": _("event"), "namespace": _("namespace")}
    search_help_text = _("A whole id (evd_…).")
    search_fields = ("id",)
    ordering = ("-id",)
    sections = (Section(_("What it is"), ("kind", "event", "namespace", "fidelity", "availability", "created_at")),)
    related = (
        Related(
            _("What rests on it"),
            "memories.EvidenceLink",
            by("evidence"),
            ("memory", "version", "stance", "held_at", "created_at"),
        ),
    )


@admin.register(Content, site=console)
class ContentAdmin(GovernedAdmin):
    roles = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})
    area = Area.RECORDS
    about = _(
        "Where private text is kept, and how much of it: the only table that holds any. Erasing text means deleting its row."
    )
    when_empty = _("No private text is kept.")
    namespace_paths = ("namespace",)
    hidden_fields = ("text", "sha256")
    list_display = ("id", "namespace", "size", "created_at")
    list_filter = (scope_filter("namespace"),)
    linked_by = {"namespace": _("namespace")}
    ordering = ("-id",)


@admin.register(Derivation, site=console)
class DerivationAdmin(GovernedAdmin):
    roles = EVIDENCE_ROLES
    area = Area.RECORDS
    about = _("What was made from what: a summary, a retelling, an answer. Two records of one origin count once as evidence.")
    when_empty = _("No event says that it was made from another.")
    namespace_paths = ("child__namespace", "parent__namespace")
    list_display = ("id", "child", "parent")
    linked_by = {"child": _("made"), "parent": _("from")}
    ordering = ("-id",)
