"""The barrier: asking whether something is covered by an accepted deletion. Asked again inside every commit (VH-13).

Two forms of the same rules: :func:`covering` for what is in hand, and :func:`covered_query` as a condition of a queryset.
A test holds them equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.db import connection
from django.db.models import CharField, Exists, F, OuterRef, Q
from django.db.models.functions import Cast

from apps.core.errors import Revoked
from apps.core.ids import public_id
from apps.core.prepared import fetch_prepared
from apps.retention.deletion_states import DONE
from apps.retention.models import DeletionJob, DeletionStep, Revocation, TargetKind

if TYPE_CHECKING:
    from datetime import datetime


_CONVEYED: Final = [TargetKind.EVENT.value, TargetKind.SESSION.value, TargetKind.SUBJECT.value, TargetKind.NAMESPACE.value]
_NAMED: Final = """
    SELECT r.id, r.target_kind, r.target_id, r.accepted_at, n.subject_id
    FROM retention_revocation r JOIN tenants_namespace n ON n.id = r.namespace_id
    WHERE r.tenant_id = %s AND r.target_kind = ANY(%s::text[]) AND r.target_id = ANY(%s::text[])
"""


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened and may be covered: an event, or what a candidate rests on."""

    namespace_id: UUID
    occurred_at: datetime
    event_id: UUID | None = None
    session_id: str | None = None
    subject_id: UUID | None = None


def covering(tenant_id: UUID, happenings: Sequence[Happening]) -> list[frozenset[UUID]]:
    """The revocations that cover each happening (design/05 step 6), in the same order.

    A revoked event is covered for ever; a session, subject or namespace covers what happened up to its acceptance. A session
    belongs to its subject: another subject's session of the same name is not touched.
    """
    names = {str(one.namespace_id) for one in happenings}
    for one in happenings:
        names.update(str(name) for name in (one.event_id, one.session_id, one.subject_id) if name)
    # Asked for every event that comes in, so without the ORM; a name of the wrong kind is told apart in _covers.
    rows = fetch_prepared(_NAMED, [tenant_id, _CONVEYED, list(names)])
    if not rows:
        return [frozenset()] * len(happenings)
    return [frozenset(row[0] for row in rows if _covers(row, one)) for one in happenings]


def is_covered(tenant_id: UUID, happening: Happening) -> bool:
    """Whether an accepted revocation covers it."""
    return bool(covering(tenant_id, [happening])[0])


def covered_query() -> Exists:
    """The same question as a condition on a queryset of rows with tenant, namespace, subject, session_id and occurred_at.

    The rows' own primary keys are looked up as revoked events.
    """
    in_time = Q(accepted_at__gte=OuterRef("occurred_at"))
    return Exists(
        Revocation.objects.filter(
            Q(target_kind=TargetKind.EVENT, target_id=_text_of("pk"))
            | Q(in_time, target_kind=TargetKind.NAMESPACE, target_id=_text_of("namespace_id"))
            | Q(in_time, target_kind=TargetKind.SUBJECT, target_id=_text_of("subject_id"))
            | Q(
                in_time,
                target_kind=TargetKind.SESSION,
                target_id=OuterRef("session_id"),
                namespace__subject_id=OuterRef("subject_id"),
            ),
            tenant_id=OuterRef("tenant_id"),
        )
    )


def is_clearing(tenant_id: UUID, revocations: Iterable[UUID], layer: str) -> bool:
    """Whether the deletion behind one of these revocations has yet to finish a layer.

    The steps are share-locked until the end of the transaction, so that what the caller adds now is still counted when the
    layer is proved (apps/retention/erasure.py).
    """
    steps = DeletionStep.objects.filter(tenant_id=tenant_id, job__revocation_id__in=list(revocations), layer=layer)
    with connection.cursor() as cursor:  # the ORM has no FOR SHARE
        cursor.execute(
            "SELECT state FROM retention_deletionstep WHERE tenant_id = %s AND id = ANY(%s) FOR SHARE",
            [tenant_id, list(steps.values_list("id", flat=True))],
        )
        return any(state not in DONE for (state,) in cursor.fetchall())


def is_suppressed(tenant_id: UUID, namespace_id: UUID, fact_digest: int) -> bool:
    """Whether a deletion asked that this fact never be taken up again (``suppress_future``)."""
    return Revocation.objects.filter(
        tenant_id=tenant_id, namespace_id=namespace_id, fact_digest=fact_digest, suppress_future=True
    ).exists()


def revoked_memories(tenant_id: UUID, memory_ids: Iterable[UUID]) -> set[UUID]:
    """Which of these memories are revoked by name."""
    names = {str(key): key for key in memory_ids}
    found = Revocation.objects.filter(tenant_id=tenant_id, target_kind=TargetKind.MEMORY, target_id__in=list(names)).values_list(
        "target_id", flat=True
    )
    return {names[name] for name in found}


def raise_revoked(tenant_id: UUID, key: UUID) -> None:
    """Raise Revoked (410) naming the deletion that took a row along, if one did. Only for callers who could read it before."""
    job = DeletionJob.objects.filter(tenant_id=tenant_id, target_ids__contains=[key]).order_by("-accepted_at").first()
    if job is not None:
        raise Revoked(deletion_job_id=public_id("del", job.id))


def deletion_of(tenant_id: UUID, key: UUID, happening: Happening) -> str | None:
    """The public id of the deletion that covers something, by name or by reach; None when there is none."""
    reach = Q(target_ids__contains=[key]) | Q(revocation_id__in=covering(tenant_id, [happening])[0])
    job = (
        DeletionJob.objects.filter(reach, tenant_id=tenant_id)
        .order_by(F("accepted_at").desc())
        .values_list("id", flat=True)
        .first()
    )
    return None if job is None else public_id("del", job)


def _covers(row: tuple[UUID, str, str, datetime, UUID | None], one: Happening) -> bool:
    _, kind, target, accepted_at, owner = row
    if kind == TargetKind.EVENT:
        return target == str(one.event_id)
    if one.occurred_at > accepted_at:
        return False
    return (
        (kind == TargetKind.NAMESPACE and target == str(one.namespace_id))
        or (kind == TargetKind.SUBJECT and target == str(one.subject_id))
        or (kind == TargetKind.SESSION and target == one.session_id and owner is not None and owner == one.subject_id)
    )


def _text_of(column: str) -> Cast:
    return Cast(OuterRef(column), CharField())
