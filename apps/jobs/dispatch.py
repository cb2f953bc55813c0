"""The outbox's postman: tells consumers, after commit, what has changed (OJ-03..06).

A message is claimed like a job: its next try is moved ahead and its attempt counted before anybody is told, so that a postman
who dies delays a message and never loses one. Consumers run in the tenant's context and commit together with the mark.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING

import structlog
from django.db import connection

from apps.core import clock
from apps.core.isolation import system_context, tenant_context
from apps.jobs.backoff import delay
from apps.jobs.look import NOT_HELD_BACK
from apps.jobs.models import Outbox
from apps.jobs.registry import Message, consumers_of
from apps.jobs.runs import error_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from uuid import UUID

log = structlog.get_logger(__name__)

BATCH = 500
_LEASE = timedelta(seconds=60)
_LOCK = 0x6F7574626F78  # any fixed number: it makes claiming, which is short, one after the other

_CLAIM = f"""
    WITH due AS (
        SELECT o.id FROM jobs_outbox o
        WHERE o.delivered_at IS NULL AND o.next_try_at <= %(now)s AND {NOT_HELD_BACK}
        ORDER BY o.next_try_at, o.id LIMIT %(limit)s)
    UPDATE jobs_outbox SET attempts = attempts + 1, next_try_at = %(until)s
    FROM due WHERE jobs_outbox.id = due.id
    RETURNING jobs_outbox.id, tenant_id, topic, object_id, version, attempts
"""  # noqa: S608 - made of our own words


def dispatch(*, limit: int = BATCH) -> int:
    """Deliver what is due, at most ``limit`` messages; returns how many were taken (delivered or put off)."""
    taken = _claim(limit)
    for tenant_id, of_tenant in groupby(taken, key=lambda pair: pair[0].tenant_id):
        _deliver(tenant_id, list(of_tenant))
    return len(taken)


def _claim(limit: int) -> list[tuple[Message, int]]:
    now = clock.now()
    with system_context(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        cursor.execute(_CLAIM, {"now": now, "until": now + _LEASE, "limit": limit})
        rows = cursor.fetchall()
    return [(Message(*row[:5]), row[5]) for row in sorted(rows, key=lambda row: (row[1], row[0]))]


def _deliver(tenant_id: UUID, taken: list[tuple[Message, int]]) -> None:
    """Tell the consumers of one tenant's messages in one commit; if that fails, one by one, so that only the bad one waits."""
    messages = [message for message, _ in taken]
    try:
        _tell(tenant_id, messages)
    except Exception as failure:  # noqa: BLE001 - whatever a consumer raises belongs to its message
        if len(taken) == 1:
            _put_off(messages[0], taken[0][1], failure)
            return
        held: set[tuple[str, UUID]] = set()
        for message, attempt in taken:
            about = (message.topic, message.object_id)
            if about in held:
                _wait_for_its_turn(message)
                continue
            try:
                _tell(tenant_id, [message])
            except Exception as own_failure:  # noqa: BLE001 - see above
                held.add(about)
                _put_off(message, attempt, own_failure)


def _tell(tenant_id: UUID, messages: Iterable[Message]) -> None:
    told = list(messages)
    calls: list[tuple[Callable[[Message], None], Message]] = [
        (consumer, message) for message in told for consumer in consumers_of(message.topic)
    ]
    with tenant_context(tenant_id):
        for consumer, message in calls:
            consumer(message)
        Outbox.objects.filter(tenant_id=tenant_id, pk__in=[message.id for message in told]).update(delivered_at=clock.now())


def _put_off(message: Message, attempt: int, failure: Exception) -> None:
    log.warning("message_failed", topic=message.topic, message=str(message.id), attempt=attempt, error=error_code(failure))
    with system_context():
        Outbox.objects.filter(pk=message.id, delivered_at=None).update(next_try_at=clock.now() + delay(attempt))


def _wait_for_its_turn(message: Message) -> None:
    """Untouched, as if it had not been claimed: it is held back by the one before it."""
    with system_context():
        Outbox.objects.filter(pk=message.id, delivered_at=None).update(next_try_at=clock.now(), attempts=0)
