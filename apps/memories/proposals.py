"""Proposal: everything that somebody wants to be remembered, parsed and typed, before anybody has judged it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from apps.core.canonical import json_hash, proposition
from apps.memories.models import Authority, EpistemicStatus, MemoryType, RetrievalPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from apps.memories.models import Verdict


@dataclass(frozen=True, slots=True)
class ProposedRelation:
    """How the proposed memory would stand to one that exists."""

    type: str
    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A candidate as proposed: by an agent (origin ``api``) or by an extractor (``rules@1``).

    Keys and labels are folded; times are aware; ids are the caller's own spelling. ``marks`` are reason codes that an extractor
    noticed in the sentence (task_scoped, needs_evidence, …); an agent cannot set them.
    """

    candidate_id: str
    scope: str
    memory_type: MemoryType
    fact_key: str
    content: str
    scope_id: str | None = None
    rationale: str | None = None
    conditions: Mapping[str, object] = field(default_factory=dict)
    epistemic_status: EpistemicStatus = EpistemicStatus.EXPLICIT
    verdict: Verdict | None = None
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    source_event_ids: tuple[str, ...] = ()
    evidence_refs: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    observed_at: datetime | None = None
    last_confirmed_at: datetime | None = None
    expected_resolution_at: datetime | None = None
    retrieval_policy: RetrievalPolicy = RetrievalPolicy.RELEVANT
    retention_class: str | None = None
    access_policy_id: str | None = None
    authority: Authority = Authority.DATABASE
    relations: tuple[ProposedRelation, ...] = ()
    expected_version: int | None = None
    origin: str = "api"
    marks: frozenset[str] = frozenset()

    @property
    def texts(self) -> tuple[str, ...]:
        """Every free text of the proposal: what is searched for forbidden material."""
        return (self.content, *((self.rationale,) if self.rationale else ()), *self.aliases)


def proposition_hash(content: str, verdict: str | None) -> str:
    """What two records are compared by: the normalised statement and its verdict. Equality only, never likeness (MG-08).

    The verdict belongs to the statement: "the cache is the cause" as a lead and as a refuted claim are two propositions.
    """
    return json_hash([proposition(content), verdict])


def conditions_hash(conditions: Mapping[str, object]) -> str:
    """The identity of a set of conditions, whatever the order of its names (VH-07, C29)."""
    return json_hash(dict(conditions))
