"""Memories and their versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.ids import public_id
from apps.core.text import fold_key
from apps.memories.admin import lineage, version_timeline
from apps.memories.admin.saying import WordsPage
from apps.memories.admin.words import BY_HAND, DECISIONS
from apps.memories.models import Memory, MemoryVersion
from apps.tenants.console import values
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.filters import scope_filter, vocabulary
from apps.tenants.console.site import console
from apps.tenants.models import Namespace, Role

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

MEMORY_ROLES = frozenset({Role.OWNER, Role.COMPLIANCE, Role.REVIEWER, Role.AUDITOR})
TEXTS = ("content", "rationale", "aliases")
_MOST_NAMED = 2_000
SHOWN_STATES = [(word, label) for word, label in Memory.State.choices if word != Memory.State.REVOKED]


@admin.register(Memory, site=console)
class MemoryAdmin(GovernedAdmin):
    """What was deleted is not shown from the commit of its barrier on, whether or not a worker has been there."""

    roles = MEMORY_ROLES
    area = Area.MEMORY
    about = _("What is remembered now, one row for each fact. The words are shown on request, and the audit log says to whom.")
    when_empty = _("A memory appears when a candidate is taken up: agents send events or propose memories, and the rules decide.")
    namespace_paths = ("namespace",)
    policy_paths = ("access_policy",)
    id_prefix = "mem"
    hidden_fields = ("conditions_hash", "last_version")
    references = {"created_by": "tenants.User"}
    list_display = ("fact_key", "standing", "memory_type", "namespace", "version", "created_at", "id")
    list_filter = (
        vocabulary("state__exact", _("state"), lambda: SHOWN_STATES),
        vocabulary("conflict_set__isnull", _("conflict"), lambda: [("False", _("in conflict")), ("True", _("undisputed"))]),
        "memory_type",
        scope_filter("namespace"),
        "authority",
        "retrieval_policy",
    )
    linked_by = {
        "namespace": _("namespace"),
        "conflict_set": _("conflict"),
        "access_policy": _("access policy"),
        "retention_class": _("retention class"),
    }
    search_fields = ("fact_key",)
    search_help_text = _("A whole id (mem_…) or a whole fact key.")
    ordering = ("-id",)
    sections = (
        Section(_("What it is"), ("fact_key", "memory_type", "namespace", "state", "conflict_set")),
        Section(_("Now"), ("head", "version", "authority", "retrieval_policy", "access_policy")),
        Section(_("How long"), ("retention_class", "review_after", "created_at", "updated_revision")),
        Section(_("From whom"), ("created_by", "created_for")),
    )
    related = (
        Related(
            _("Versions"),
            "memories.MemoryVersion",
            by("memory"),
            (
                *("version", "decision", "valid_from", "valid_to", "ingested_at"),
                *("independent_evidence_count", "revision", "retired_revision"),
            ),
            order=("-version",),
        ),
        Related(
            _("Evidence"),
            "memories.EvidenceLink",
            by("memory"),
            ("evidence", "stance", "version", "held_at", "created_at"),
        ),
        Related(
            _("Candidates that led here"),
            "memories.Candidate",
            by("memory"),
            ("candidate_id", "status", "decision", "origin", "created_at"),
        ),
        Related(
            _("Other values in the conflict"),
            "memories.Memory",
            lambda row: {"conflict_set": row.conflict_set_id} if row.conflict_set_id else None,
            ("fact_key", "standing", "version", "created_for", "created_at", "id"),
        ),
        Related(_("It stands in relation to"), "memories.Relation", by("source"), ("type", "target", "created_at")),
        Related(_("Others stand in relation to it"), "memories.Relation", by("target"), ("source", "type", "created_at")),
        Related(
            _("Queries that looked at it"),
            "retrieval.TraceCandidate",
            by("memory_id"),
            ("trace", "version", "position", "chosen", "reason"),
        ),
        Related(
            _("What was done with it"),
            "audits.AuditEntry",
            lambda row: {"object_type": "memory", "object_id": public_id("mem", row.pk)},
            ("at", "verb", "actor", "result"),
        ),
    )

    row_pages = (WordsPage,)
    detail_template = "console/memory.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).exclude(state=Memory.State.REVOKED)

    def told(self, request: HttpRequest, row: Memory) -> dict[str, Any]:
        """The versions and the lineage as drawings; the tables below say the same."""
        versions = list(MemoryVersion.objects.filter(memory=row).order_by("-version")[: version_timeline.MOST_DRAWN + 1])
        return {
            "timeline": version_timeline.draw(row, versions, clock.now()),
            "lineage": lineage.lineage_of(self.admin_site, request, row),
        }

    @admin.display(description=_("state"))
    def standing(self, row: Memory) -> SafeString:
        """An active record in dispute may not call itself the current one, so it does not look like one."""
        if row.conflict_set_id is not None and row.state == Memory.State.ACTIVE:
            return values.state("conflict", _("in conflict"))
        return values.state(row.state, row.get_state_display())

    def matching(self, request: HttpRequest, term: str) -> Q:
        """A whole id, or a fact key as it is stored or as people write it.

        The index of fact keys begins with the namespace, so the few rows of a key are looked up place by place, and named. A key
        that nearly everybody has is asked of the rows themselves: the next page of them is never far.
        """
        access = self.access(request)
        key = self.key_of(term)
        found = Q(pk__in=[] if key is None else [key])
        if access is None:
            return found
        places = Namespace.objects.filter(tenant_id=access.tenant_id).values("id")
        keyed = Memory.objects.filter(tenant_id=access.tenant_id, namespace__in=places, fact_key__in={term, fold_key(term)})
        named = list(keyed.values_list("id", flat=True)[: _MOST_NAMED + 1])
        return found | (Q(pk__in=named) if len(named) <= _MOST_NAMED else Q(fact_key__in={term, fold_key(term)}))


@admin.register(MemoryVersion, site=console)
class MemoryVersionAdmin(GovernedAdmin):
    roles = MEMORY_ROLES
    area = Area.RECORDS
    about = _(
        "Everything memories have said, one row for each version, with the time for which it held and the ground it rests on."
    )
    when_empty = _("Each memory has at least one version.")
    namespace_paths = ("memory__namespace",)
    policy_paths = ("memory__access_policy",)
    hidden_fields = (*TEXTS, "reason", "content_hash", "conditions")
    references = {"author_id": "tenants.User"}
    vocabularies = {"decision": dict([*DECISIONS, *BY_HAND])}
    list_display = ("version", "memory", "decision", "epistemic_status", "verdict", "valid_from", "valid_to", "revision")
    list_filter = (
        vocabulary("decision", _("decision"), lambda: [*DECISIONS, *BY_HAND]),
        "epistemic_status",
        "verdict",
    )
    linked_by = {"memory": _("memory")}
    ordering = ("-id",)
    sections = (
        Section(_("What it is"), ("memory", "version", "decision", "epistemic_status", "verdict", "topics", "entities")),
        Section(_("When it holds"), ("valid_from", "effective", "valid_to", "occurred_at", "observed_at", "last_confirmed_at")),
        Section(_("When it was recorded"), ("ingested_at", "revision", "retired_revision")),
        Section(_("From whom"), ("author_id", "author_subject", "origin", "session_id")),
    )
    related = (Related(_("Evidence"), "memories.EvidenceLink", by("version"), ("evidence", "stance", "held_at", "created_at")),)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).exclude(memory__state=Memory.State.REVOKED)

    def label(self, row: MemoryVersion) -> str:
        return str(_("version %(number)s") % {"number": row.version})
