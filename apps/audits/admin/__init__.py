"""Console pages of floor 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib import admin
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.audits.models import AuditEntry
from apps.audits.verbs import VERBS
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Section
from apps.tenants.console.filters import vocabulary
from apps.tenants.console.site import console
from apps.tenants.models import Role

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django_stubs_ext import StrOrPromise

# What entries are about. An object is found by its id through the index that starts with its kind.
OBJECT_TYPES: tuple[tuple[str, StrOrPromise], ...] = (
    ("memory", _("memory")),
    ("candidate", _("candidate")),
    ("event", _("event")),
    ("batch", _("batch of events")),
    ("deletion", _("deletion")),
    ("job", _("job")),
    ("namespace", _("namespace")),
    ("tenant", _("tenant")),
    ("project", _("project")),
    ("subject", _("subject")),
    ("user", _("user")),
    ("agent", _("agent")),
    ("credential", _("credential")),
    ("delegation", _("delegation")),
)
_VERB_LABELS = [(verb.name, cast("StrOrPromise", verb.label)) for verb in VERBS.values()]


@admin.register(AuditEntry, site=console)
class AuditEntryAdmin(GovernedAdmin):
    roles = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})
    area = Area.AUDIT
    about = _(
        "Who did what, to what, and with which result. Entries hold ids, codes and counts, never text; nobody changes them."
    )
    when_empty = _("Every change is written here in the same transaction.")
    vocabularies = {"verb": dict(_VERB_LABELS), "object_type": dict(OBJECT_TYPES)}
    references = {
        "actor_id": "tenants.User",
        "credential_id": "tenants.Credential",
        "namespace_id": "tenants.Namespace",
    }
    list_display = ("at", "verb", "object_id", "actor", "result", "codes")
    list_filter = (
        "at",
        "result",
        vocabulary("object_type", _("object type"), lambda: OBJECT_TYPES),
        vocabulary("verb", _("verb"), lambda: _VERB_LABELS),
    )
    linked_by = {"object_id": _("object"), "actor_id": _("actor"), "namespace_id": _("namespace")}
    search_fields = ("object_id",)
    search_help_text = _("The whole id of an object, as it stands in its column.")
    ordering = ("-at", "-id")
    sections = (
        Section(_("What happened"), ("at", "verb", "result", "codes", "counts", "revision")),
        Section(_("To what"), ("object_type", "object_id", "namespace_id")),
        Section(_("By whom"), ("actor", "actor_kind", "actor_id", "credential_id", "request_id")),
    )

    def matching(self, request: HttpRequest, term: str) -> Q:  # noqa: ARG002 - signature of the base
        kinds = [kind for kind, _label in OBJECT_TYPES]
        key = self.key_of(term)
        return Q(object_type__in=kinds, object_id=term) | (Q(pk=key) if key else Q(pk__in=[]))
