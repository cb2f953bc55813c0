"""The file of the ledger: one JSON object a line, each with the hash of the one before, written to the disk before it counts.

Nothing here knows the database. A writer holds the lock of the folder, so no two interleave. One that dies in the middle of a
line leaves a tail without a line end; the next writer cuts it off and loses no whole entry by that, because an entry counts
only with its line end.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import orjson

from apps.core import clock
from apps.core.canonical import canonical_json, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FORMAT: Final = "memory-platform/ledger/1"
NAME: Final = "revocations.jsonl"
HEADER: Final = "ledger"  # the kind of the first entry, which names the installation
_LOCK: Final = "lock"
_PATIENCE: Final = 10.0  # seconds for another writer to end; writing takes milliseconds
_LOOK_EVERY: Final = 0.01
_PIECE: Final = 1 << 20


class Trouble(StrEnum):
    """Why a ledger cannot be used."""

    MISSING = "missing"
    UNREADABLE = "unreadable"
    UNWRITABLE = "unwritable"
    CORRUPT = "corrupt"  # the chain is broken: altered, cut in the middle, or put in another order
    BUSY = "busy"
    FOREIGN = "foreign"  # of another installation
    BEHIND = "behind"  # it lacks what the database has written there


class LedgerTroubleError(Exception):
    """The ledger cannot be used as it should; ``code`` says why."""

    def __init__(self, code: Trouble) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry to be: ``body`` holds ids, numbers, instants and codes, never words."""

    kind: str
    object_id: UUID
    tenant_id: UUID | None
    body: dict[str, Any]

    @property
    def name(self) -> tuple[str, UUID]:
        """What makes an entry this one and no other."""
        return self.kind, self.object_id


