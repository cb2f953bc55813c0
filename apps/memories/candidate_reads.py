"""Scoped reads of candidates: whose they are, what became of them, and their text while no memory holds it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Q

from apps.core.cursors import Page, PageRequest, page
from apps.core.errors import NotFound
from apps.core.ids import public_id
from apps.memories.door import readable_memories
from apps.memories.models import Candidate, MemoryVersion
from apps.memories.reasons import Reason
from apps.memories.texts import texts_of
from apps.tenants.transactions import revision_token, tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.memories.projections import IndexedText
    from apps.tenants.access import Access


@dataclass(frozen=True, slots=True)
class CandidateOutcome:
    """What became of a candidate. Only ``committed`` means remembered (CA-18, CA-20).

    ``revision`` is the one that made it so, or the present one when nothing was changed; ``indexed_revision`` the one from which
    queries find it, which is the same because the index is written in the same transaction.
    """

    candidate_id: str
    status: str
    decision: str | None
    reasons: list[str]
    memory_id: str | None
    version: int | None
    revision: str | None
    conflict_id: str | None
    indexed_revision: str | None


@dataclass(frozen=True, slots=True)
class CandidateDetail:
    """A candidate with what it says. The text is that of the memory it became; rejected for a deletion, it has none."""

    candidate_id: str
    status: str
    decision: str | None
    reasons: list[str]
    memory_id: str | None
    version: int | None
    revision: str | None
    conflict_id: str | None
    indexed_revision: str | None
    scope: str
    scope_id: str
    memory_type: str
    fact_key: str
    content: str | None
    rationale: str | None
    aliases: list[str]
    conditions: dict[str, object]
    epistemic_status: str
    verdict: str | None
    topics: list[str]
    entities: list[str]
    retrieval_policy: str
    retention_class: str
    authority: str
    origin: str
    policy_version: str
    valid_from: datetime | None
    valid_to: datetime | None
    observed_at: datetime | None
    last_confirmed_at: datetime | None
    expected_resolution_at: datetime | None
    created_at: datetime
    decided_at: datetime | None
    expires_at: datetime


def readable_candidates(access: Access) -> QuerySet[Candidate]:
    """Candidates in readable namespaces that the caller's own subject stated, or that the caller reviews.

    What waits or was refused is nobody else's business yet; what was committed is shared as a memory (CA-25).
    """
    reviewed = [grant.id for grant in access.namespaces if grant.review]
    own = Q(namespace_id__in=reviewed)
    if access.subject_id is not None:
        own |= Q(subject_id=access.subject_id)
    return (
        Candidate.objects.filter(own, tenant_id=access.tenant_id, namespace_id__in=access.readable)
        .filter(Q(access_policy=None) | Q(access_policy_id__in=access.policies))
        .select_related("namespace", "retention_class")
    )


def read_candidate(access: Access, candidate_id: str) -> CandidateDetail:
    """One candidate by the proposer's id. Raises NotFound (absent, foreign and unreadable alike)."""
    with tenant_transaction(access):
        found = readable_candidates(access).filter(candidate_id=candidate_id).first()
        if found is None:
            raise NotFound
        return _details(access, [found])[0]


def list_candidates(access: Access, query: PageRequest, *, status: str | None) -> Page[CandidateDetail]:
    """Newest first."""
    with tenant_transaction(access):
        rows = readable_candidates(access)
        if status is not None:
            rows = rows.filter(status=status)
        found = page(rows, order=("-id",), query=query, caller=access.caller_id, route="memory-candidates")
        shown = _details(access, found.items)
        return Page(shown, found.next_cursor)


def candidates_of(tenant_id: UUID, event_id: UUID) -> list[str]:
    """The candidates that extraction made of an event, oldest first (registered with apps.evidence)."""
    rows = Candidate.objects.filter(tenant_id=tenant_id, event_id=event_id).order_by("id")
    return list(rows.values_list("candidate_id", flat=True))


def outcome_of(candidate: Candidate) -> CandidateOutcome:
    """The answer for a candidate as it stands."""
    revision = None if candidate.revision is None else revision_token(candidate.revision)
    written = candidate.status in (Candidate.Status.COMMITTED, Candidate.Status.CONFLICT)
    return CandidateOutcome(
        candidate_id=candidate.candidate_id,
        status=candidate.status,
        decision=candidate.decision,
        reasons=list(candidate.reasons),
        memory_id=None if candidate.memory_id is None else public_id("mem", candidate.memory_id),
        version=candidate.memory_version,
        revision=revision,
        conflict_id=None if candidate.conflict_set_id is None else public_id("cfl", candidate.conflict_set_id),
        indexed_revision=revision if written else None,
    )


def _details(access: Access, candidates: Iterable[Candidate]) -> list[CandidateDetail]:
    rows = list(candidates)
    texts = texts_of(access.tenant_id, [row for row in rows if row.content_id is not None and Reason.REVOKED not in row.reasons])
    said = _said_by_memories(access, [row for row in rows if row.content_id is None and row.memory_id is not None])
    return [_detail(row, texts.get(row.id) or said.get(row.id)) for row in rows]


def _said_by_memories(access: Access, rows: list[Candidate]) -> dict[UUID, IndexedText]:
    """Texts of the versions that candidates became, where the caller may read the memory."""
    if not rows:
        return {}
    readable = readable_memories(access).filter(id__in={row.memory_id for row in rows})
    versions = MemoryVersion.objects.filter(tenant_id=access.tenant_id, memory__in=readable).exclude(content=None)
    by_number = {(version.memory_id, version.version): version for version in versions}
    chosen = {}
    for row in rows:
        if row.memory_id is not None and row.memory_version is not None:
            version = by_number.get((row.memory_id, row.memory_version))
            if version is not None:
                chosen[row.id] = version
    texts = texts_of(access.tenant_id, chosen.values())
    return {key: texts[version.id] for key, version in chosen.items() if version.id in texts}


def _detail(row: Candidate, text: IndexedText | None) -> CandidateDetail:
    return CandidateDetail(
        **asdict(outcome_of(row)),
        scope=row.namespace.scope,
        scope_id=row.namespace.scope_id,
        memory_type=row.memory_type,
        fact_key=row.fact_key,
        content=None if text is None else text.content,
        rationale=None if text is None else text.rationale,
        aliases=[] if text is None else list(text.aliases),
        conditions=row.conditions,
        epistemic_status=row.epistemic_status,
        verdict=row.verdict,
        topics=row.topics,
        entities=row.entities,
        retrieval_policy=row.retrieval_policy,
        retention_class=row.retention_class.key,
        authority=row.authority,
        origin=row.origin,
        policy_version=row.policy_version,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        observed_at=row.observed_at,
        last_confirmed_at=row.last_confirmed_at,
        expected_resolution_at=row.expected_resolution_at,
        created_at=row.created_at,
        decided_at=row.decided_at,
        expires_at=row.expires_at,
    )
