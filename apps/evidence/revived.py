"""Events that a deletion has erased and that say something again (apps/retention/revived.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.evidence.coverage import covered_events
from apps.evidence.models import Content
from apps.retention.models import DeletionJob
from apps.retention.targets import target_of

if TYPE_CHECKING:
    from uuid import UUID


def deletions_with_events_back(tenant_id: UUID) -> list[UUID]:
    """Completed deletions with events whose texts are there again; inside the tenant's context."""
    done = DeletionJob.objects.filter(tenant_id=tenant_id, state=DeletionJob.State.COMPLETED)
    texts = Content.objects.filter(tenant_id=tenant_id).values("id")
    return [
        job.id
        for job in done.select_related("revocation", "namespace")
        if covered_events(target_of(job)).filter(content_id__in=texts).exists()
    ]
