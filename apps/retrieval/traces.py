"""Writing and reading traces: what a query saw, what it chose and why not the rest. Ids and codes only (TC-01, TC-08)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
from django.db.models import Q

from apps.core.errors import NotFound
from apps.core.ids import new_id, parse_public_id, public_id
from apps.core.isolation import tenant_context
from apps.core.prepared import prepared_cursor
from apps.evidence.content import read_texts, store_text
from apps.retrieval.models import RetrievalTrace, TraceAdoption, TraceCandidate
from apps.retrieval.ranking import components
from apps.retrieval.tokenizers import EXACT
from apps.retrieval.vocabulary import Fate

if TYPE_CHECKING:
    from datetime import datetime

    from apps.retrieval.context import Candidate, QueryContext, Rejected
    from apps.retrieval.question import Question
    from apps.retrieval.recall import Recalled
    from apps.retrieval.selection import Selection
    from apps.tenants.access import Access

DEFAULT_WINDOW_DAYS = 30


@dataclass(frozen=True, slots=True)
class TraceNote:
    """What only the pipeline knows about a query besides context, recall and selection."""

    decision: str
    outcome: str
    revision: int
    funnel: dict[str, int]
    timings_ms: dict[str, float]
    project_id: UUID | None
    triage: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)


def asked_with(access: Access, question: Question, context: QueryContext, hints: tuple[int, int]) -> dict[str, Any]:
    """What a query was asked with besides its words, in codes and numbers: with the words it can be asked again.

    ``hints``: how many of the topics and of the entities kept with the words came with the question; the others its words name.
    """
    return {
        "decision": question.decision,
        "project_named": question.project is not None,
        "hints": list(hints),
        "types": sorted(context.types),
        "max_candidates": context.max_candidates,
        "max_items": context.max_items,
        "format": context.format,
        "style": context.style,
        "profile": context.profile,
        "relevance_share": access.settings.get("relevance_share"),
    }


# A trace holds codes. Names that callers choose could be anything, so those that we do not know are one.
_ROLES = ("user", "assistant", "system", "developer", "tool")
_OTHER = "other"


def _known(name: str, names: Sequence[str]) -> str:
    return name if name in names else _OTHER


def write_trace(access: Access, context: QueryContext, recalled: Recalled, selection: Selection, note: TraceNote) -> UUID:
    """Insert the trace of one query in its transaction; returns its key.

    The words of the question go into a Content row of the first namespace of the caller, so that they die with their subject.
    """
    days = access.settings.get("trace_days", DEFAULT_WINDOW_DAYS)
    trace_id, request_id = new_id(), _store_request(access, context)
    row = {
        "id": trace_id,
        "tenant_id": access.tenant_id,
        "at": context.asked_at,
        "as_of": context.as_of,
        "actor_id": access.actor_id,
        "actor": access.actor,
        "subject_id": access.subject_id,
        "session_id": access.session_id or "",
        "project_id": note.project_id,
        "request_id": request_id,
        "mode": context.mode,
        "trigger": context.trigger,
        "decision": note.decision,
        "triage": note.triage,
        "asked": {**note.asked, "words": request_id is not None},
        "outcome": note.outcome,
        "namespaces": sorted(context.namespaces),
        "window_roles": [_known(turn.role.strip().lower(), _ROLES) for turn in context.window],
        "lanes": _lanes(recalled),
        "funnel": note.funnel,
        "warnings": sorted({*(warning.code for warning in selection.warnings), *note.warnings}),
        "budget": {
            "limit": context.budget.limit,
            "used": selection.used,
            "unit": context.budget.unit,
            "tokenizer": _known(context.budget.tokenizer, EXACT),
            "exact": selection.exact,
            "truncated": selection.truncated,
        },
        "rule_version": context.rule_version,
        "snapshot_revision": note.revision,
        "timings_ms": note.timings_ms,
        "expires_at": context.asked_at + timedelta(days=int(str(days))),
    }
    with prepared_cursor() as cursor:
        cursor.execute(_TRACE, [_json(row), access.tenant_id, trace_id, _json(_candidate_rows(selection))])
    return trace_id


def _store_request(access: Access, context: QueryContext) -> UUID | None:
    if not access.readable:
        return None
    words = {
        "task": context.task,
        "question": context.question,
        "window": [{"role": turn.role, "content": turn.content} for turn in context.window],
        "attachments": [{"media_type": a.media_type, "content": a.content} for a in context.attachments],
        "environment": dict(context.environment),
        "topics": list(context.topics),
        "entities": list(context.entities),
        "fact_keys": list(context.fact_keys),
    }
    if not any(part.strip() if isinstance(part, str) else part for part in words.values()):
        return None
    return store_text(access.tenant_id, access.readable[0], _json(words))


def _lanes(recalled: Recalled) -> dict[str, list[str]]:
    lanes: dict[str, list[tuple[int, str]]] = {}
    for row in recalled.found:
        for lane, rank in row.lanes.items():
            lanes.setdefault(lane.value, []).append((rank, str(row.memory_id)))
    return {lane: list(dict.fromkeys(key for _, key in sorted(rows))) for lane, rows in sorted(lanes.items())}


def _candidate_rows(selection: Selection) -> list[dict[str, Any]]:
    chosen = [_row(one.candidate, place, components(one), reason="") for place, one in enumerate(selection.chosen, start=1)]
    lost = [
        _row(one.candidate, min(place, _LAST_PLACE), {"stage": one.stage.value, **_standing(one)}, reason=one.reason.value)
        for place, one in enumerate(selection.rejected, start=len(chosen) + 1)
    ]
    return chosen + lost


def _json(value: object) -> str:
    return orjson.dumps(value, default=str).decode()


_LAST_PLACE = 32_767  # of a small integer
# All rows travel as two JSON parameters: binding a value per column would cost more than the insert.
_COLUMNS = ", ".join(str(field.column) for field in RetrievalTrace._meta.concrete_fields)  # noqa: SLF001 - documented by Django
_TRACE = f"""
WITH trace AS (
    INSERT INTO retrieval_retrievaltrace ({_COLUMNS})
    SELECT {_COLUMNS} FROM jsonb_populate_record(NULL::retrieval_retrievaltrace, %s::text::jsonb)
)
INSERT INTO retrieval_tracecandidate
    (id, tenant_id, trace_id, memory_id, version, position, chosen, reason, authority_revision, components)
