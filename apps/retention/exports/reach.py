"""What belongs into an export: what a deletion of the subject would take, found by trying one and undoing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.db import connection, transaction

from apps.core import clock
from apps.core.ids import new_id
from apps.retention.layers import Layer, Target, registered_layers
from apps.retention.models import TargetKind
from apps.retention.targets import Resolved, resolve, shut_doors

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from apps.retention.models import SubjectExport
    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

# Layers without rows of their own: what they clear is a copy of what another layer hands out.
NOTHING_TO_HAND_OUT: Final = {
    "semantic_index": "vectors, made from the versions",
    "caches": "archives of earlier exports",
    "storage": "pages of the database, in which the rows of all layers stand",
    "backups": "copies of the whole database",
    "downstream": "notices to other systems; what those hold, they have to say",
}


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a deletion of the subject would take, had it been accepted now."""

    namespaces: tuple[UUID, ...]
    epochs: int
    as_of: datetime
    keys: tuple[UUID, ...]
    shares: tuple[UUID, ...]


def exporting_layers() -> list[Layer]:
    """The layers that hand something out, in their order."""
    return [layer for layer in registered_layers() if layer.key not in NOTHING_TO_HAND_OUT]


def foresee(tx: TenantTransaction, access: Access, export: SubjectExport) -> Foreseen:
    """Try the acceptance of a deletion of the subject and undo it; inside the tenant context.

    The namespaces stay locked until the end of the transaction, as at any acceptance: nothing is written there meanwhile.
    """
    resolved = resolve(access, TargetKind.SUBJECT, export.subject.key)
    epochs = _lock(access, resolved)
    at = clock.now()
    tried = _target(export, resolved.namespaces[0], at)
    with transaction.atomic():
        keys = tuple(shut_doors(tx, access, tried))
        shares = tuple(key for layer in exporting_layers() for key in layer.taken_at_once(tried, tx.revision))
        transaction.set_rollback(True)
    return Foreseen(resolved.namespaces, epochs, at, keys, shares)


def target_of_export(export: SubjectExport) -> Target:
    """The foreseen target, for the layers."""
    assert export.as_of is not None  # noqa: S101 - set with the keys
    return _target(
        export, export.namespaces[0], export.as_of, keys=tuple(export.keys), shares=tuple(export.shares), foreseen=True
    )


def _target(
    export: SubjectExport,
    namespace_id: UUID,
    at: datetime,
    *,
    keys: tuple[UUID, ...] = (),
    shares: tuple[UUID, ...] = (),
    foreseen: bool = False,
) -> Target:
    return Target(
        tenant_id=export.tenant_id,
        job_id=new_id(),  # of no job
        kind=TargetKind.SUBJECT,
        target_id=str(export.subject_id),
        namespace_id=namespace_id,
        epoch=0,
        accepted_at=at,
        cover_sources=False,
        reason_content_id=None,
        keys=keys,
        subject_id=export.subject_id,
        foreseen=foreseen,
        shares=shares,
    )


def _lock(access: Access, resolved: Resolved) -> int:
    """Lock the namespaces in the order of their keys, the first lock of the transaction; returns the sum of their epochs."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT deletion_epoch FROM tenants_namespace WHERE tenant_id = %s AND id = ANY(%s) ORDER BY id FOR UPDATE",
            [access.tenant_id, list(resolved.namespaces)],
        )
        return sum(epoch for (epoch,) in cursor.fetchall())
