"""The retention sweep: what has reached the end of its period, class by class (RT-01..06; design/05 Retention).

The app that owns the rows registers a sweep. Periods count from when something was said, proposed or confirmed; that it was
retrieved never counts (RT-04). A hold wins over every sweep.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final
from uuid import UUID

from django.db.models import Q

from apps.audits import log
from apps.core import clock
from apps.core.isolation import system_context
from apps.retention.holds import holds_in_force, is_held
from apps.retention.models import LegalHold
from apps.retention.resumption import release_unheld
from apps.tenants.console_access import command_access
from apps.tenants.models import Tenant
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from datetime import datetime

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

CHUNK: Final = 500  # rows ended in one transaction
_ACTOR: Final = "retention"


@dataclass(frozen=True, slots=True)
class Kept:
    """What the holds in force keep from every sweep of a tenant."""

    namespaces: frozenset[UUID]
    subjects: frozenset[UUID]
    keys: frozenset[UUID]

    def of_namespace(self) -> Q:
        """Rows under a held namespace, or under the namespace of a held subject."""
        return Q(namespace_id__in=self.namespaces) | Q(namespace__subject_id__in=self.subjects)


class Sweep(ABC):
    """One kind of end. Both methods run inside the tenant context."""

    key: ClassVar[str]

    @abstractmethod
    def count(self, tenant_id: UUID, now: datetime, kept: Kept) -> int:
        """How many rows have reached their end."""

    @abstractmethod
    def end(self, tx: TenantTransaction, access: Access, now: datetime, kept: Kept) -> int:
        """End at most CHUNK of them, and return how many; fewer than CHUNK means that none is left."""


_sweeps: list[Sweep] = []


def register_sweep(sweep: Sweep) -> None:
    """Sweeps run in the order of their registration: what depends on other rows comes after them."""
    if any(known.key == sweep.key for known in _sweeps):
        msg = f"sweep {sweep.key} is registered twice"
        raise ValueError(msg)
    _sweeps.append(sweep)


def due(tenant_id: UUID) -> dict[str, int]:
    """What a sweep would end now, by kind: the dry run. What one kind would make due of another is not foreseen."""
    now = clock.now()
    access = command_access(tenant_id, actor=_ACTOR)
    with tenant_transaction(access):
        kept = _kept(tenant_id)
        return {sweep.key: sweep.count(tenant_id, now, kept) for sweep in _sweeps}


def sweep_tenant(tenant_id: UUID) -> dict[str, int]:
    """End everything that is due, in chunks, and let deletions go on whose holds have ended; returns how much, by kind."""
    now = clock.now()
    access = command_access(tenant_id, actor=_ACTOR)
    ended: dict[str, int] = {}
    for sweep in _sweeps:
        ended[sweep.key] = 0
        while (count := _end_chunk(access, sweep, now)) > 0:
            ended[sweep.key] += count
            if count < CHUNK:
                break
    with tenant_transaction(access) as tx:
        ended["deletions_resumed"] = release_unheld(tx, access, is_held)
    return ended


def sweep_everything() -> int:
    """Every tenant that is not suspended; what the worker does once an hour. Returns how many rows ended."""
    with system_context():
        tenants = list(Tenant.objects.filter(status=Tenant.Status.ACTIVE).order_by("key").values_list("id", flat=True))
    return sum(sum(sweep_tenant(tenant_id).values()) for tenant_id in tenants)


def _end_chunk(access: Access, sweep: Sweep, now: datetime) -> int:
    """Holds are read anew for each chunk."""
    with tenant_transaction(access) as tx:
        count = sweep.end(tx, access, now, _kept(access.tenant_id))
        if count:
            log.record(access, "retention.swept", "sweep", sweep.key, counts={"rows": count}, revision=tx.revision)
    return count


def _kept(tenant_id: UUID) -> Kept:
    holds = list(holds_in_force(tenant_id))
    return Kept(
        namespaces=frozenset(one.namespace_id for one in holds if one.target_kind == LegalHold.Kind.NAMESPACE),
        subjects=frozenset(one.subject_id for one in holds if one.subject_id is not None),
        keys=frozenset(key for one in holds for key in one.keys),
    )
