"""The restore guard as a whole: compare, apply, work off, look again. What ``restore_guard`` and ``restore`` both do."""

from __future__ import annotations

from typing import Any

from apps.jobs.runner import drain
from apps.retention.ledger import guard, reapplication, rebuilding, records
from apps.retention.ledger.file import LedgerTroubleError
from apps.retention.revived import find_revived, forget_revived


class Unrepairable(Exception):
    """A ledger could not be made anew; the message says what to look at."""


def make_good(*, rebuild: bool = False) -> dict[str, Any]:
    """Compare, apply what is missing, work deletions off, and say how it stands then."""
    applied = cleared = 0
    rebuilt = None
    try:
        if rebuild:
            rebuilt = rebuilding.rebuild()
        records.write_pending()
        guard.forget()
        if not guard.standing().whole or guard.compare().missing:
            applied = reapplication.mend().applied
        cleared = forget_revived()
        drain(kinds=["deletion"])
        if guard.standing() == guard.Standing.REAPPLYING:
            reapplication.mend()
    except LedgerTroubleError as trouble:
        if rebuild:
            message = f"The ledger cannot be made: {trouble.code}. Check who owns {records.ledger_folder()}."
            raise Unrepairable(message) from trouble
    return check() | {"applied": applied, "cleared_again": cleared, "rebuilt": rebuilt}


def check() -> dict[str, Any]:
    """How they stand, by reading both whole; changes nothing."""
    guard.forget()
    standing = guard.standing().value
    entries = missing = lost = 0
    try:
        found = guard.compare()
        entries, missing, lost = found.entries, len(found.missing), found.lost
        if lost and standing == guard.Standing.OK:
            standing = guard.Standing.BEHIND.value
    except LedgerTroubleError as trouble:
        standing = trouble.code.value
    return {
        "standing": standing,
        "entries": entries,
        "missing": missing,
        "lost": lost,
        "applied": 0,
        "cleared_again": 0,
        "rebuilt": None,
        "open_deletions": reapplication.open_deletions(),
        "unwritten": guard.late(),
        "revived": find_revived(),
        "copy": guard.copy_standing(),
    }


def is_fine(found: dict[str, Any]) -> bool:
    agree = guard.Standing(found["standing"]).whole
    return (
        agree and found["copy"] != "failing" and not (found["missing"] or found["lost"] or found["unwritten"] or found["revived"])
    )
