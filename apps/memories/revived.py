"""Memories that a deletion has taken and that say something again (apps/retention/revived.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db import connection

if TYPE_CHECKING:
    from uuid import UUID

# Of a completed deletion nothing may say a word; of one under way the rows must at least stand as revoked.
_BACK: Final = """
    SELECT DISTINCT j.id FROM retention_deletionjob j CROSS JOIN LATERAL unnest(j.target_ids) AS taken(id)
    JOIN memories_memory m ON m.id = taken.id AND m.tenant_id = j.tenant_id
    WHERE j.tenant_id = %s AND (m.state <> 'revoked' OR (j.state = 'completed' AND EXISTS (
        SELECT 1 FROM memories_memoryversion v WHERE v.memory_id = m.id AND v.content_id IS NOT NULL)))
"""


def deletions_with_memories_back(tenant_id: UUID) -> list[UUID]:
    """Deletions whose memories are back; inside the tenant's context."""
    with connection.cursor() as cursor:
        cursor.execute(_BACK, [tenant_id])
        return [job_id for (job_id,) in cursor.fetchall()]
