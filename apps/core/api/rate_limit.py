"""Requests per minute and credential, counted exactly across all web processes (design/06 429).

The count is one row per credential in an unlogged table: one statement per request, nothing to sweep in daily work, and a crash
of the database forgets at most a minute of counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import connection

from apps.core import clock
from apps.core.errors import RateLimited
from apps.core.limits import LIMITS
from apps.core.models.rate_window import RateWindow

if TYPE_CHECKING:
    from uuid import UUID

WINDOW = timedelta(minutes=1)
POLICY = "credential"

# A process whose clock is a little behind counts into the window that is open; one that finds a window far ahead starts anew.
_COUNT = """
INSERT INTO core_rate_window AS had (credential_id, window_started_at, requests) VALUES (%s, %s, 1)
ON CONFLICT (credential_id) DO UPDATE SET
    requests = CASE WHEN had.window_started_at >= excluded.window_started_at
                     AND had.window_started_at <= excluded.window_started_at + interval '1 minute'
                    THEN had.requests + 1 ELSE 1 END,
    window_started_at = CASE WHEN had.window_started_at <= excluded.window_started_at + interval '1 minute'
                    THEN greatest(had.window_started_at, excluded.window_started_at) ELSE excluded.window_started_at END
RETURNING requests, window_started_at
"""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a credential has left in its window, and the seconds until the next one."""

    limit: int
    used: int
    reset: int

    @property
    def exceeded(self) -> bool:
        return self.used > self.limit

    def require(self) -> None:
        """Raise RateLimited when this request was one too many."""
        if self.exceeded:
            raise RateLimited(self.reset)

    def headers(self) -> dict[str, str]:
        """RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers)."""
        left = max(0, self.limit - self.used)
        return {"RateLimit": f'"{POLICY}";r={left};t={self.reset}', **policy_headers()}


def policy_headers() -> dict[str, str]:
    """The policy alone, true of every answer."""
    limit = LIMITS.requests_per_minute
    return {"RateLimit-Policy": f'"{POLICY}";q={limit};w={int(WINDOW.total_seconds())}'} if limit else {}


def spend(credential_id: UUID) -> Allowance | None:
    """Count one request of a credential, at once and for good, whatever becomes of it; None when counting is switched off."""
    limit = LIMITS.requests_per_minute
    if not limit:
        return None
    now = clock.now()
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [credential_id, now.replace(second=0, microsecond=0)])
        used, started_at = cursor.fetchone()
    return Allowance(limit, used, _seconds_until(started_at + WINDOW, now))


def forget_idle(before: datetime) -> int:
    """Remove the rows of credentials that sent nothing since; returns how many."""
    removed, _ = RateWindow.objects.filter(window_started_at__lt=before).delete()
    return removed


def _seconds_until(end: datetime, now: datetime) -> int:
    return max(1, -int((now - end).total_seconds() // 1))
