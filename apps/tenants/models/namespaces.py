"""Namespace and AccessPolicy: where memory lives, and the narrower reader lists of single memories."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class Scope(models.TextChoices):
    """The three mutually exclusive owners of a memory (ID-14)."""

    USER = "user", _("user")
    PROJECT = "project", _("project")
    ORGANIZATION = "organization", _("organization")


class Namespace(TenantOwned):
    """The single owner of a set of memories. ``deletion_epoch`` steps once with every accepted deletion."""

    scope = models.CharField(_("scope"), max_length=16, choices=Scope)
    scope_id = models.CharField(_("scope id"), max_length=128, db_collation="C")
    subject = models.OneToOneField(
        "tenants.Subject", on_delete=models.PROTECT, null=True, blank=True, related_name="namespace", verbose_name=_("subject")
    )
    project = models.OneToOneField(
        "tenants.Project", on_delete=models.PROTECT, null=True, blank=True, related_name="namespace", verbose_name=_("project")
    )
    deletion_epoch = models.BigIntegerField(_("deletion epoch"), default=0)
    created_at = models.DateTimeField(_("created"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)

    class Meta:
        verbose_name = _("namespace")
        verbose_name_plural = _("namespaces")
        default_permissions = ()
        permissions = (
            ("read", "read memories"),
            ("write", "write memories"),
            ("review", "review proposals"),
            ("promote", "promote memories"),
            ("erase", "erase memories"),
        )
        constraints = (
            models.UniqueConstraint(fields=("tenant", "scope", "scope_id"), name="namespace_once"),
            models.CheckConstraint(
                condition=models.Q(scope="user", subject__isnull=False, project=None)
                | models.Q(scope="project", project__isnull=False, subject=None)
                | models.Q(scope="organization", project=None, subject=None),
                name="namespace_has_its_owner",
            ),
        )

    def __str__(self) -> str:
        return f"{self.scope}/{self.scope_id}"


class AccessPolicy(TenantOwned):
    """A reader list for single memories; a memory under a policy needs the namespace and the policy."""

    key = models.CharField(_("key"), max_length=128)
    description = models.CharField(_("description"), max_length=400, blank=True)
    created_at = models.DateTimeField(_("created"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)

    class Meta:
        verbose_name = _("access policy")
        verbose_name_plural = _("access policies")
        default_permissions = ()
        permissions = (("read_under", "read memories under this policy"),)
        constraints = (models.UniqueConstraint(fields=("tenant", "key"), name="access_policy_once"),)

    def __str__(self) -> str:
        return self.key
