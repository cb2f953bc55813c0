"""How long a failed piece of work waits (OJ-07): longer each time, never longer than a cap, never in step with others."""

from __future__ import annotations

import secrets
from datetime import timedelta

FIRST = timedelta(seconds=1)
CAP = timedelta(minutes=10)
_STEPS = 1 << 20
_MOST_DOUBLINGS = 32  # beyond that the cap has long been reached and the number would only grow


def delay(attempt: int, *, spread: float | None = None) -> timedelta:
    """The wait after the ``attempt``-th failure (1 is the first).

    Doubles from one second up to ten minutes. ``spread`` between 0 and 1 places it between half of that and all of it; drawn
    by lot when not given, so that work that failed together does not come back together.
    """
    doublings: int = min(max(attempt, 1) - 1, _MOST_DOUBLINGS)
    whole = min(FIRST * (1 << doublings), CAP)
    share = secrets.randbelow(_STEPS) / _STEPS if spread is None else spread
    return whole * (0.5 + 0.5 * share)