@dataclass(frozen=True, slots=True)
class Entry(Draft):
    """One entry as it stands in the file."""

    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What is remembered of an entry: where it stands and what it is about."""

    number: int
    hash: str
    kind: str
    object_id: UUID

    @property
    def name(self) -> tuple[str, UUID]:
        return self.kind, self.object_id


class Reader:
    """A process's knowledge of one file, brought up to date by reading what is new; every line read is checked.

    Marks are kept for the entries behind ``floor`` only: what the database has recorded need not be remembered here.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget(0)

    def _forget(self, floor: int) -> None:
        self.installation: UUID | None = None
        self.number = -1
        self.hash = ""
        self.offset = 0
        self._inode = 0
        self._floor = floor
        self._floor_hash: str | None = None
        self._recent: list[Mark] = []

    def catch_up(self) -> None:
        """Read what was appended since. Raises LedgerTroubleError."""
        try:
            with self.path.open("rb") as file:
                info = os.fstat(file.fileno())
                if info.st_ino != self._inode or info.st_size < self.offset:
                    self._forget(self._floor)  # another file, or one that has lost something: read from its beginning
                    self._inode = info.st_ino
                if info.st_size == self.offset:
                    return
                file.seek(self.offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        return  # somebody writes it at this moment, or died while doing so
                    self._take(_parsed(line, self.number, self.hash), len(line))
        except FileNotFoundError:
            raise LedgerTroubleError(Trouble.MISSING) from None
        except OSError:
            raise LedgerTroubleError(Trouble.UNREADABLE) from None

    def after(self, number: int) -> tuple[str | None, list[Mark]]:
        """The hash of the entry ``number`` (None: the file does not reach that far) and the entries behind it.

        Entries up to ``number`` are forgotten. Asked for an earlier one, the file is read again. Raises LedgerTroubleError.
        """
        if number < self._floor:
            self._forget(number)
        self.catch_up()
        if number > self.number or self.number < 0:
            return None, []
        if number > self._floor:
            self._floor_hash = self._recent[number - self._floor - 1].hash
            self._recent = self._recent[number - self._floor :]
            self._floor = number
        return self._floor_hash, list(self._recent)

    def _take(self, entry: Entry, length: int) -> None:
        if entry.number == 0:
            self.installation = entry.object_id
        if entry.number > self._floor:
            self._recent.append(Mark(entry.number, entry.hash, entry.kind, entry.object_id))
        elif entry.number == self._floor:
            self._floor_hash = entry.hash
        self.number, self.hash = entry.number, entry.hash
        self.offset += length


def entries(path: Path) -> Iterator[Entry]:
    """Every whole entry behind the header, checked from the beginning. Raises LedgerTroubleError."""
    number, previous = -1, ""
    try:
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    return
                entry = _parsed(line, number, previous)
                number, previous = entry.number, entry.hash
                if entry.kind != HEADER:
                    yield entry
    except FileNotFoundError:
        raise LedgerTroubleError(Trouble.MISSING) from None
    except OSError:
        raise LedgerTroubleError(Trouble.UNREADABLE) from None


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Be the only writer. Raises LedgerTroubleError: busy, unwritable."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        raise LedgerTroubleError(Trouble.UNWRITABLE) from None
    try:
        deadline = clock.monotonic() + _PATIENCE
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if clock.monotonic() > deadline:
                raise LedgerTroubleError(Trouble.BUSY)
            clock.pause(_LOOK_EVERY)
        yield
    finally:
        os.close(descriptor)


def begin(path: Path, installation: UUID) -> None:
    """Make the file with its header; the caller holds the lock. Raises LedgerTroubleError."""
    header = _line(0, "", Draft(HEADER, installation, None, {"format": FORMAT}))
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _write(descriptor, header)
        finally:
            os.close(descriptor)
        part.rename(path)
        _keep_name(path.parent)
    except OSError:
        raise LedgerTroubleError(Trouble.UNWRITABLE) from None


def append(reader: Reader, drafts: Sequence[Draft]) -> None:
    """Write entries behind the last one and wait for the disk; the caller holds the lock and has caught up.

    Raises LedgerTroubleError (unwritable), and then the file is as it was or has a tail that counts for nothing.
    """
    number, previous = reader.number, reader.hash
    lines = []
    for draft in drafts:
        number += 1
        line = _line(number, previous, draft)
        previous = orjson.loads(line)["hash"]
        lines.append(line)
    try:
        descriptor = os.open(reader.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            os.ftruncate(descriptor, reader.offset)  # whatever a dead writer left behind the last whole line
            os.lseek(descriptor, reader.offset, os.SEEK_SET)
            try:
                _write(descriptor, b"".join(lines))
            except OSError:
                with suppress(OSError):
                    os.ftruncate(descriptor, reader.offset)
                raise
        finally:
            os.close(descriptor)
    except OSError:
        raise LedgerTroubleError(Trouble.UNWRITABLE) from None
    reader.catch_up()


def bring_copy_up_to_date(path: Path, folder: Path) -> None:
    """Append to the second location what it lacks.

    Raises LedgerTroubleError: unwritable, or corrupt where what is there is no beginning of ours.
    """
    copy = folder / NAME
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(copy, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            size = _common(descriptor, path)
            os.ftruncate(descriptor, size)
            os.lseek(descriptor, size, os.SEEK_SET)
            with path.open("rb") as file:
                file.seek(size)
                while piece := file.read(_PIECE):
                    _write(descriptor, piece)
        finally:
            os.close(descriptor)
        _keep_name(folder)
    except OSError:
        raise LedgerTroubleError(Trouble.UNWRITABLE) from None


def copy_is_current(path: Path, folder: Path) -> bool:
    """Whether the second location ends as the file does. Raises OSError when one of them cannot be read."""
    copy = folder / NAME
    if not path.exists():
        return True
    return copy.exists() and copy.stat().st_size == path.stat().st_size and _last_line(copy) == _last_line(path)


def _common(descriptor: int, path: Path) -> int:
    """How many bytes of the copy are a beginning of the file, in whole lines. Raises LedgerTroubleError (corrupt)."""
    size = os.fstat(descriptor).st_size
    with os.fdopen(os.dup(descriptor), "rb") as copy, path.open("rb") as file:
        whole = _whole_lines(copy, size)
        if whole > os.fstat(file.fileno()).st_size:
            raise LedgerTroubleError(Trouble.CORRUPT)  # it has more than we do: the file has lost something
        # The last line has the hash of everything before it.
        start = _start_of_last_line(copy, whole)
        copy.seek(start)
        file.seek(start)
        if copy.read(whole - start) != file.read(whole - start):
            raise LedgerTroubleError(Trouble.CORRUPT)
    return whole


def _last_line(path: Path) -> bytes:
    with path.open("rb") as file:
        whole = _whole_lines(file, os.fstat(file.fileno()).st_size)
        start = _start_of_last_line(file, whole)
        file.seek(start)
        return file.read(whole - start)


def _whole_lines(file: Any, size: int) -> int:  # noqa: ANN401 - a binary file, buffered or not
    """The size without a tail that has no line end."""
    return _find_line_end(file, size)


def _start_of_last_line(file: Any, whole: int) -> int:  # noqa: ANN401 - as above
    return _find_line_end(file, whole - 1) if whole else 0


def _find_line_end(file: Any, before: int) -> int:  # noqa: ANN401 - as above
    """The place behind the last line end before a place, or 0."""
    end = before
    while end > 0:
        start = max(0, end - _PIECE)
        file.seek(start)
        found: int = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _line(number: int, previous: str, draft: Draft) -> bytes:
    entry = {
        "number": number,
        "previous": previous,
        "at": clock.now().astimezone(UTC).isoformat(),
        "kind": draft.kind,
        "object": str(draft.object_id),
        "tenant": None if draft.tenant_id is None else str(draft.tenant_id),
        "body": draft.body,
    }
    entry["hash"] = sha256_hex(canonical_json(entry))
    return canonical_json(entry).encode() + b"\n"


def _parsed(line: bytes, number: int, previous: str) -> Entry:
    """A line as the entry behind ``number``. Raises LedgerTroubleError (corrupt) unless it is exactly that."""
    try:
        entry = orjson.loads(line)
        claimed = entry.pop("hash")
        right = (
            entry["number"] == number + 1
            and entry["previous"] == previous
            and sha256_hex(canonical_json(entry)) == claimed
            and (number >= 0 or (entry["kind"] == HEADER and entry["body"]["format"] == FORMAT))
        )
        tenant = entry["tenant"]
        found = Entry(
            kind=entry["kind"],
            object_id=UUID(entry["object"]),
            tenant_id=None if tenant is None else UUID(tenant),
            body=entry["body"],
            number=entry["number"],
            hash=claimed,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LedgerTroubleError(Trouble.CORRUPT) from None
    if not right:
        raise LedgerTroubleError(Trouble.CORRUPT)
    return found


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.fsync(descriptor)


def _keep_name(folder: Path) -> None:
    """A new file's name is on the disk only when its folder is."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
