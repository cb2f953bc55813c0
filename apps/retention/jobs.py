"""Background work of this floor: deletions."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import structlog

from apps.jobs.registry import JobRun, Later, job_handler, register_gate
from apps.retention.erasure import work_off
from apps.retention.ledger import guard, reapplication, records
from apps.retention.ledger.file import LedgerTroubleError
from apps.tenants.console_access import SERVICE_OPERATIONS
from apps.tenants.models import Operation

log = structlog.get_logger(__name__)

_DELETIONS = frozenset({"deletion"})


@job_handler("deletion", lease=timedelta(seconds=60), max_attempts=20, operations=SERVICE_OPERATIONS | {Operation.MEMORY_DELETE})
def erase(run: JobRun) -> Later | None:
    """Work a deletion off. It asks for another turn when its time is up, so that one large deletion does not hold the others."""
    return None if work_off(run.access, UUID(str(run.payload["deletion"])), run) else Later(0)


def keep_ledger() -> frozenset[str] | None:
    """Before each round of a worker: write what waits to be written, apply again what a restored database lacks.

    While database and ledger do not agree only deletions are worked off: any other job might read, or send outside, what was
    revoked after the backup.
    """
    try:
        standing = guard.standing()
        if standing in {guard.Standing.AHEAD, guard.Standing.REAPPLYING, guard.Standing.BEHIND}:
            reapplication.mend()
        records.write_pending()
    except LedgerTroubleError as trouble:
        log.warning("ledger_trouble", code=trouble.code)
    return None if guard.is_whole() else _DELETIONS


register_gate(keep_ledger)
