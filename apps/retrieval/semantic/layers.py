"""The deletion layer of vectors."""

from __future__ import annotations

from typing import ClassVar

from django.db import connection

from apps.audits.models import AuditEntry
from apps.memories.models import MemoryVersion
from apps.retention.layers import CHUNK, Cleared, Layer, RemainingCopy, Target
from apps.retrieval.models import Vector
from apps.retrieval.semantic.indexing import SENT


class SemanticIndexLayer(Layer):
    """Vectors of the target's memories, whichever embedder made them."""

    key: ClassVar[str] = "semantic_index"

    def discover(self, target: Target) -> int:
        return Vector.objects.filter(tenant_id=target.tenant_id, memory_id__in=target.keys).count()

    def clear(self, target: Target, cursor: str | None) -> Cleared:  # noqa: ARG002 - what is cleared is not found again
        with connection.cursor() as db:
            db.execute(
                "DELETE FROM retrieval_vector WHERE (tenant_id, namespace_id, embedder, memory_id, version) IN ("
                "SELECT tenant_id, namespace_id, embedder, memory_id, version FROM retrieval_vector "
                "WHERE tenant_id = %s AND memory_id = ANY(%s) LIMIT %s)",
                [target.tenant_id, list(target.keys), CHUNK],
            )
            count = db.rowcount
        return Cleared(count, "vectors" if count else None)

    def verify(self, target: Target) -> int:
        """Counted from the versions' side instead of the memories'."""
        versions = MemoryVersion.objects.filter(tenant_id=target.tenant_id, memory_id__in=target.keys)
        return Vector.objects.filter(
            tenant_id=target.tenant_id, memory_id__in=versions.values("memory_id"), version__in=versions.values("version")
        ).count()

    def remaining_copies(self, target: Target) -> list[RemainingCopy]:
        """What an embedder outside was sent before: nobody here can clear it."""
        sent = AuditEntry.objects.filter(
            tenant_id=target.tenant_id, verb=SENT, object_type="namespace", object_id=str(target.namespace_id)
        )
        return [RemainingCopy("embedding_server", "sent_for_embedding")] if sent.exists() else []
