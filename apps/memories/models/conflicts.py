"""ConflictSet: several values of one fact of which none may call itself the current one."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class ConflictSet(TenantOwned):
    """Open until a reviewer settles it, or until fewer than two members are left."""

    class Status(models.TextChoices):
        OPEN = "open", _("open")
        RESOLVED = "resolved", _("resolved")

    class Outcome(models.TextChoices):
        WINNER = "winner", _("one value holds")
        KEEP_BOTH = "keep_both_conditional", _("each holds under its own conditions")
        WITHDRAW_ALL = "withdraw_all", _("none of them holds")

    namespace = models.ForeignKey("tenants.Namespace", on_delete=models.PROTECT, related_name="+", verbose_name=_("namespace"))
    memory_type = models.CharField(_("type"), max_length=12)
    fact_key = models.CharField(_("fact key"), max_length=200, db_collation="C")
    conditions_hash = models.CharField(max_length=64, editable=False)
    reason = models.CharField(_("why undecided"), max_length=64)  # a code
    status = models.CharField(_("status"), max_length=10, choices=Status, default=Status.OPEN)
    created_at = models.DateTimeField(_("created"), default=clock.now)
    resolved_at = models.DateTimeField(_("resolved"), null=True, blank=True)
    # How somebody settled it; empty where it ended because fewer than two members were left.
    outcome = models.CharField(_("outcome"), max_length=24, choices=Outcome, blank=True, default="")
    resolved_by = models.UUIDField(_("settled by"), null=True, blank=True)
    winner = models.ForeignKey(
        "memories.Memory", on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("value that holds")
    )
    # Who was in it when it ended: by them a deletion finds the key that it stood under.
    last_members = ArrayField(models.UUIDField(), default=list, blank=True, verbose_name=_("members when it ended"))

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.CONTENT, audited=Audited.VERB, layer="relations")

    class Meta:
        verbose_name = _("conflict")
        verbose_name_plural = _("conflicts")
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "namespace", "memory_type", "fact_key", "conditions_hash"),
                condition=models.Q(status="open"),
                name="conflict_one_open_set",
            ),
        )

    def __str__(self) -> str:
        return self.fact_key
