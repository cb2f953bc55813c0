"""From the database into the ledger: a record is made with the row it is about, and written to the file after the commit.

The records are the truth and the file follows them: a crash between the two loses nothing. It is written at once by whoever
committed, and once more by a job, for the times when the first one could not.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import transaction

from apps.core import clock
from apps.core.ids import new_id
from apps.retention.ledger import file
from apps.retention.ledger.entries import drafts_of
from apps.retention.ledger.file import NAME, LedgerTroubleError, Reader, Trouble
from apps.retention.models import LedgerRecord, LedgerState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta
    from uuid import UUID

log = structlog.get_logger(__name__)

AT_ONCE: Final = 500
_NAME: Final = ("kind", "object_id")

_threads = threading.RLock()  # one thread of a process reads or writes at a time
_readers: dict[Path, Reader] = {}


def ledger_folder() -> Path:
    return Path(settings.LEDGER_FOLDER)


def ledger_path() -> Path:
    return ledger_folder() / NAME


def copy_folder() -> Path | None:
    """The second location, or None where none is set."""
    return Path(settings.LEDGER_COPY) if settings.LEDGER_COPY else None


def reader() -> Reader:
    """This process's knowledge of the file; use it under :func:`exclusively`."""
    path = ledger_path()
    if path not in _readers:
        _readers[path] = Reader(path)
    return _readers[path]


def exclusively() -> threading.RLock:
    """The lock of this process's readers."""
    return _threads


def note(kind: str, object_id: UUID, *, namespaces: Sequence[UUID] = (), erasable: Sequence[UUID] = ()) -> None:
    """Record that something has to stand in the ledger, in the open transaction; it is written there after the commit."""
    LedgerRecord.objects.bulk_create(
        [LedgerRecord(kind=kind, object_id=object_id, namespaces=list(namespaces), erasable=list(erasable))],
        ignore_conflicts=True,
    )
    transaction.on_commit(_write_now, robust=True)


def write_pending() -> int:
    """Write every record that the file lacks, and the second location; returns how many were written.

    Idempotent: what a writer before us put into the file and did not note any more is found there. Opens transactions of its
    own. Raises LedgerTroubleError, also when the ledger that is there is not the one of this database.
    """
    written = 0
    while True:
        pending = list(LedgerRecord.objects.filter(number=None).order_by("recorded_at", "id")[:AT_ONCE])
        if not pending and written == 0 and not _copy_is_due():
            return 0
        drafts = drafts_of(pending)
        with _threads, file.writing(ledger_folder()):
            state = ensure_ledger(begin=bool(pending))
            if state is None:
                return written
            # In this order: what somebody else has written since we looked stands behind the state, or has its number by now.
            known = _checked(state)
            waiting = set(LedgerRecord.objects.filter(pk__in=[one.pk for one in pending], number=None).values_list(*_NAME))
            missing = [draft for draft in drafts if draft.name in waiting and draft.name not in known]
            if missing:
                file.append(reader(), missing)
            _copy()
        advance()
        written += len(missing)
        if len(pending) < AT_ONCE:
            return written


def ensure_ledger(*, begin: bool) -> LedgerState | None:
    """The state row, made with the ledger's header where there is neither; the caller holds both locks.

    None where nothing was ever recorded. Raises LedgerTroubleError.
    """
    state = LedgerState.objects.first()
    path = ledger_path()
    if not path.exists():
        if state is not None:
            raise LedgerTroubleError(Trouble.MISSING)
        if not begin:
            return None
        file.begin(path, new_id())
    if state is None:
        known = reader()
        known.catch_up()
        if known.installation is None:
            raise LedgerTroubleError(Trouble.CORRUPT)
        header = next_header_hash(known)
        LedgerState.objects.bulk_create(
            [LedgerState(installation=known.installation, number=0, hash=header)], ignore_conflicts=True
        )
        state = LedgerState.objects.get()
    return state


def next_header_hash(known: Reader) -> str:
    """The hash of the header. Raises LedgerTroubleError."""
    found, _ = known.after(0)
    if found is None:
        raise LedgerTroubleError(Trouble.CORRUPT)
    return found


def _checked(state: LedgerState) -> set[tuple[str, UUID]]:
    """What stands behind the state's entry; raises LedgerTroubleError where the file does not go with the state."""
    known = reader()
    found, marks = known.after(state.number)
    if known.installation != state.installation:
        raise LedgerTroubleError(Trouble.FOREIGN)
    if found != state.hash:
        raise LedgerTroubleError(Trouble.BEHIND)
    return {mark.name for mark in marks}


def advance() -> LedgerState | None:
    """Note on records which entry they became, and move the state over every entry that has its record; returns the state.

    It never passes an entry without a record: that one came after the backup which this database was restored from.
    """
    with _threads, transaction.atomic():
        state = LedgerState.objects.select_for_update().first()
        if state is None:
            return None
        known = reader()
        found, marks = known.after(state.number)
        if known.installation != state.installation or found != state.hash:
            return state
        names = {(record.kind, record.object_id): record for record in _records_of([mark.object_id for mark in marks])}
        for mark in marks:
            record = names.get(mark.name)
            if record is None:
                break
            if record.number != mark.number or record.hash != mark.hash:
                LedgerRecord.objects.filter(number=mark.number).exclude(pk=record.pk).update(number=None, hash="")
                LedgerRecord.objects.filter(pk=record.pk).update(number=mark.number, hash=mark.hash)
            state.number, state.hash = mark.number, mark.hash
        state.save(update_fields=["number", "hash"])
        return state


def pending_since(longer_than: timedelta) -> int:
    """How many records have waited for longer than that to be written."""
    return LedgerRecord.objects.filter(number=None, recorded_at__lt=clock.now() - longer_than).count()


def is_written(kind: str, object_id: UUID) -> bool:
    """Whether the chain, read from its beginning, holds this entry. Raises LedgerTroubleError."""
    return any(entry.kind == kind and entry.object_id == object_id for entry in file.entries(ledger_path()))


def _records_of(objects: Sequence[UUID]) -> list[LedgerRecord]:
    return list(LedgerRecord.objects.filter(object_id__in=objects)) if objects else []


def _copy() -> None:
    """The second location; trouble there is logged and shown by the health check, and stops nothing."""
    folder = copy_folder()
    if folder is None:
        return
    try:
        file.bring_copy_up_to_date(ledger_path(), folder)
    except LedgerTroubleError as trouble:
        log.warning("ledger_copy_failed", code=trouble.code)


def _copy_is_due() -> bool:
    folder = copy_folder()
    if folder is None:
        return False
    try:
        return not file.copy_is_current(ledger_path(), folder)
    except OSError:
        return True


def _write_now() -> None:
    """After a commit; who asked for the deletion gets their answer in any case."""
    try:
        write_pending()
    except LedgerTroubleError as trouble:
        log.warning("ledger_not_written", code=trouble.code)
    except DatabaseError as trouble:
        log.warning("ledger_not_written", code=type(trouble).__name__)
