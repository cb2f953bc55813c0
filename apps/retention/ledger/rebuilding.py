"""A ledger that is missing, broken or too short is made again: from its second location, else from the database.

Only an operator decides this. The database may be the restored one, and then what the lost ledger alone knew is lost as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db import transaction

from apps.core import clock
from apps.core.ids import new_id
from apps.retention.ledger import file, guard, reapplication, records
from apps.retention.ledger.file import NAME, LedgerTroubleError, Reader, Trouble
from apps.retention.models import LedgerRecord, LedgerState

if TYPE_CHECKING:
    from pathlib import Path

FROM_COPY: Final = "copy"
FROM_DATABASE: Final = "database"


def rebuild() -> str:
    """Put a whole ledger in its place and set the old one aside; returns where it came from. Raises LedgerTroubleError.

    What the present file still says before the place where it is broken is applied first, so that it is not lost.
    """
    guard.forget()
    if _from_copy():
        return FROM_COPY
    _keep_what_can_be_read()
    with records.exclusively(), file.writing(records.ledger_folder()):
        state = LedgerState.objects.first()
        installation = new_id() if state is None else state.installation
        path = records.ledger_path()
        _set_aside(path)
        copy = records.copy_folder()
        if copy is not None:
            _set_aside(copy / NAME)
        file.begin(path, installation)
        header = records.next_header_hash(Reader(path))
        with transaction.atomic():
            LedgerRecord.objects.exclude(number=None).update(number=None, hash="")
            reapplying = state is not None and state.reapplying
            LedgerState.objects.update_or_create(
                pk=1, defaults={"installation": installation, "number": 0, "hash": header, "reapplying": reapplying}
            )
    records.write_pending()
    return FROM_DATABASE


def _from_copy() -> bool:
    """Take the second location where it has everything that the database has written, and goes with it."""
    folder, path = records.copy_folder(), records.ledger_path()
    state = LedgerState.objects.first()
    if folder is None or state is None:
        return False
    known = Reader(folder / NAME)
    try:
        found, _ = known.after(state.number)
        if known.installation != state.installation or found != state.hash or _is_whole(path, known):
            return False
        with records.exclusively(), file.writing(records.ledger_folder()):
            _set_aside(path)
            file.bring_copy_up_to_date(folder / NAME, records.ledger_folder())
    except LedgerTroubleError:
        return False
    return True


def _is_whole(path: Path, copy: Reader) -> bool:
    """Whether the file reaches as far as its copy: then the copy has nothing to offer."""
    here = Reader(path)
    try:
        here.catch_up()
    except LedgerTroubleError:
        return False
    return here.number >= copy.number


def _keep_what_can_be_read() -> None:
    """Apply the entries before the break that this database lacks. Of another installation's ledger nothing is taken."""
    state = LedgerState.objects.first()
    try:
        reader = Reader(records.ledger_path())
        reader.catch_up()
    except LedgerTroubleError as trouble:
        if trouble.code in {Trouble.MISSING, Trouble.UNREADABLE}:
            return
    if state is None or reader.installation == state.installation:
        reapplication.apply_readable(records.ledger_path())


def _set_aside(path: Path) -> None:
    if path.exists():
        path.rename(path.with_name(f"{path.stem}.{clock.now():%Y%m%dT%H%M%S%f}.aside"))
