"""Traces as documents to take along: ids and codes only, no word of a question, memory or report (TC-10, TC-11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from apps.core.canonical import canonical_json
from apps.core.ids import public_id
from apps.core.isolation import tenant_context
from apps.retrieval.models import RetrievalTrace, TraceAdoption, TraceCandidate
from apps.retrieval.trace_files import file_name, write
from apps.retrieval.traces import fate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

AT_ONCE = 200
SCHEMA_VERSION = 1


def export_traces(
    tenant_id: UUID,
    tenant_key: str,
    folder: int,
    *,
    since: datetime | None = None,
    progress: Callable[[int], None] = lambda _count: None,
) -> tuple[int, int]:
    """Write one file for each trace of a tenant, the oldest first; how many were written, and how many were there already.

    ``folder`` is an open descriptor (trace_files.open_folder).
    """
    written = there = 0
    last: UUID | None = None
    while True:
        with tenant_context(tenant_id):
            rows = RetrievalTrace.objects.filter(tenant_id=tenant_id).order_by("id")
            rows = rows if since is None else rows.filter(at__gte=since)
            chunk = list((rows if last is None else rows.filter(id__gt=last))[:AT_ONCE])
            documents = _documents(tenant_id, tenant_key, chunk)
        if not chunk:
            return written, there
        last = chunk[-1].id
        for trace, document in zip(chunk, documents, strict=True):
            done = write(folder, file_name(trace.at, trace.id), (canonical_json(document) + "\n").encode())
            written += done
            there += not done
        progress(written + there)


def _documents(tenant_id: UUID, tenant_key: str, traces: Sequence[RetrievalTrace]) -> list[dict[str, Any]]:
    keys = [trace.id for trace in traces]
    candidates: dict[UUID, list[TraceCandidate]] = {}
    for row in TraceCandidate.objects.filter(tenant_id=tenant_id, trace_id__in=keys).order_by("trace_id", "position", "id"):
        candidates.setdefault(row.trace_id, []).append(row)
    used = {
        (row.trace_id, row.memory_id, row.version): row.used
        for row in TraceAdoption.objects.filter(tenant_id=tenant_id, trace_id__in=keys)
    }
    return [_document(tenant_key, trace, candidates.get(trace.id, []), used) for trace in traces]


def _document(
    tenant_key: str, trace: RetrievalTrace, candidates: list[TraceCandidate], used: dict[tuple[UUID, UUID, int], bool]
) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "tenant": tenant_key,
        "trace_id": public_id("trc", trace.id),
        "at": _instant(trace.at),
        "as_of": _instant(trace.as_of),
        "actor_id": str(trace.actor_id),
        "subject_id": str(trace.subject_id) if trace.subject_id else None,
        "project_id": str(trace.project_id) if trace.project_id else None,
        "namespaces": [str(key) for key in trace.namespaces],
        "mode": trace.mode,
        "trigger": trace.trigger,
        "decision": trace.decision,
        "triage": trace.triage,
        "outcome": trace.outcome,
        "window_turns": len(trace.window_roles),
        "lanes": {lane: [_memory(key) for key in keys] for lane, keys in trace.lanes.items()},
        "funnel": trace.funnel,
        "candidates": [
            {
                "memory_id": public_id("mem", row.memory_id),
                "version": row.version,
                "chosen": row.chosen,
                "reason": row.reason or None,
                "fate": fate(chosen=row.chosen, used=used.get((trace.id, row.memory_id, row.version))),
                "authority_revision": row.authority_revision or None,
                "components": row.components,
            }
            for row in candidates
        ],
        "warnings": trace.warnings,
        "budget": trace.budget,
        "rule_version": trace.rule_version,
        "snapshot_revision": f"rev_{trace.snapshot_revision}",
        "timings_ms": trace.timings_ms,
    }


def _instant(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _memory(key: str) -> str:
    return public_id("mem", UUID(key))
