"""The only place that reads the time.

Rules never ask what time it is: they take ``as_of``. Everything that has to stamp a row calls :func:`now`; tests stop
or move the clock with :func:`set_clock`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

_clock: Callable[[], datetime] | None = None


def now() -> datetime:
    """The current instant, aware, in UTC, with microseconds."""
    return datetime.now(UTC) if _clock is None else _clock()


def monotonic() -> float:
    """Seconds on a clock that never goes back; for measuring how long something took, never for deciding."""
    return time.monotonic()


def pause(seconds: float) -> None:
    """Let others go on for a while; only inside a bounded wait."""
    time.sleep(seconds)


@contextmanager
def set_clock(clock: Callable[[], datetime]) -> Iterator[None]:
    """Replace the clock inside a ``with`` block; for tests only."""
    global _clock  # noqa: PLW0603 - one clock per process is the point
    before, _clock = _clock, clock
    try:
        yield
    finally:
        _clock = before
