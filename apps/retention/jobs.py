"""Background work of this floor: deletions."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from apps.jobs.registry import JobRun, Later, job_handler
from apps.retention.erasure import work_off
from apps.tenants.console_access import SERVICE_OPERATIONS
from apps.tenants.models import Operation


@job_handler("deletion", lease=timedelta(seconds=60), max_attempts=20, operations=SERVICE_OPERATIONS | {Operation.MEMORY_DELETE})
def erase(run: JobRun) -> Later | None:
    """Work a deletion off. It asks for another turn when its time is up, so that one large deletion does not hold the others."""
    return None if work_off(run.access, UUID(str(run.payload["deletion"])), run) else Later(0)
