"""Rows that a deletion has taken and that are back, copied by hand out of an old backup, say: found and cleared again.

The app that owns the rows registers a finder in AppConfig.ready().
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import UUID

from apps.audits import log
from apps.core.ids import public_id
from apps.core.isolation import system_context
from apps.retention.holds import is_held
from apps.retention.layers import registered_layers
from apps.retention.models import DeletionJob
from apps.retention.targets import shut_doors, target_of
from apps.tenants.console_access import command_access
from apps.tenants.models import Tenant
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable

Finder = Callable[[UUID], "Iterable[UUID]"]
_finders: list[Finder] = []


def register_revived(finder: Finder) -> None:
    """``finder(tenant_id)``: deletions, by primary key, whose rows say something again. Runs inside the tenant's context."""
    if finder not in _finders:
        _finders.append(finder)


def find_revived() -> int:
    """How many deletions have rows that are back."""
    return sum(len(_revived(tenant_id)) for tenant_id in _tenants())


def forget_revived() -> int:
    """Clear those rows again, layer by layer; what is held stays, unread. Returns how many deletions were gone over."""
    done = 0
    for tenant_id in _tenants():
        access = command_access(tenant_id, actor="restore_guard")
        for job_id in _revived(tenant_id):
            with tenant_transaction(access) as tx:
                job = DeletionJob.objects.select_related("revocation", "namespace").get(tenant_id=tenant_id, pk=job_id)
                target = target_of(job)
                shut_doors(tx, access, target)
                if not is_held(target, [job.namespace_id]):
                    for layer in registered_layers():
                        cursor: str | None = None
                        while layer.in_transaction:
                            cursor = layer.clear(target, cursor).cursor
                            if cursor is None:
                                break
                log.record(access, "deletion.reapplied", "deletion", public_id("del", job_id), codes=["revived"])
            done += 1
    return done


def _revived(tenant_id: UUID) -> list[UUID]:
    with tenant_transaction(command_access(tenant_id, actor="restore_guard")):
        return sorted({job_id for finder in _finders for job_id in finder(tenant_id)})


def _tenants() -> list[UUID]:
    with system_context():
        return list(Tenant.objects.order_by("key").values_list("id", flat=True))
