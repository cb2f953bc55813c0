"""The barrier: asking whether something is covered by an accepted deletion. Asked again inside every commit (VH-13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

from apps.core.ids import public_id
from apps.core.errors import Revoked
from apps.retention.models import DeletionJob, Revocation, TargetKind

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened and may be covered: an event, or what a candidate rests on."""

    namespace_id: UUID
    occurred_at: datetime
    event_id: UUID | None = None
    session_id: str | None = None
    subject_id: UUID | None = None


def is_covered(tenant_id: UUID, happening: Happening) -> bool:
    """Whether an accepted revocation covers it (design/05 step 6).

    A revoked event is covered for ever; a session, subject or namespace covers what happened up to its acceptance.
    """
    reach = Q(target_kind=TargetKind.NAMESPACE, target_id=str(happening.namespace_id), accepted_at__gte=happening.occurred_at)
    if happening.event_id is not None:
        reach |= Q(target_kind=TargetKind.EVENT, target_id=str(happening.event_id))
    if happening.session_id:
        reach |= Q(
            target_kind=TargetKind.SESSION,
            target_id=happening.session_id,
            namespace_id=happening.namespace_id,
            accepted_at__gte=happening.occurred_at,
        )
    if happening.subject_id is not None:
        reach |= Q(target_kind=TargetKind.SUBJECT, target_id=str(happening.subject_id), accepted_at__gte=happening.occurred_at)
    return Revocation.objects.filter(reach, tenant_id=tenant_id).exists()


def is_suppressed(tenant_id: UUID, namespace_id: UUID, fact_digest: int) -> bool:
    """Whether a deletion asked that this fact never be taken up again (``suppress_future``)."""
    return Revocation.objects.filter(
        tenant_id=tenant_id, namespace_id=namespace_id, fact_digest=fact_digest, suppress_future=True
    ).exists()


def revoked_memories(tenant_id: UUID, memory_ids: Iterable[UUID]) -> set[UUID]:
    """Which of these memories are revoked by name."""
    found = Revocation.objects.filter(
        tenant_id=tenant_id, target_kind=TargetKind.MEMORY, target_id__in=[str(key) for key in memory_ids]
    ).values_list("target_id", flat=True)
    names = {str(key): key for key in memory_ids}
    return {names[name] for name in found if name in names}


def raise_revoked(tenant_id: UUID, memory_id: UUID) -> None:
    """Raise Revoked (410) naming the deletion job of a memory, if it has one. Only for callers who could read it before."""
    job = DeletionJob.objects.filter(tenant_id=tenant_id, target_ids__contains=[memory_id]).order_by("-accepted_at").first()
    if job is not None:
        raise Revoked(deletion_job_id=public_id("del", job.id))
