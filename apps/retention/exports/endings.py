"""How exports end: a deletion overtakes them, or their time is over. Either way the files go.

An archive is a copy of what a deletion has to clear, so it is the deletion's business: the acceptance shuts the archive for
everybody, and the layer ``caches`` proves that its files are gone. What somebody has downloaded is out of reach and is listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import structlog
from django.db import connection

from apps.core import clock
from apps.core.ids import public_id
from apps.retention.exports import spool
from apps.retention.exports.requests import record
from apps.retention.layers import CHUNK, Cleared, Layer, RemainingCopy, Target
from apps.retention.models import SubjectExport
from apps.retention.sweeps import CHUNK as SWEPT_AT_ONCE
from apps.retention.sweeps import Kept, Sweep

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

log = structlog.get_logger(__name__)
State = SubjectExport.State

# Exports of which something has been deleted since it was decided what belongs into them.
_OVERTAKE: Final = """
    UPDATE retention_subjectexport e SET state = 'revoked', keys = '{}', shares = '{}'
    WHERE e.tenant_id = %s AND e.removed_at IS NULL AND e.state IN ('running', 'ready') AND e.epochs <> (
        SELECT sum(n.deletion_epoch) FROM tenants_namespace n WHERE n.tenant_id = e.tenant_id AND n.id = ANY(e.namespaces))
    RETURNING e.id
"""


def overtake(tx: TenantTransaction, access: Access, target: Target) -> list[UUID]:  # noqa: ARG001 - signature of the hooks
    """Shut every archive that a deletion which is being accepted makes untrue. No row of another table goes along."""
    with connection.cursor() as cursor:
        cursor.execute(_OVERTAKE, [access.tenant_id])
        found = [key for (key,) in cursor.fetchall()]
    if found:
        rows = list(SubjectExport.objects.filter(tenant_id=access.tenant_id, id__in=found))
        for row in rows:
            record(access, "export.ended", row, codes=[State.REVOKED.value])
        tx.on_commit(lambda: _remove_early(found))
    return []


def end(access: Access, row: SubjectExport, state: SubjectExport.State) -> None:
    """End one export in the open transaction, with its files."""
    row.state, row.keys, row.shares, row.removed_at = state, [], [], clock.now()
    row.save(update_fields=["state", "keys", "shares", "removed_at"])
    spool.remove(row.id)
    record(access, "export.ended", row, codes=[state.value])


class ExportArchives(Layer):
    """Layer ``caches``: the files of exports that this or an earlier deletion has overtaken."""

    key: ClassVar[str] = "caches"

    def discover(self, target: Target) -> int:
        return self._rows(target).count()

    def clear(self, target: Target, cursor: str | None) -> Cleared:  # noqa: ARG002 - what is cleared is not found again
        rows = list(self._rows(target).order_by("id").select_for_update()[:CHUNK])
        for row in rows:
            spool.remove(row.id)
        SubjectExport.objects.filter(tenant_id=target.tenant_id, id__in=[row.id for row in rows]).update(removed_at=clock.now())
        return Cleared(len(rows), str(rows[-1].id) if len(rows) == CHUNK else None)

    def verify(self, target: Target) -> int:
        """Looked for on the disk."""
        overtaken = SubjectExport.objects.filter(tenant_id=target.tenant_id, state=State.REVOKED)
        return sum(spool.is_held(key) for key in overtaken.values_list("id", flat=True).iterator())

    def remaining_copies(self, target: Target) -> list[RemainingCopy]:
        """Archives of the subject that somebody has fetched; where they are now, nobody here knows."""
        if target.subject_id is None:
            return []
        fetched = SubjectExport.objects.filter(
            tenant_id=target.tenant_id,
            subject_id=target.subject_id,
            downloads__gt=0,
            as_of__lte=target.accepted_at,
        ).order_by("id")
        return [RemainingCopy(f"subject_export/{public_id('exp', row.id)}", "downloaded") for row in fetched[:CHUNK]]

    def _rows(self, target: Target) -> QuerySet[SubjectExport]:
        return SubjectExport.objects.filter(tenant_id=target.tenant_id, state=State.REVOKED, removed_at=None)


class PastExports(Sweep):
    """Archives, and exports that never became one, whose time is over. A hold keeps what is held, not the copies of it."""

    key: ClassVar[str] = "subject_exports"

    def count(self, tenant_id: UUID, now: datetime, kept: Kept) -> int:  # noqa: ARG002
        return self._rows(tenant_id, now).count()

    def end(self, tx: TenantTransaction, access: Access, now: datetime, kept: Kept) -> int:  # noqa: ARG002
        rows = list(self._rows(access.tenant_id, now).order_by("id").select_for_update()[:SWEPT_AT_ONCE])
        for row in rows:
            end(access, row, State.REVOKED if row.state == State.REVOKED else State.EXPIRED)
        return len(rows)

    def _rows(self, tenant_id: UUID, now: datetime) -> QuerySet[SubjectExport]:
        return SubjectExport.objects.filter(tenant_id=tenant_id, removed_at=None, expires_at__lte=now)


def _remove_early(keys: Iterable[UUID]) -> None:
    """Right after the commit; what cannot be removed now is the layer's, which tries again."""
    for key in keys:
        try:
            spool.remove(key)
        except OSError as trouble:
            log.warning("export_not_removed", export=str(key), error=type(trouble).__name__)
