"""Background work of this app (design/03 Jobs)."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from apps.evidence.registries import reader_of
from apps.jobs.registry import (
    GiveUp,
    JobRun,
    Later,
    TryAgain,
    before_work,
    complete_all,
    job_handler,
    require_leases,
)
from apps.memories import extractors
from apps.memories.extraction import Withheld, read_event, read_events, take_up, text_for
from apps.memories.extractors.base import Declined, Extraction, Outage, Unusable
from apps.memories.extractors.guarding import guarded
from apps.memories.extractors.rules import RULES, load_languages
from apps.memories.outside import EXTRACT, EXTRACT_OUTSIDE, REEXTRACT, WITHHELD
from apps.memories.rests import RESTS
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.memories.extraction import Read
    from apps.memories.extractors.base import Extractor, SourceText

log = structlog.get_logger(__name__)

_LEASE = timedelta(seconds=120)  # longer than an extractor outside may take
_MOST_UNUSABLE = 3  # answers to one text; each costs

before_work(load_languages)


def read_together(runs: Sequence[JobRun]) -> bool:
    """Read several new events of one namespace, one lock, one revision and one commit for all."""
    readers = {reader_of(run.key): _reader(run) for run in runs}
    reader = next(iter(readers.values()))
    if len(readers) > 1 or reader is None or reader.outside:
        return False
    with tenant_transaction(runs[0].access) as tx:
        require_leases(runs)
        done = read_events(tx, runs[0].access, [UUID(str(run.payload["event"])) for run in runs], extractor=reader)
        complete_all(runs)
    _say(reader, done)
    return True


@job_handler(REEXTRACT, lease=_LEASE)
@job_handler(EXTRACT_OUTSIDE, lease=_LEASE)
# The nearest is registered first, and has its turn first. Lost in a crash, it is done again from what is stored.
@job_handler(EXTRACT, together=read_together, wait_for_disk=False)
def read(run: JobRun) -> Later | None:
    """Read one event with the extractor that the key of the job names; effect and "done" are one commit.

    An epoch that has stepped since is no reason to drop the work, only to ask the barrier again, which happens inside
    (design/03 Concurrency).
    """
    event_id, reader = UUID(str(run.payload["event"])), _reader(run)
    if reader is None:
        _withhold(run)
        return None
    if reader.outside:
        return _read_outside(run, event_id, reader)
    with tenant_transaction(run.access) as tx:
        run.require_lease()
        done = read_event(tx, run.access, event_id, extractor=reader)
        run.complete()
    _say(reader, [done])
    return None


def _reader(run: JobRun) -> Extractor | None:
    """None for one that is gone, or is outside and not chosen any more: nothing goes out that the operator does not want out."""
    name = reader_of(run.key)
    if name not in extractors.versions():
        return None
    found = extractors.get(name)
    return found if not found.outside or found in extractors.chosen() else None


def _read_outside(run: JobRun, event_id: UUID, reader: Extractor) -> Later | None:
    """Ask between two transactions: nothing is locked meanwhile, and what the answer is for is looked at anew afterwards."""
    rest = RESTS.left(reader.name)
    if rest or run.stopping:
        return Later(rest, not_begun=True)
    try:
        with tenant_transaction(run.access):
            run.require_lease()
            source = text_for(run.access, event_id, reader)
    except Withheld:
        _withhold(run)
        return None
    if source is None:
        extraction = Extraction()
    else:
        run.heartbeat()
        extraction = _asked(run, reader, source)
    with tenant_transaction(run.access) as tx:
        run.require_lease()
        done = take_up(tx, run.access, event_id, reader, extraction)
        run.complete()
    _say(reader, [done])
    return None


def _withhold(run: JobRun) -> None:
    """Done without having read; the mark lets `reextract` ask again when the extractor may read it."""
    with tenant_transaction(run.access):
        run.save_checkpoint({WITHHELD: 1})
        run.complete()
    log.info("event_withheld", reader=reader_of(run.key))


def _asked(run: JobRun, reader: Extractor, source: SourceText) -> Extraction:
    """What the extractor proposes and the text bears out. Its failures are those of the job: counted, back-off, then dead."""
    try:
        extraction = reader.extract(source)
    except Outage as trouble:
        raise TryAgain(trouble.code, seconds=RESTS.begin(reader.name, trouble.seconds)) from None
    except Declined as trouble:
        RESTS.begin(reader.name)  # if it declines everything, not everything is dead at once
        raise GiveUp(trouble.code) from None
    except Unusable as trouble:
        RESTS.end(reader.name)
        if run.attempt >= _MOST_UNUSABLE:
            raise GiveUp(trouble.code) from None
        raise TryAgain(trouble.code) from None
    RESTS.end(reader.name)
    return guarded(source, extraction, read_by_rules=RULES in extractors.chosen())


def _say(reader: Extractor, done: Sequence[Read]) -> None:
    counts: Counter[str] = Counter()
    for one in done:
        counts.update(one.candidates)
    log.info(
        "events_read",
        reader=reader.name,
        events=len(done),
        yielded=sum(one.yielded for one in done),
        sentences=sum(one.sentences for one in done),
        missed=sum(one.missed for one in done),
        **counts,
    )
