"""Deletion layers owned by retrieval: the lexical index and the traces."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

from django.db import connection
from django.db.models import Q

from apps.evidence.content import erase_texts
from apps.memories.models import MemoryVersion
from apps.retention.layers import CHUNK, Cleared, Exported, Layer, Target
from apps.retrieval import handing_out
from apps.retrieval.models import Posting, RetrievalTrace, TraceAdoption, TraceCandidate
from apps.retrieval.models.index import Layer as IndexLayer

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet

MEMORIES_AT_ONCE = CHUNK // 10  # a memory has about ten postings


class LexicalIndexLayer(Layer):
    """Postings of the target's memories, words and names, in all generations, and their share of the statistics."""

    key: ClassVar[str] = "lexical_index"

    def discover(self, target: Target) -> int:
        return Posting.objects.filter(tenant_id=target.tenant_id, memory_id__in=target.keys).count()

    def export(self, target: Target, cursor: str | None) -> Exported:
        return handing_out.postings(target, cursor, at_once=MEMORIES_AT_ONCE)

    def clear(self, target: Target, cursor: str | None) -> Cleared:
        """Remove the postings of one chunk of memories; the counts go down with the rows that were really there."""
        ids = [key for key in sorted(target.keys, key=str) if cursor is None or str(key) > cursor][:MEMORIES_AT_ONCE]
        if not ids:
            return Cleared(0, None)
        with connection.cursor() as db:
            db.execute(
                "DELETE FROM retrieval_posting WHERE tenant_id = %s AND memory_id = ANY(%s) "
                "RETURNING namespace_id, generation, layer, term, memory_id, version",
                [target.tenant_id, ids],
            )
            rows = db.fetchall()
        _lower_statistics(target.tenant_id, rows)
        return Cleared(len(rows), str(ids[-1]))

    def verify(self, target: Target) -> int:
        """Counted from the versions' side instead of the memories'."""
        versions = MemoryVersion.objects.filter(tenant_id=target.tenant_id, memory_id__in=target.keys)
        return Posting.objects.filter(
            tenant_id=target.tenant_id, memory_id__in=versions.values("memory_id"), version__in=versions.values("version")
        ).count()


_NAMED_STATISTICS = """
FROM unnest(%s::uuid[], %s::int[], %s::smallint[], %s::bigint[], %s::int[]) AS d(namespace_id, generation, layer, term, count)
"""
_LOCK_STATISTICS = f"""
SELECT 1 {_NAMED_STATISTICS} JOIN retrieval_termstat t ON t.tenant_id = %s AND t.generation = d.generation
    AND t.namespace_id = d.namespace_id AND t.layer = d.layer AND t.term = d.term
ORDER BY t.namespace_id, t.generation, t.layer, t.term FOR UPDATE OF t
"""
_LOWER_STATISTICS = f"""
UPDATE retrieval_termstat t SET documents = t.documents - d.count {_NAMED_STATISTICS}
WHERE t.tenant_id = %s AND t.generation = d.generation AND t.namespace_id = d.namespace_id AND t.layer = d.layer
    AND t.term = d.term
"""  # noqa: S608 - a constant of this module


def _lower_statistics(tenant_id: UUID, rows: list[tuple[UUID, int, int, int, UUID, int]]) -> None:
    terms = Counter(row[:4] for row in rows if row[2] < IndexLayer.NAMES)
    documents: Counter[tuple[UUID, int]] = Counter()
    for namespace, era, _, _ in {(row[0], row[2] & 1, row[4], row[5]) for row in rows}:
        documents[(namespace, era)] += 1
    counted = sorted(terms.items(), key=lambda item: (str(item[0][0]), item[0][1:]))
    columns = [list(column) for column in zip(*((*key, count) for key, count in counted), strict=True)] or [[]] * 5
    with connection.cursor() as db:
        # Locked in one order for everybody, then lowered in one statement.
        for statement in (_LOCK_STATISTICS, _LOWER_STATISTICS):
            db.execute(statement, [*columns, tenant_id])
        db.execute(
            "DELETE FROM retrieval_termstat WHERE tenant_id = %s AND namespace_id = ANY(%s) AND documents <= 0",
            [tenant_id, list({key[0] for key in terms})],
        )
        for (namespace, era), count in sorted(documents.items(), key=lambda item: (str(item[0][0]), item[0][1])):
            column = "documents" if era == IndexLayer.CURRENT else "history_documents"
            db.execute(
                f"UPDATE retrieval_indexstate SET {column} = greatest({column} - %s, 0) "  # noqa: S608 - one of two names above
                "WHERE tenant_id = %s AND namespace_id = %s",
                [count, tenant_id, namespace],
            )