SELECT c.id, %s::uuid, %s::uuid, c.memory_id, c.version, c.position, c.chosen, c.reason, c.authority_revision, c.components
FROM jsonb_to_recordset(%s::text::jsonb) AS c(
    id uuid, memory_id uuid, version int, position smallint, chosen bool, reason text, authority_revision text, components jsonb
)
"""  # noqa: S608 - column names of this application


def _row(candidate: Candidate, place: int, parts: Mapping[str, Any], *, reason: str) -> dict[str, Any]:
    return {
        "id": new_id().hex,
        "memory_id": candidate.memory_id.hex,
        "version": candidate.version,
        "position": place,
        "chosen": not reason,
        "reason": reason,
        "authority_revision": candidate.authority_revision or "",
        "components": parts,
    }


def _standing(lost: Rejected) -> dict[str, Any]:
    """The ranking parts of one that was lost after it had been ranked."""
    return dict(components(lost.standing)) if lost.standing is not None else {}


@dataclass(frozen=True, slots=True)
class TraceView:
    """A trace as its owner reads it."""

    trace_id: str
    at: datetime
    as_of: datetime
    mode: str
    trigger: str
    decision: str
    triage: dict[str, Any]
    outcome: str
    namespaces: list[dict[str, str]]
    window_roles: list[str]
    lanes: dict[str, list[str]]
    funnel: dict[str, int]
    candidates: list[dict[str, Any]]
    chosen: list[dict[str, Any]]
    adoptions: list[dict[str, Any]]
    warnings: list[str]
    budget: dict[str, Any]
    rule_version: str
    snapshot_revision: str
    timings_ms: dict[str, float]


def get_trace(access: Access, trace_id: str) -> TraceView:
    """One trace of the caller's own subject. Raises NotFound for an unknown, foreign or unreadable one alike.

    Whoever speaks for the subject may read the subject's traces; a caller without a subject reads its own only.
    """
    with tenant_context(access.tenant_id):
        return _view(access, require_own(access, trace_id))


def require_own(access: Access, trace_id: str) -> RetrievalTrace:
    """The trace, if the caller may read it; inside the caller's tenant context. Raises NotFound."""
    key = parse_public_id("trc", trace_id)
    if key is None:
        raise NotFound
    own = Q(subject_id=access.subject_id) if access.subject_id is not None else Q(subject=None, actor_id=access.actor_id)
    trace = RetrievalTrace.objects.filter(own, tenant_id=access.tenant_id, id=key).first()
    if trace is None or not set(trace.namespaces) <= set(access.readable):
        raise NotFound  # a token for less may not learn what a token for more has seen
    return trace


def _view(access: Access, trace: RetrievalTrace) -> TraceView:
    rows = list(TraceCandidate.objects.filter(tenant_id=access.tenant_id, trace_id=trace.id).order_by("position", "id"))
    reported = list(TraceAdoption.objects.filter(tenant_id=access.tenant_id, trace_id=trace.id).order_by("memory_id", "version"))
    used = {(row.memory_id, row.version): row.used for row in reported}
    reasons = read_texts(access.tenant_id, [row.reason_id for row in reported])
    grants = access.by_id
    return TraceView(
        trace_id=public_id("trc", trace.id),
        at=trace.at,
        as_of=trace.as_of,
        mode=trace.mode,
        trigger=trace.trigger,
        decision=trace.decision,
        triage=trace.triage,
        outcome=trace.outcome,
        namespaces=[{"scope": grants[n].scope, "scope_id": grants[n].scope_id} for n in trace.namespaces],
        window_roles=trace.window_roles,
        lanes={lane: [_memory_name(name) for name in names] for lane, names in trace.lanes.items()},
        funnel=trace.funnel,
        candidates=[
            {
                "memory_id": public_id("mem", row.memory_id),
                "version": row.version,
                "chosen": row.chosen,
                "reason": row.reason or None,
                "fate": fate(chosen=row.chosen, used=used.get((row.memory_id, row.version))),
                "components": row.components,
            }
            for row in rows
        ],
        chosen=[
            {
                "memory_id": public_id("mem", row.memory_id),
                "version": row.version,
                "authority_revision": row.authority_revision or None,
            }
            for row in rows
            if row.chosen
        ],
        adoptions=[
            {
                "memory_id": public_id("mem", row.memory_id),
                "version": row.version,
                "used": row.used,
                "reason": reasons.get(row.reason_id) if row.reason_id is not None else None,
                "at": row.at,
            }
            for row in reported
        ],
        warnings=trace.warnings,
        budget=trace.budget,
        rule_version=trace.rule_version,
        snapshot_revision=f"rev_{trace.snapshot_revision}",
        timings_ms=trace.timings_ms,
    )


def fate(*, chosen: bool, used: bool | None) -> Fate:
    """How far a candidate came (AU-04). What was not found at all is no candidate; ``used`` is None while nobody has said."""
    if not chosen:
        return Fate.NOT_PACKED
    return Fate.PACKED if used is None else Fate.USED if used else Fate.NOT_USED


def _memory_name(key: str) -> str:
    return public_id("mem", UUID(key))
