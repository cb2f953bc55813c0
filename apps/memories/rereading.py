"""Reading events again: old ones, with another version of an extractor, or one that was chosen later (EV-14, OJ-02)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.audits import log
from apps.core.errors import NotFound
from apps.core.text import fold_key
from apps.evidence.reads import readable_events
from apps.evidence.registries import READING_KINDS
from apps.jobs.models import ProcessingJob
from apps.jobs.queue import enqueue
from apps.memories import extractors
from apps.memories.models import Candidate
from apps.memories.outside import WITHHELD, may_read, recipe
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from uuid import UUID

    from apps.evidence.models import SourceEvent
    from apps.evidence.registries import Extraction
    from apps.memories.extractors.base import Extractor
    from apps.tenants.access import Access

AT_ONCE = 500  # events of one transaction


@dataclass(frozen=True, slots=True)
class Requeued:
    """What became of some events. ``present``: this version has read them, or will; ``withheld``: it may not, or never does."""

    events: int = 0
    queued: int = 0
    present: int = 0
    withheld: int = 0

    def __add__(self, other: Requeued) -> Requeued:
        return Requeued(
            self.events + other.events,
            self.queued + other.queued,
            self.present + other.present,
            self.withheld + other.withheld,
        )


def queue_again(
    access: Access, reader: Extractor, *, project: str | None = None, since: datetime | None = None
) -> Iterator[Requeued]:
    """Queue the events in reach for a version of an extractor, some hundred in each transaction; yields what became of them.

    ``project`` and ``since`` (when they happened) narrow them. Stopped and begun again, it goes on: what is queued or read is
    left alone. What comes of it meets the memories that are there by the rules of every merge. Raises NotFound for a project out
    of reach.
    """
    namespace = None if project is None else access.project_namespace(fold_key(project)).id
    after: UUID | None = None
    while True:
        with tenant_transaction(access) as tx:
            events = readable_events(access).filter(content__isnull=False).order_by("id")
            events = events if namespace is None else events.filter(namespace_id=namespace)
            events = events if since is None else events.filter(occurred_at__gte=since)
            rows = list((events if after is None else events.filter(id__gt=after))[:AT_ONCE])
            if not rows:
                return
            wanted = [row for row in rows if _reads(access, reader, row)]
            again = recipe(reader, again=True)
            _forget_withheld(access, again, wanted)
            known = _known(access, reader, wanted)
            work = [again.work(row.id, row.deletion_epoch, row.namespace_id) for row in wanted if row.id not in known]
            enqueue(tx, access, work)
            done = Requeued(len(rows), len(work), len(known), len(rows) - len(wanted))
            if work:
                log.record(
                    access,
                    "events.requeued",
                    "extractor",
                    extractors.origin(reader),
                    namespace_id=namespace,
                    counts={"events": len(work)},
                )
        after = rows[-1].id
        yield done


def require_extractor(name: str) -> Extractor:
    """The extractor of that name among those this deployment has chosen. Raises NotFound."""
    found = next((reader for reader in extractors.chosen() if reader.name == name), None)
    if found is None:
        raise NotFound
    return found


def _reads(access: Access, reader: Extractor, row: SourceEvent) -> bool:
    return may_read(reader, access, access.by_id[row.namespace_id].scope, row.source_type)


def _forget_withheld(access: Access, again: Extraction, rows: list[SourceEvent]) -> None:
    """Jobs that were not allowed to read make room for one that may."""
    keys = [again.key(row.id, row.deletion_epoch) for row in rows]
    jobs = ProcessingJob.objects.filter(tenant_id=access.tenant_id, kind__in=READING_KINDS, key__in=keys)
    jobs.filter(state=ProcessingJob.State.DONE, checkpoint__has_key=WITHHELD).delete()


def _known(access: Access, reader: Extractor, rows: list[SourceEvent]) -> set[UUID]:
    """The events that this version has proposed something for, or has a job for, whatever became of it.

    Finished jobs are removed after a month: an event that gave nothing is then read once more, with the same result.
    """
    keys = {recipe(reader).key(row.id, row.deletion_epoch): row.id for row in rows}
    jobs = ProcessingJob.objects.filter(tenant_id=access.tenant_id, kind__in=READING_KINDS, key__in=list(keys))
    found = {keys[key] for key in jobs.values_list("key", flat=True)}
    proposed = Candidate.objects.filter(
        tenant_id=access.tenant_id, event_id__in=list(keys.values()), origin=extractors.origin(reader)
    )
    return found | set(proposed.values_list("event_id", flat=True))
