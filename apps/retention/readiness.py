"""Whether the revocation barrier can be read whole right now; while it cannot, nothing of memory is given out (FF-01, DJ-10).

Whoever knows of a reason against it registers a check in AppConfig.ready(): a ledger that is ahead of the database, a restore
that is still being made good (apps/retention/ledger/guard.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from apps.core.errors import AuthorityUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

log = structlog.get_logger(__name__)

_checks: list[Callable[[], bool]] = []


def register_barrier_check(check: Callable[[], bool]) -> None:
    """``check`` says whether the barrier is whole as far as it knows; it is asked on every query, so it must be quick."""
    _checks.append(check)


def barrier_is_whole() -> bool:
    """Does every check say so? One that fails to answer says no."""
    for check in _checks:
        try:
            whole = check()
        except Exception as trouble:  # noqa: BLE001 - whatever is wrong with a check, the barrier is not known to be whole
            log.warning("barrier_unreadable", error=type(trouble).__name__)
            whole = False
        if not whole:
            return False
    return True


def require_whole() -> None:
    """Raises AuthorityUnavailable (503)."""
    if not barrier_is_whole():
        raise AuthorityUnavailable
