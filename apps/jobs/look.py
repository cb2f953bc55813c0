"""Asking the tables what there is to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection

from apps.core import clock
from apps.core.isolation import system_context
from apps.jobs.registry import handlers

if TYPE_CHECKING:
    from collections.abc import Collection

# An earlier message about the same object that was tried and is not delivered holds a later one back, so that order is kept;
# other objects pass it.
NOT_HELD_BACK = """
    NOT EXISTS (SELECT 1 FROM jobs_outbox e
                WHERE e.delivered_at IS NULL AND e.attempts > 0 AND e.object_id = o.object_id
                  AND e.tenant_id = o.tenant_id AND e.topic = o.topic AND e.id < o.id)
"""

_LOOK = f"""
    SELECT
        ARRAY(SELECT k.kind FROM unnest(%(kinds)s::text[]) AS k(kind)
              WHERE EXISTS (SELECT 1 FROM jobs_processingjob j
                            WHERE j.kind = k.kind AND j.state IN ('queued', 'retry_wait') AND j.next_try_at <= %(now)s)),
        EXISTS (SELECT 1 FROM jobs_outbox o WHERE o.delivered_at IS NULL AND o.next_try_at <= %(now)s AND {NOT_HELD_BACK}),
        EXISTS (SELECT 1 FROM jobs_processingjob WHERE state = 'running' AND lease_until < %(now)s),
        EXISTS (SELECT 1 FROM jobs_processingjob WHERE state = 'running' AND lease_until >= %(now)s)
"""  # noqa: S608 - made of our own words


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to do: kinds with due jobs, messages to deliver, jobs of silent workers; and whether somebody is at work."""

    kinds: tuple[str, ...]
    messages: bool
    silent: bool
    busy: bool

    @property
    def due(self) -> bool:
        return bool(self.kinds) or self.messages or self.silent


def look(kinds: Collection[str] | None = None) -> Look:
    """Ask the tables, in one statement, what is due of these kinds (None: of all that have a handler)."""
    wanted = list(handlers() if kinds is None else kinds)
    with system_context(), connection.cursor() as cursor:
        cursor.execute(_LOOK, {"kinds": wanted, "now": clock.now()})
        due, messages, silent, busy = cursor.fetchone()
    return Look(tuple(due), messages, silent, busy)
