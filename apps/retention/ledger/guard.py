"""The restore guard: does this database have everything that stands in the ledger? While it does not, nothing is given out.

Asked on every request, so it costs one look at the file's name and one row: what both say is compared, and only when either has
changed since is anything read. Neither is believed alone. The row of a restored database names an entry of an older time, and
then the ones behind it are looked up one by one; a row without its file, or a file of somebody else, is no agreement either.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias
from uuid import UUID

from django.db import connection

from apps.core import clock
from apps.core.prepared import fetch_prepared
from apps.retention.ledger import file, records
from apps.retention.ledger.file import Entry, LedgerTroubleError, Trouble
from apps.retention.ledger.records import exclusively, ledger_path, reader
from apps.retention.models import LedgerRecord, LedgerState

if TYPE_CHECKING:
    from pathlib import Path

    from apps.retention.ledger.file import Mark

_STATE: Final = "SELECT installation, number, hash, reapplying FROM retention_ledgerstate"
_ONE_REQUEST: Final = 0.25  # seconds
_LATE: Final = timedelta(minutes=1)  # a record that waits longer than this to be written is shown


class Standing(StrEnum):
    """How database and ledger stand to each other."""

    NONE = "none"  # nothing was ever recorded
    OK = "ok"
    AHEAD = "ahead"  # the ledger has what the database lacks: it was restored
    REAPPLYING = "reapplying"  # that is applied again, and its deletions are not completed
    BEHIND = "behind"  # the ledger lacks what the database had written there: it was cut, or an old one was put back
    FOREIGN = "foreign"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    CORRUPT = "corrupt"

    @property
    def whole(self) -> bool:
        """Whether memory may be given out. Everything that is not known to be right is treated as a restored database."""
        return self in {Standing.NONE, Standing.OK}


@dataclass(frozen=True, slots=True)
class State:
    """The row of :class:`LedgerState`, read without the ORM."""

    installation: UUID
    number: int
    hash: str
    reapplying: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that differs, by reading both from beginning to end."""

    entries: int
    missing: list[Entry]  # in the ledger, not in the database, in the ledger's order
    lost: int  # written once as the database says, and not in the ledger


_Signature: TypeAlias = "tuple[int, int, int] | None"
_Key: TypeAlias = "tuple[str, _Signature, State | None]"


class _Known:
    """The last answer of this process, and what it was about."""

    key: _Key | None = None
    standing: Standing = Standing.NONE
    whole: tuple[str, str] | None = None  # ledger and database that agreed a moment ago
    whole_at: float = 0.0


def standing() -> Standing:
    """How they stand now; quick where nothing has changed. Inside or outside of any context. Raises what the database raises."""
    path = ledger_path()
    try:
        signature = _signature(path)
    except OSError:
        return Standing.UNREADABLE
    state = _state()
    key = (str(path), signature, state)
    if _Known.key == key:
        return _Known.standing
    with exclusively():
        found, settled = _assess(state, signature)
        if settled:
            _Known.key, _Known.standing = key, found
        return found


def is_whole() -> bool:
    """The check of apps/retention/readiness.py. A good answer serves everything that one request reads, for a moment."""
    asked = (str(ledger_path()), connection.settings_dict["NAME"])
    now = clock.monotonic()
    if _Known.whole == asked and now - _Known.whole_at < _ONE_REQUEST:
        return True
    if not standing().whole:
        _Known.whole = None
        return False
    _Known.whole, _Known.whole_at = asked, now
    return True


def forget() -> None:
    """Ask anew whatever comes next."""
    _Known.key = _Known.whole = None


def compare() -> Comparison:
    """Read ledger and records whole. Raises LedgerTroubleError when the chain is broken, missing or somebody else's."""
    state = LedgerState.objects.first()
    if state is None and not ledger_path().exists():
        return Comparison(0, [], 0)
    known = set(LedgerRecord.objects.values_list("kind", "object_id"))
    written = set(LedgerRecord.objects.exclude(number=None).values_list("kind", "object_id"))
    count, missing = 0, []
    for entry in file.entries(ledger_path()):
        count += 1
        written.discard(entry.name)
        if entry.name not in known:
            missing.append(entry)
    with exclusively():
        reader().catch_up()
        if state is not None and reader().installation != state.installation:
            raise LedgerTroubleError(Trouble.FOREIGN)
    return Comparison(count, missing, len(written))


def late() -> int:
    """Records that should stand in the ledger by now and do not."""
    return records.pending_since(_LATE)


def copy_standing() -> str:
    """``none`` where no second location is set, ``ok``, or ``failing``: it is not what the ledger is."""
    folder = records.copy_folder()
    if folder is None:
        return "none"
    try:
        return "ok" if file.copy_is_current(ledger_path(), folder) else "failing"
    except OSError:
        return "failing"


def _assess(state: State | None, signature: _Signature) -> tuple[Standing, bool]:
    """What the two say, and whether it stays true as long as neither changes."""
    if signature is None:
        return (Standing.NONE, True) if state is None else (Standing.MISSING, True)
    known = reader()
    try:
        found, marks = known.after(0 if state is None else state.number)
    except LedgerTroubleError as trouble:
        return Standing(trouble.code), False
    if state is None:
        return (Standing.AHEAD if marks else Standing.NONE), False
    if known.installation != state.installation or found != state.hash:
        return (Standing.BEHIND if known.installation == state.installation else Standing.FOREIGN), True
    # With entries behind the state's this holds for this moment only: a database that was restored may have the same state.
    agree = Standing.REAPPLYING if state.reapplying else Standing.OK
    return (agree if _recorded(marks) else Standing.AHEAD), not marks


def _recorded(marks: list[Mark]) -> bool:
    if not marks:
        return True
    names = {mark.name for mark in marks}
    found = LedgerRecord.objects.filter(object_id__in=[mark.object_id for mark in marks]).values_list("kind", "object_id")
    return names <= set(found)


def _signature(path: Path) -> _Signature:
    try:
        info = os.stat(path)  # noqa: PTH116 - on the way of every request
    except FileNotFoundError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns


def _state() -> State | None:
    rows = fetch_prepared(_STATE, [])
    return State(*rows[0]) if rows else None
