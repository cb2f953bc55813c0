"""Idempotency-Key: the same request twice has one effect and one answer (design/06 Idempotency).

The row that remembers the answer is inserted in the transaction of the effect, so there is never one without the other. An
advisory lock tells a request that is still being worked on from one that is done, without making the second one wait.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import connection

from apps.core import clock
from apps.core.errors import IdempotencyInProgress, IdempotencyKeyReuse
from apps.core.isolation import system_context, tenant_context
from apps.tenants.models import IdempotencyKey

if TYPE_CHECKING:
    from collections.abc import Callable

    from apps.tenants.access import Access

KEPT_FOR = timedelta(hours=24)
_SWEPT_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """What is remembered of an answer: ids, codes, numbers and instants; never text of a memory or event, never a secret."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


def answer_once(access: Access, *, route: str, key: str, body_sha256: str, effect: Callable[[], Answer]) -> Answer:
    """Do the effect and remember its answer for 24 hours, or give the remembered answer.

    ``route`` is method and path pattern, ``body_sha256`` a fingerprint of everything that makes the request the same one. Raises
    IdempotencyKeyReuse (same key, another fingerprint) and IdempotencyInProgress (another connection is doing it now); an error
    of the effect undoes everything and is not remembered.
    """
    with tenant_context(access.tenant_id):
        if not _try_lock(access, route, key):
            raise IdempotencyInProgress
        now = clock.now()
        rows = IdempotencyKey.objects.filter(tenant_id=access.tenant_id, caller_id=access.caller_id, route=route, key=key)
        known = rows.first()
        if known is not None and known.expires_at > now:
            if known.body_sha256 != body_sha256:
                raise IdempotencyKeyReuse
            return Answer(known.status, known.answer, known.headers)
        if known is not None:
            rows.delete()
        answer = effect()
        IdempotencyKey.objects.create(
            tenant_id=access.tenant_id,
            caller_id=access.caller_id,
            route=route,
            key=key,
            body_sha256=body_sha256,
            status=answer.status,
            answer=answer.body,
            headers=answer.headers,
            created_at=now,
            expires_at=now + KEPT_FOR,
        )
        return answer


def forget_expired(before: datetime) -> int:
    """Remove answers whose day is over, of every tenant, at most a thousand at once; returns how many. For the sweeper."""
    with system_context():
        due = IdempotencyKey.objects.filter(expires_at__lt=before).order_by("expires_at").values("pk")[:_SWEPT_AT_ONCE]
        removed, _ = IdempotencyKey.objects.filter(pk__in=due).delete()
    return removed


def _try_lock(access: Access, route: str, key: str) -> bool:
    """A lock that ends with the transaction; False if another connection holds it."""
    parts = f"{access.tenant_id.hex}\x1f{access.caller_id}\x1f{route}\x1f{key}"
    number = int.from_bytes(hashlib.sha256(parts.encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [number])
        return bool(cursor.fetchone()[0])
