"""User (person or agent), Subject, and what binds them to tenants and projects."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.ids import new_id
from apps.core.models import TenantOwned


class Role(models.TextChoices):
    """What somebody may do in a tenant. Each role is one group per tenant."""

    OWNER = "owner", _("owner")
    COMPLIANCE = "compliance", _("compliance")
    REVIEWER = "reviewer", _("reviewer")
    AUDITOR = "auditor", _("auditor")
    OPERATOR = "operator", _("operator")
    AGENT = "agent", _("agent")


class User(AbstractUser):
    """Somebody who acts: a person with a password, or an agent that only ever comes with a credential."""

    class Kind(models.TextChoices):
        PERSON = "person", _("person")
        AGENT = "agent", _("agent")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(_("kind"), max_length=8, choices=Kind, default=Kind.PERSON)
    key = models.CharField(_("agent key"), max_length=128, blank=True, help_text=_("The agent's name inside its tenant."))

    governance: ClassVar = Governance(tenant=None, keeps=Keeps.CONFIGURATION, audited=Audited.VERB)

    class Meta(AbstractUser.Meta):
        verbose_name = _("user")  # type: ignore[assignment]  # the stubs of the base class know plain text only
        verbose_name_plural = _("users")  # type: ignore[assignment]


class Membership(TenantOwned):
    """A user's role in a tenant; mirrored by membership of the role's group."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("user"))
    role = models.CharField(_("role"), max_length=16, choices=Role)
    created_at = models.DateTimeField(_("since"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints = (models.UniqueConstraint(fields=("tenant", "user", "role"), name="membership_role_once"),)

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"


class Subject(TenantOwned):
    """The person a memory is about or belongs to. Keys are compared exactly."""

    key = models.CharField(_("key"), max_length=128, db_collation="C")
    created_at = models.DateTimeField(_("created"), default=clock.now)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)

    class Meta:
        verbose_name = _("subject")
        verbose_name_plural = _("subjects")
        constraints = (models.UniqueConstraint(fields=("tenant", "key"), name="subject_key_once"),)

    def __str__(self) -> str:
        return self.key


class ProjectMember(TenantOwned):
    """A subject belongs to a project during ``[member_from, member_to)``; an open end is null."""

    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="members", verbose_name=_("project"))
    subject = models.ForeignKey(Subject, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("subject"))
    member_from = models.DateTimeField(_("from"), default=clock.now)
    member_to = models.DateTimeField(_("to"), null=True, blank=True)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONFIGURATION, audited=Audited.VERB)

    class Meta:
        verbose_name = _("project member")
        verbose_name_plural = _("project members")
        constraints = (
            models.UniqueConstraint(fields=("tenant", "project", "subject"), name="project_member_once"),
            models.CheckConstraint(
                condition=models.Q(member_to=None) | models.Q(member_to__gte=models.F("member_from")), name="project_member_order"
            ),
        )

    def __str__(self) -> str:
        return f"{self.project_id} {self.subject_id}"