class TracesLayer(Layer):
    """The words of every question that looked at the target and of every report about it, and the rows that name it."""

    key: ClassVar[str] = "traces"

    def discover(self, target: Target) -> int:
        return sum(rows.count() for rows in (self._requests(target), self._reasons(target), *self._rows(target)))

    def export(self, target: Target, cursor: str | None) -> Exported:
        adoptions, candidates = self._rows(target)
        groups: handing_out.Groups = {
            "requests": (self._requests(target), handing_out.requests),
            "reasons": (self._reasons(target), handing_out.reports),
            "adoptions": (adoptions, handing_out.adoptions),
            "candidates": (candidates, handing_out.candidates),
        }
        return handing_out.in_turn(target, groups, cursor)

    def clear(self, target: Target, cursor: str | None) -> Cleared:  # noqa: ARG002 - what is cleared is not found again
        """Words first, then rows: the rows are what leads to the words."""
        traces = list(self._requests(target).order_by("id").values_list("id", "request_id")[:CHUNK])
        if traces:
            RetrievalTrace.objects.filter(tenant_id=target.tenant_id, id__in=[key for key, _ in traces]).update(request=None)
            erase_texts(target.tenant_id, [request for _, request in traces])
            return Cleared(len(traces), "requests")
        reports = list(self._reasons(target).order_by("id").values_list("id", "reason_id")[:CHUNK])
        if reports:
            TraceAdoption.objects.filter(tenant_id=target.tenant_id, id__in=[key for key, _ in reports]).update(reason=None)
            erase_texts(target.tenant_id, [reason for _, reason in reports])
            return Cleared(len(reports), "reasons")
        adoptions, candidates = self._rows(target)
        done = self._delete(target, adoptions)
        if done:
            return Cleared(done, "adoptions")
        ids = list(candidates.order_by("id").values_list("id", flat=True)[:CHUNK])
        if not ids:
            return Cleared(0, None)
        self._strip_lanes(target, ids)
        return Cleared(self._delete(target, TraceCandidate.objects.filter(id__in=ids)), "candidates")

    def verify(self, target: Target) -> int:
        """Counted through the ids' texts instead of the rows' keys."""
        names = [str(key) for key in target.keys]
        with connection.cursor() as db:
            db.execute(
                "SELECT (SELECT count(*) FROM retrieval_tracecandidate WHERE tenant_id = %(t)s AND memory_id::text = ANY(%(n)s)) "
                "+ (SELECT count(*) FROM retrieval_traceadoption WHERE tenant_id = %(t)s AND memory_id::text = ANY(%(n)s))",
                {"t": target.tenant_id, "n": names},
            )
            rows = int(db.fetchone()[0])
        return rows + self._requests(target).count() + self._reasons(target).count()

    def _rows(self, target: Target) -> tuple[QuerySet[TraceAdoption], QuerySet[TraceCandidate]]:
        named = {"tenant_id": target.tenant_id, "memory_id__in": target.keys}
        return TraceAdoption.objects.filter(**named), TraceCandidate.objects.filter(**named)

    def _delete(self, target: Target, rows: QuerySet[Any]) -> int:
        ids = list(rows.filter(tenant_id=target.tenant_id).order_by("id").values_list("id", flat=True)[:CHUNK])
        return rows.model.objects.filter(tenant_id=target.tenant_id, id__in=ids).delete()[0] if ids else 0

    def _requests(self, target: Target) -> QuerySet[RetrievalTrace]:
        return self._reached(target).exclude(request=None)

    def _reasons(self, target: Target) -> QuerySet[TraceAdoption]:
        return TraceAdoption.objects.filter(tenant_id=target.tenant_id, trace__in=self._reached(target).values("id")).exclude(
            reason=None
        )

    def _reached(self, target: Target) -> QuerySet[RetrievalTrace]:
        """Traces that looked at the target, or were asked by whose data it is."""
        named = Q(candidates__memory_id__in=target.keys)
        own = {
            "session": Q(session_id=target.target_id, subject_id=target.subject_id),
            "subject": Q(subject_id=target.subject_id),
        }.get(target.kind)
        reach = named | own if own is not None else named
        return RetrievalTrace.objects.filter(reach, tenant_id=target.tenant_id).distinct()

    def _strip_lanes(self, target: Target, candidate_ids: list[UUID]) -> None:
        """Take the target's ids out of the lanes of the traces that hold them."""
        rows = TraceCandidate.objects.filter(tenant_id=target.tenant_id, id__in=candidate_ids).values_list(
            "trace_id", "memory_id"
        )
        gone: dict[UUID, set[str]] = {}
        for trace_id, memory_id in rows:
            gone.setdefault(trace_id, set()).add(str(memory_id))
        for trace in RetrievalTrace.objects.filter(tenant_id=target.tenant_id, id__in=list(gone)):
            trace.lanes = {lane: [key for key in keys if key not in gone[trace.id]] for lane, keys in trace.lanes.items()}
            trace.save(update_fields=["lanes"])
