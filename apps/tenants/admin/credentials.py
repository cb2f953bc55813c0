"""The ways in for agents. Secrets were shown once and are not kept; their hashes are not shown."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.tenants.admin.places import ACCESS_ROLES
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.site import console
from apps.tenants.models import Credential, Delegation, IdempotencyKey, Role


@admin.register(Credential, site=console)
class CredentialAdmin(GovernedAdmin):
    roles = ACCESS_ROLES
    area = Area.ACCESS
    about = _("Agents' keys: what each is good for and for whom it speaks. The secret itself was shown once and is not kept.")
    when_empty = _("Credentials come from the provisioning file.")
    hidden_fields = ("token_sha256",)
    references = {"projects": "tenants.Project"}
    list_display = ("name", "user", "subject", "created_at", "expires_at", "revoked_at", "last_used_at")
    list_filter = ("expires_at", "revoked_at")
    linked_by = {"user": _("agent")}
    search_fields = ("name",)
    search_help_text = _("A whole name.")
    ordering = ("-created_at", "-id")
    sections = (
        Section(_("What it is good for"), ("name", "user", "subject", "projects", "operations")),
        Section(_("How long"), ("created_at", "expires_at", "revoked_at", "last_used_at", "rotated_from")),
    )
    related = (
        Related(
            _("Delegations lent with it"),
            "tenants.Delegation",
            by("credential"),
            ("session_id", "subject", "created_at", "expires_at", "revoked_at"),
        ),
        Related(
            _("What was done with it"),
            "audits.AuditEntry",
            lambda row: {"object_type": "credential", "object_id": str(row.pk)},
            ("at", "verb", "actor", "result"),
        ),
    )


@admin.register(Delegation, site=console)
class DelegationAdmin(GovernedAdmin):
    roles = ACCESS_ROLES
    area = Area.RECORDS
    about = _("Short-lived tokens that a host's credential lent for one subject and one session. They can only narrow.")
    when_empty = _("No host has lent a token.")
    id_prefix = "dlg"
    hidden_fields = ("token_sha256",)
    references = {"projects": "tenants.Project"}
    list_display = ("session_id", "id", "subject", "credential", "created_at", "expires_at", "revoked_at")
    linked_by = {"credential": _("credential"), "subject": _("subject")}
    search_fields = ("session_id",)
    search_help_text = _("A whole id (dlg_…) or session id.")
    ordering = ("-id",)


@admin.register(IdempotencyKey, site=console)
class IdempotencyKeyAdmin(GovernedAdmin):
    roles = frozenset({Role.OWNER, Role.AUDITOR, Role.OPERATOR})
    area = Area.RECORDS
    about = _("Answers kept for a day, so that a request sent twice has one effect. The answers themselves are not shown.")
    when_empty = _("No caller has sent an Idempotency-Key.")
    hidden_fields = ("body_sha256", "caller_id", "key", "answer", "headers")
    list_display = ("route", "status", "created_at", "expires_at")
    ordering = ("-id",)
