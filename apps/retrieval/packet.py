"""The memory packet as it leaves the platform (design/06 Query)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apps.retrieval.context import Judged


@dataclass(frozen=True, slots=True)
class RelationOut:
    type: str
    memory_id: str


@dataclass(frozen=True, slots=True)
class Why:
    """How the item came here: its place, the lanes that found it with their ranks, and the phrases shared with the question."""

    rank: int
    lanes: dict[str, int]
    spans: list[str]
    rule_version: str


@dataclass(frozen=True, slots=True)
class Item:
    memory_id: str
    version: int
    type: str
    status: str
    epistemic_status: str
    verdict: str | None
    state: str
    scope: str
    scope_id: str | None
    fact_key: str | None
    content: str
    rationale: str | None
    applicability: str
    applicability_class: str
    conditions: dict[str, Any]
    evidence_labels: list[str]
    fidelity: str | None
    source_refs: list[str]
    independent_evidence_count: int
    valid_from: datetime | None
    valid_to: datetime | None
    authority: str
    authority_revision: str | None
    relations: list[RelationOut]
    superseded_by: str | None
    historical_note: str | None
    section: str
    why: Why


@dataclass(frozen=True, slots=True)
class ConflictMember:
    memory_id: str
    version: int
    content: str
    valid_from: datetime | None
    source_refs: list[str]


@dataclass(frozen=True, slots=True)
class Conflict:
    conflict_id: str
    fact_key: str | None
    members: list[ConflictMember]
    explanation: str
    ask: str = "verify"


@dataclass(frozen=True, slots=True)
class Hint:
    code: str
    detail: str
    memory_id: str | None = None


@dataclass(frozen=True, slots=True)
class Omitted:
    memory_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class BudgetOut:
    limit: int
    used: int
    unit: str
    tokenizer: str | None
    exact: bool


@dataclass(frozen=True, slots=True)
class TriageOut:
    decision: str
    divergence: str | None
    parse: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Packet:
    decision: str
    outcome: str
    snapshot_revision: str | None
    as_of: datetime
    items: list[Item]
    conflicts: list[Conflict]
    warnings: list[Hint]
    omitted: list[Omitted]
    truncated_by_budget: bool
    budget: BudgetOut
    text: str | None
    clarification: str | None
    triage: TriageOut
    trace_id: str | None


def item_of(judged: Judged, *, rank: int, applicability: str, rule_version: str) -> Item:
    """One packed candidate as an item; ``applicability`` is its conditions in words."""
    row = judged.candidate
    return Item(
        memory_id=row.public_id,
        version=row.version,
        type=row.memory_type,
        status=row.epistemic_status,
        epistemic_status=row.epistemic_status,
        verdict=row.verdict,
        state=row.state,
        scope=row.scope,
        scope_id=row.scope_id,
        fact_key=row.fact_key,
        content=row.content,
        rationale=row.rationale,
        applicability=applicability,
        applicability_class=judged.applicability,
        conditions=dict(row.conditions),
        evidence_labels=[label.value for label in judged.labels],
        fidelity=row.fidelity,
        source_refs=list(row.source_refs),
        independent_evidence_count=row.independent_evidence_count,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        authority=row.authority,
        authority_revision=row.authority_revision,
        relations=[RelationOut(edge.type, edge.memory_id) for edge in row.relations],
        superseded_by=row.superseded_by,
        historical_note=judged.historical_note,
        section=judged.section,
        why=Why(
            rank=rank,
            lanes={lane.value: place for lane, place in row.recall.lanes.items()},
            spans=list(row.recall.spans),
            rule_version=rule_version,
        ),
    )
