"""The backups layer: a deletion is not done before the ledger proves that a restored backup will be made to forget it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from apps.core.isolation import tenant_context
from apps.jobs.registry import TryAgain
from apps.retention.layers import Cleared, Layer, RemainingCopy, Target
from apps.retention.ledger import records
from apps.retention.ledger.file import LedgerTroubleError
from apps.retention.models import Backup, DeletionJob, DeletionStep, LedgerRecord

if TYPE_CHECKING:
    from uuid import UUID

_NOT_WRITTEN: Final = "ledger_not_written"


class BackupsLayer(Layer):
    """Counts one thing, the entry of the revocation. Backups made before it was proven are listed with the day they expire."""

    key: ClassVar[str] = "backups"
    in_transaction: ClassVar[bool] = False  # the file is written between transactions

    def discover(self, target: Target) -> int:  # noqa: ARG002 - each deletion has one
        return 1

    def clear(self, target: Target, cursor: str | None) -> Cleared:  # noqa: ARG002 - one chunk
        """Write what waits, this revocation among it. Raises TryAgain."""
        with tenant_context(target.tenant_id):
            revocation = _revocation(target)
        mine = LedgerRecord.objects.filter(kind=LedgerRecord.Kind.REVOCATION, object_id=revocation)
        if not mine.exists():  # accepted by a release that kept no ledger, while this one was being installed
            records.note(LedgerRecord.Kind.REVOCATION, revocation, namespaces=[target.namespace_id])
        try:
            records.write_pending()
        except LedgerTroubleError as trouble:
            raise _try_again(trouble) from trouble
        if mine.filter(number=None).exists():
            raise TryAgain(_NOT_WRITTEN, seconds=10)
        return Cleared(1, None)

    def verify(self, target: Target) -> int:
        """Asked of the file, whose chain is read and checked from its beginning."""
        try:
            return 0 if records.is_written(LedgerRecord.Kind.REVOCATION, _revocation(target)) else 1
        except LedgerTroubleError as trouble:
            raise _try_again(trouble) from trouble

    def remaining_copies(self, target: Target) -> list[RemainingCopy]:
        """Backups that were begun before the rows were gone."""
        step = DeletionStep.objects.filter(tenant_id=target.tenant_id, job_id=target.job_id, layer=self.key).first()
        older = Backup.objects.order_by("made_at")
        if step is not None and step.verified_at is not None:
            older = older.filter(made_at__lte=step.verified_at)
        return [RemainingCopy(Path(one.location).name, "backup_until_expiry", one.expires_at) for one in older]


def _try_again(trouble: LedgerTroubleError) -> TryAgain:
    code = f"ledger_{trouble.code}"
    return TryAgain(code, seconds=10)


def _revocation(target: Target) -> UUID:
    return DeletionJob.objects.values_list("revocation_id", flat=True).get(tenant_id=target.tenant_id, pk=target.job_id)
