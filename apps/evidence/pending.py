"""Deletion layer ``pending_work``: queued work about events that are to be forgotten (design/05).

The barrier already makes such a job end in nothing; the layer sees that none waits, and that no dead letter is tried again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from uuid import UUID

from django.db import connection
from django.db.models import Q, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from apps.core import clock
from apps.core.ids import public_id
from apps.evidence.coverage import covered_events
from apps.jobs.models import ProcessingJob
from apps.retention.layers import CHUNK, Cleared, Exported, Layer, Target

if TYPE_CHECKING:
    from django.db.models import QuerySet

_OPEN = (ProcessingJob.State.QUEUED, ProcessingJob.State.RETRY_WAIT, ProcessingJob.State.DEAD)
_REVOKED = "revoked"


class PendingWork(Layer):
    """One that a worker is at just now ends by itself, at the barrier."""

    key: ClassVar[str] = "pending_work"

    def discover(self, target: Target) -> int:
        return self._rows(target).count()

    def export(self, target: Target, cursor: str | None) -> Exported:
        """What waits to be done with the subject's events. The events themselves are among the sources."""
        after = Q(id__gt=UUID(cursor)) if cursor else Q()
        jobs = list(self._rows(target).filter(after).order_by("id")[:CHUNK])
        rows = [
            {
                "job_id": public_id("job", job.id),
                "kind": job.kind,
                "state": job.state,
                "attempts": job.attempts,
                "last_error": job.last_error,
                "created_at": job.created_at,
            }
            for job in jobs
        ]
        return Exported(rows, str(jobs[-1].id) if len(jobs) == CHUNK else None)

    def clear(self, target: Target, cursor: str | None) -> Cleared:  # noqa: ARG002 - what is cleared is not found again
        ids = list(self._rows(target).order_by("id").select_for_update(skip_locked=True).values_list("id", flat=True)[:CHUNK])
        ProcessingJob.objects.filter(tenant_id=target.tenant_id, id__in=ids).update(
            state=ProcessingJob.State.DISCARDED, finished_at=clock.now(), last_error=_REVOKED
        )
        return Cleared(len(ids), str(ids[-1]) if len(ids) == CHUNK else None)

    def verify(self, target: Target) -> int:
        """Counted from the events' side: the jobs whose key begins with one of them."""
        events = list(covered_events(target).values_list("id", flat=True))
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM evidence_sourceevent e JOIN jobs_processingjob j ON j.tenant_id = e.tenant_id "
                "AND split_part(j.key, ':', 1) = e.id::text WHERE e.tenant_id = %s AND e.id = ANY(%s) AND j.kind = 'extract' "
                "AND j.state IN ('queued', 'retry_wait', 'dead')",
                [target.tenant_id, events],
            )
            return int(cursor.fetchone()[0])

    def _rows(self, target: Target) -> QuerySet[ProcessingJob]:
        names = covered_events(target).annotate(name=Cast("pk", TextField())).values("name")
        rows = ProcessingJob.objects.filter(tenant_id=target.tenant_id, state__in=_OPEN)
        return rows.annotate(about=KeyTextTransform("event", "payload")).filter(about__in=names)
