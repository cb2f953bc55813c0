"""What ends of candidates and memories: proposals that became nothing, and memories that have to be looked at again."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from django.db.models import Exists, OuterRef, Q

from apps.evidence.models import Evidence
from apps.jobs.queue import publish
from apps.memories.forgetting import erase_candidates
from apps.memories.models import Candidate, EvidenceLink, Memory
from apps.memories.reviews.requests import open_revalidations
from apps.retention.sweeps import CHUNK, Kept, Sweep

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

_WAITING = (Candidate.Status.RECEIVED, Candidate.Status.PENDING_REVIEW)
_EXPIRED = "expired"


class Proposals(Sweep):
    """Candidates past their days that became part of no memory lose their texts; one that still waited is rejected (RT-02)."""

    key: ClassVar[str] = "candidates"

    def count(self, tenant_id: UUID, now: datetime, kept: Kept) -> int:
        return self._rows(tenant_id, now, kept).count()

    def end(self, tx: TenantTransaction, access: Access, now: datetime, kept: Kept) -> int:  # noqa: ARG002 - no revision: no memory
        found = self._rows(access.tenant_id, now, kept).order_by("id").select_for_update(of=("self",), no_key=True)
        rows = list(found[:CHUNK])
        waiting = Candidate.objects.filter(tenant_id=access.tenant_id, id__in=[row.id for row in rows], status__in=_WAITING)
        waiting.update(status=Candidate.Status.REJECTED, reasons=[_EXPIRED], decided_at=now)
        erase_candidates(access.tenant_id, rows)
        return len(rows)

    def _rows(self, tenant_id: UUID, now: datetime, kept: Kept) -> QuerySet[Candidate]:
        rows = Candidate.objects.filter(tenant_id=tenant_id, expires_at__lt=now, memory=None).exclude(fact_key="")
        rows = rows.exclude(kept.of_namespace()).exclude(subject_id__in=kept.subjects)
        return rows.exclude(Q(event_id__in=kept.keys) | Q(source_events__overlap=list(kept.keys)))


class _PutUpForReview(Sweep):
    """Active memories that become needs_review: listed for reviewers, and adopted by nobody on its own (LN-12)."""

    def count(self, tenant_id: UUID, now: datetime, kept: Kept) -> int:  # noqa: ARG002 - a review destroys nothing
        return self._rows(tenant_id, now).count()

    def end(self, tx: TenantTransaction, access: Access, now: datetime, kept: Kept) -> int:  # noqa: ARG002
        found = self._rows(access.tenant_id, now).order_by("id").select_for_update(of=("self",), no_key=True)
        keys = list(found.values_list("id", flat=True)[:CHUNK])
        if keys:
            revision = tx.next_revision()
            Memory.objects.filter(tenant_id=access.tenant_id, id__in=keys).update(
                state=Memory.State.NEEDS_REVIEW, updated_revision=revision
            )
            publish(access, "memory.changed", [(key, revision) for key in keys])
            open_revalidations(access.tenant_id)
        return len(keys)

    @abstractmethod
    def _rows(self, tenant_id: UUID, now: datetime) -> QuerySet[Memory]:
        """The memories that are due."""


class ReviewDates(_PutUpForReview):
    """Whose class asked for another look by now (RT-02)."""

    key: ClassVar[str] = "reviews"

    def _rows(self, tenant_id: UUID, now: datetime) -> QuerySet[Memory]:
        return Memory.objects.filter(tenant_id=tenant_id, state=Memory.State.ACTIVE, review_after__lt=now)


class LostEvidence(_PutUpForReview):
    """Whose present version rested on evidence of which nothing is available any more (LN-10, LN-12)."""

    key: ClassVar[str] = "lost_evidence"

    def _rows(self, tenant_id: UUID, now: datetime) -> QuerySet[Memory]:  # noqa: ARG002 - evidence is there or not
        links = EvidenceLink.objects.filter(
            tenant_id=tenant_id, memory_id=OuterRef("pk"), version_id=OuterRef("head_id"), stance=EvidenceLink.Stance.SUPPORTS
        )
        left = links.filter(evidence__availability=Evidence.Availability.AVAILABLE)
        return Memory.objects.filter(Exists(links), ~Exists(left), tenant_id=tenant_id, state=Memory.State.ACTIVE)
