"""Credential and Delegation: the only ways in for an agent. Secrets are stored as SHA-256 of 256 random bits."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class Operation(models.TextChoices):
    """What a credential may be good for."""

    DELEGATE = "delegate", _("delegate")
    EVENTS_WRITE = "events:write", _("send events")
    CANDIDATES_WRITE = "candidates:write", _("propose memories")
    MEMORY_READ = "memory:read", _("read memories")
    MEMORY_WRITE = "memory:write", _("revise memories")
    MEMORY_DELETE = "memory:delete", _("erase memories")
    PROMOTIONS_REQUEST = "promotions:request", _("request promotions")
    TRACES_READ = "traces:read", _("read traces")
    RAW_READ = "raw:read", _("read raw text")
    CONFLICTS_RESOLVE = "conflicts:resolve", _("resolve conflicts")
    DELETIONS_RESUME = "deletions:resume", _("resume deletions")
    SUBJECTS_EXPORT = "subjects:export", _("export what is held about a subject")


class Credential(TenantOwned):
    """An agent's key. ``subject`` fixes whom it speaks for; without one it can only delegate and look at itself."""

    user = models.ForeignKey("tenants.User", on_delete=models.PROTECT, related_name="credentials", verbose_name=_("agent"))
    name = models.CharField(_("name"), max_length=128)
    token_sha256 = models.CharField(max_length=64, editable=False)
    operations = ArrayField(models.CharField(max_length=32, choices=Operation), verbose_name=_("operations"))
    subject = models.ForeignKey(
        "tenants.Subject", on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("fixed subject")
    )
    projects = ArrayField(models.UUIDField(), default=list, blank=True, verbose_name=_("projects"))
    created_at = models.DateTimeField(_("created"), default=clock.now)
    expires_at = models.DateTimeField(_("expires"))
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    rotated_from = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="rotations", verbose_name=_("rotated from")
    )

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.TOKEN, audited=Audited.VERB)

    class Meta:
        verbose_name = _("credential")
        verbose_name_plural = _("credentials")
        constraints = (
            models.UniqueConstraint(fields=("tenant", "token_sha256"), name="credential_token_once"),
            models.UniqueConstraint(
                fields=("tenant", "user", "name"), condition=models.Q(revoked_at=None), name="credential_name_once"
            ),
        )

    def __str__(self) -> str:
        return self.name


class Delegation(TenantOwned):
    """A short-lived token minted by a host credential for one subject; it can only narrow."""

    credential = models.ForeignKey(Credential, on_delete=models.CASCADE, related_name="delegations", verbose_name=_("credential"))
    subject = models.ForeignKey("tenants.Subject", on_delete=models.PROTECT, related_name="+", verbose_name=_("subject"))
    projects = ArrayField(models.UUIDField(), default=list, blank=True, verbose_name=_("projects"))
    operations = ArrayField(models.CharField(max_length=32, choices=Operation), verbose_name=_("operations"))
    session_id = models.CharField(_("session"), max_length=128, db_collation="C")
    token_sha256 = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(_("created"), default=clock.now)
    expires_at = models.DateTimeField(_("expires"))
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.TOKEN, audited=Audited.VERB)

    class Meta:
        verbose_name = _("delegation")
        verbose_name_plural = _("delegations")
        constraints = (models.UniqueConstraint(fields=("tenant", "token_sha256"), name="delegation_token_once"),)
        indexes = (models.Index(fields=("tenant", "session_id"), name="delegation_session"),)

    def __str__(self) -> str:
        return self.session_id
