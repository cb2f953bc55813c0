"""Tenant and Project."""

from __future__ import annotations

import secrets
from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.ids import new_id
from apps.core.models import TenantOwned

INDEX_KEY_BYTES = 32


def new_index_key() -> bytes:
    """A fresh secret key for the tenant's index terms."""
    return secrets.token_bytes(INDEX_KEY_BYTES)


class Tenant(models.Model):
    """One customer. ``revision`` steps once in every transaction that changes what memory says."""

    class Status(models.TextChoices):
        ACTIVE = "active", _("active")
        SUSPENDED = "suspended", _("suspended")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    key = models.CharField(_("key"), max_length=128, unique=True)
    name = models.CharField(_("name"), max_length=200)
    status = models.CharField(_("status"), max_length=16, choices=Status, default=Status.ACTIVE)
    settings = models.JSONField(_("settings"), default=dict, blank=True)
    revision = models.BigIntegerField(_("revision"), default=0)
    index_key = models.BinaryField(default=new_index_key, editable=False)
    created_at = models.DateTimeField(_("created"), default=clock.now)

    governance: ClassVar = Governance(tenant="id", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)

    class Meta:
        verbose_name = _("tenant")
        verbose_name_plural = _("tenants")
        # Role groups hold these; see grants.py for what each role may do.
        permissions = (
            ("act_as_owner", "act as owner"),
            ("act_as_compliance", "act as compliance staff"),
            ("act_as_reviewer", "act as reviewer"),
            ("act_as_auditor", "act as auditor"),
            ("act_as_operator", "act as operator"),
            ("act_as_agent", "act as agent"),
        )

    def __str__(self) -> str:
        return self.key


class Project(TenantOwned):
    """A stable place for shared work; renaming never changes the key."""

    key = models.CharField(_("key"), max_length=128)
    name = models.CharField(_("name"), max_length=200)
    created_at = models.DateTimeField(_("created"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)

    class Meta:
        verbose_name = _("project")
        verbose_name_plural = _("projects")
        constraints = (models.UniqueConstraint(fields=("tenant", "key"), name="project_key_once"),)

    def __str__(self) -> str:
        return self.key
