"""Legal holds: placing and lifting them, and whether one stands in the way of a deletion (DJ-18, DJ-21).

A hold never shuts the barrier's door again: what a deletion has revoked stays unreadable to agents while it is held. It only
keeps the material, for as long as it says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from apps.audits import log
from apps.core import clock
from apps.core.errors import FieldError, NotFound, NotPermitted, ValidationFailed
from apps.retention.layers import Target
from apps.retention.ledger.records import note
from apps.retention.models import LedgerRecord, LegalHold
from apps.retention.resumption import release_unheld
from apps.retention.targets import resolve
from apps.tenants.models import Role
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from apps.tenants.access import Access

LONGEST: Final = timedelta(days=3653)  # ten years; a longer duty is placed again when it is looked at
_KEEPERS: Final = frozenset({Role.OWNER, Role.COMPLIANCE})
_REASON: Final = re.compile(r"[a-z0-9_.:-]{1,64}")

# (target, keys of held rows, held subject) → whether the deletion reaches one of them
Reach = Callable[[Target, Sequence[UUID], "UUID | None"], bool]
_reaches: list[Reach] = []


class Held(Exception):
    """A hold forbids the next chunk of a deletion."""


def register_reach(reach: Reach) -> None:
    """``reach(target, keys, subject_id)``: whether a deletion takes one of these rows or one of this subject."""
    if reach not in _reaches:
        _reaches.append(reach)


def place_hold(access: Access, kind: str, target: str, *, reason_code: str, until: datetime) -> LegalHold:
    """Keep a memory, event, subject or namespace until an instant, whoever asks for its deletion.

    For compliance and owners. Raises NotPermitted, NotFound, and ValidationFailed for a reason that is no code or an end that is
    past or more than ten years away.
    """
    _require_keeper(access)
    now = clock.now()
    faults = []
    if not _REASON.fullmatch(reason_code):
        faults.append(FieldError("/reason_code", "invalid_format", "A code: small letters, digits and _ . : -"))
    if not now < until <= now + LONGEST:
        faults.append(FieldError("/until", "invalid_time", "The end lies in the future, at most ten years away."))
    if faults:
        raise ValidationFailed(faults)
    if kind not in LegalHold.Kind.values:
        raise NotFound
    with tenant_transaction(access):
        found = resolve(access, kind, target)
        hold = LegalHold.objects.create(
            tenant_id=access.tenant_id,
            namespace_id=found.namespaces[0],
            target_kind=kind,
            target_public_id=found.public_id,
            subject_id=found.subject_id if kind == LegalHold.Kind.SUBJECT else None,
            keys=list(found.keys),
            reason_code=reason_code,
            placed_by=access.actor_id,
            placed_at=now,
            until=until,
        )
        note(LedgerRecord.Kind.HOLD_PLACED, hold.id)
        log.record(access, "hold.placed", "hold", str(hold.id), namespace_id=hold.namespace_id, codes=[kind, reason_code])
        return hold


def lift_hold(access: Access, hold_id: UUID) -> int:
    """End a hold now, and let the deletions go on that nothing else holds; returns how many. Again: nothing happens.

    For compliance and owners. Raises NotPermitted and NotFound.
    """
    _require_keeper(access)
    with tenant_transaction(access) as tx:
        hold = LegalHold.objects.filter(tenant_id=access.tenant_id, pk=hold_id).select_for_update().first()
        if hold is None:
            raise NotFound
        if hold.lifted_at is None:
            LegalHold.objects.filter(pk=hold.pk).update(lifted_at=clock.now(), lifted_by=access.actor_id)
            note(LedgerRecord.Kind.HOLD_LIFTED, hold.id)
            log.record(access, "hold.lifted", "hold", str(hold.id), namespace_id=hold.namespace_id, codes=[hold.reason_code])
        return release_unheld(tx, access, is_held)


def holds_in_force(tenant_id: UUID) -> QuerySet[LegalHold]:
    return LegalHold.objects.filter(tenant_id=tenant_id, lifted_at=None, until__gt=clock.now())


def is_held(target: Target, namespaces: Iterable[UUID]) -> bool:
    """Whether a hold in force covers anything that the deletion takes; ``namespaces`` are all that it touches."""
    spaces = {target.namespace_id, *namespaces}
    return any(_stands_in_the_way(hold, target, spaces) for hold in holds_in_force(target.tenant_id))


def require_unheld(target: Target, namespaces: Iterable[UUID]) -> None:
    """Raises Held."""
    if is_held(target, namespaces):
        raise Held


def _stands_in_the_way(hold: LegalHold, target: Target, spaces: set[UUID]) -> bool:
    if hold.target_kind == LegalHold.Kind.NAMESPACE:
        return hold.namespace_id in spaces
    if hold.target_kind == LegalHold.Kind.SUBJECT and hold.subject_id == target.subject_id:
        return True
    if set(hold.keys) & set(target.keys):
        return True
    return any(reach(target, hold.keys, hold.subject_id) for reach in _reaches)


def _require_keeper(access: Access) -> None:
    if not access.roles & _KEEPERS:
        raise NotPermitted
