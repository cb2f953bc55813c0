"""Background work: exports."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from apps.jobs.registry import JobRun, Later, job_handler
from apps.retention.exports.working import work_off
from apps.tenants.console_access import SERVICE_OPERATIONS
from apps.tenants.models import Operation


@job_handler("subject_export", lease=timedelta(seconds=60), operations=SERVICE_OPERATIONS | {Operation.MEMORY_DELETE})
def export(run: JobRun) -> Later | None:
    """Go on with an export. It may erase, because what an export holds is found by trying a deletion and undoing it."""
    return None if work_off(run.access, UUID(str(run.payload["export"])), run) else Later(0)
