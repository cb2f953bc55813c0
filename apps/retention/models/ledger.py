"""What the database knows of the ledger outside of it: the records that wait to be written there, and how far it reached."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.ids import new_id


class LedgerRecord(models.Model):
    """One entry of the ledger, made in the transaction of what it is about; number and hash are set once the file has it.

    It belongs to no tenant: whether the ledger is ahead of this database is asked inside everybody's requests. So it holds
    nothing but the kind and the id of a row that is itself behind its tenant's wall.
    """

    class Kind(models.TextChoices):
        REVOCATION = "revocation", _("revocation")
        HOLD_PLACED = "hold_placed", _("hold placed")
        HOLD_LIFTED = "hold_lifted", _("hold lifted")
        BACKUP_BEGUN = "backup_begun", _("backup begun")
        BACKUP_MADE = "backup_made", _("backup made")
        BACKUP_REMOVED = "backup_removed", _("backup removed")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    object_id = models.UUIDField(_("object"))
    # Of a revocation: what its own row does not keep, and what it takes to apply it again as it was meant.
    namespaces = ArrayField(models.UUIDField(), verbose_name=_("namespaces that were locked"), default=list, blank=True)
    erasable = ArrayField(models.UUIDField(), verbose_name=_("where the caller might erase"), default=list, blank=True)
    number = models.BigIntegerField(_("number in the ledger"), null=True, blank=True)
    hash = models.CharField(_("hash of the entry"), max_length=64, blank=True)
    recorded_at = models.DateTimeField(_("recorded"), default=clock.now)
    reapplied_at = models.DateTimeField(_("applied again after a restore"), null=True, blank=True)

    governance: ClassVar = Governance(tenant=None, keeps=Keeps.AUDIT, audited=Audited.LOG)

    class Meta:
        verbose_name = _("ledger record")
        verbose_name_plural = _("ledger records")
        constraints = (
            models.UniqueConstraint(fields=("kind", "object_id"), name="ledger_record_once"),
            models.UniqueConstraint(fields=("number",), name="ledger_number_once"),
        )
        indexes = (
            models.Index(fields=("recorded_at",), condition=models.Q(number=None), name="ledger_unwritten"),
            models.Index(fields=("reapplied_at",), condition=models.Q(reapplied_at__isnull=False), name="ledger_reapplied"),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}"


class LedgerState(models.Model):
    """The one row that says which ledger this database goes with, and up to where it has everything that stands there.

    It is never believed alone: it is compared with the file on every request (apps/retention/guard.py), so a restored
    database that says that all is well is found out by the number and hash of an older time.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    installation = models.UUIDField(_("installation"))
    number = models.BigIntegerField(_("number of the last entry"), default=0)
    hash = models.CharField(_("hash of the last entry"), max_length=64)
    reapplying = models.BooleanField(_("revocations are being applied again"), default=False)

    governance: ClassVar = Governance(tenant=None, keeps=Keeps.CONFIGURATION, audited=Audited.SYSTEM)

    class Meta:
        verbose_name = _("ledger state")
        verbose_name_plural = _("ledger states")
        constraints = (models.CheckConstraint(condition=models.Q(id=1), name="ledger_state_single"),)

    def __str__(self) -> str:
        return str(self.installation)
