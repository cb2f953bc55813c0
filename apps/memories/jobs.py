"""Background work of this app (design/03 Jobs)."""

from __future__ import annotations

from uuid import UUID

import structlog

from apps.jobs.registry import JobRun, job_handler
from apps.memories.extraction import read_event
from apps.tenants.transactions import tenant_transaction

log = structlog.get_logger(__name__)


@job_handler("extract")
def extract(run: JobRun) -> None:
    """Read one event; effect and "done" are one commit.

    An epoch that has stepped since is no reason to drop the work, only to ask the barrier again, which happens inside (design/03
    Concurrency).
    """
    with tenant_transaction(run.access) as tx:
        run.require_lease()
        done = read_event(tx, run.access, UUID(str(run.payload["event"])))
        run.complete()
    log.info("event_read", yielded=done.yielded, sentences=done.sentences, missed=done.missed, **done.candidates)
