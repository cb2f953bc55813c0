"""Postings and traces as they are handed out to whom they are about (apps/retention/exports).

A trace that looked at the subject's memory may be somebody else's question: that it was asked is told, its words are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Q

from apps.core.ids import public_id
from apps.evidence.content import read_texts
from apps.retention.layers import CHUNK, Exported
from apps.retrieval.models import Posting, RetrievalTrace
from apps.retrieval.models.index import Layer as IndexLayer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from django.db.models import QuerySet

    from apps.retention.layers import Target
    from apps.retrieval.models import TraceAdoption, TraceCandidate

    Groups = Mapping[str, tuple[QuerySet[Any], Callable[[Target, Sequence[Any]], list[dict[str, Any]]]]]

_ASKED_BY_ANOTHER = "asked_by_another"


def postings(target: Target, cursor: str | None, *, at_once: int) -> Exported:
    """The index entries of the next memories. A term is a keyed number, of which no word can be made without the key."""
    ids = [key for key in sorted(target.keys, key=str) if cursor is None or str(key) > cursor][:at_once]
    rows = Posting.objects.filter(tenant_id=target.tenant_id, memory_id__in=ids).order_by("pk")
    told = [
        {
            "memory_id": public_id("mem", row.memory_id),
            "version": row.version,
            "kind": IndexLayer(row.layer).name.lower(),
            "generation": row.generation,
            "term": str(row.term),
        }
        for row in rows
    ]
    return Exported(told, str(ids[-1]) if len(ids) == at_once else None)


def in_turn(target: Target, groups: Groups, cursor: str | None) -> Exported:
    """One chunk of several lists, one after the other; the cursor says where in which."""
    names = list(groups)
    name, _, last = (cursor or f"{names[0]}:").partition(":")
    rows, tell = groups[name]
    found = list(rows.filter(Q(id__gt=UUID(last)) if last else Q()).order_by("id")[:CHUNK])
    after = names.index(name) + 1
    if len(found) == CHUNK:
        return Exported(tell(target, found), f"{name}:{found[-1].id}")
    return Exported(tell(target, found), f"{names[after]}:" if after < len(names) else None)


def requests(target: Target, rows: Sequence[RetrievalTrace]) -> list[dict[str, Any]]:
    """The questions, with their words where the subject has asked."""
    own = [row for row in rows if row.subject_id == target.subject_id]
    texts = read_texts(target.tenant_id, (row.request_id for row in own))
    told: list[dict[str, Any]] = []
    for row in rows:
        shown = {"kind": "question", "trace_id": public_id("trc", row.id), "at": row.at, "decision": row.decision}
        if row in own:
            words = {"agent": row.actor, "session_id": row.session_id, "outcome": row.outcome, "words": texts.get(row.request_id)}  # type: ignore[arg-type]
            told.append({**shown, **words})
        else:
            told.append({**shown, "words": None, "withheld": _ASKED_BY_ANOTHER})
    return told


def reports(target: Target, rows: Sequence[TraceAdoption]) -> list[dict[str, Any]]:
    """What agents said about what they were given, with their words where they spoke for the subject."""
    traces = RetrievalTrace.objects.filter(tenant_id=target.tenant_id, id__in={row.trace_id for row in rows})
    asked_by = dict(traces.values_list("id", "subject_id"))
    own = {trace for trace, subject in asked_by.items() if subject == target.subject_id}
    texts = read_texts(target.tenant_id, (row.reason_id for row in rows if row.trace_id in own))
    told: list[dict[str, Any]] = []
    for row in rows:
        shown = {"kind": "report", "trace_id": public_id("trc", row.trace_id), "at": row.at}
        if row.trace_id in own:
            told.append({**shown, "agent": row.actor, "words": texts.get(row.reason_id) if row.reason_id else None})
        else:
            told.append({**shown, "words": None, "withheld": _ASKED_BY_ANOTHER})
    return told


def adoptions(_target: Target, rows: Sequence[TraceAdoption]) -> list[dict[str, Any]]:
    return [
        {
            "kind": "adoption",
            "trace_id": public_id("trc", row.trace_id),
            "memory_id": public_id("mem", row.memory_id),
            "version": row.version,
            "used": row.used,
            "at": row.at,
        }
        for row in rows
    ]


def candidates(_target: Target, rows: Sequence[TraceCandidate]) -> list[dict[str, Any]]:
    return [
        {
            "kind": "looked_at",
            "trace_id": public_id("trc", row.trace_id),
            "memory_id": public_id("mem", row.memory_id),
            "version": row.version,
            "chosen": row.chosen,
            "reason": row.reason,
        }
        for row in rows
    ]
