"""Candidates that wait for evidence, and what releases them (EV-16, design/03 Admission table row 4).

"All tests passed" is no fact until its results are there. A later event that says it was made from that claim
(``derived_from``) and that brings a record or a tool's report is such a result; a retelling of the claim is not (LN-05).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from apps.core.errors import DomainError
from apps.core.ids import public_id
from apps.evidence.content import erase_texts
from apps.evidence.models import Derivation, SourceEvent, Trust
from apps.memories.candidates import decision_entry, record_judgement
from apps.memories.commit import Author, LockedNamespace
from apps.memories.judging import Case, judge_all
from apps.memories.models import Authority, Candidate, EpistemicStatus, MemoryType, RetrievalPolicy, Verdict
from apps.memories.proposals import Proposal, ProposedRelation
from apps.memories.reasons import Reason
from apps.memories.texts import texts_of
from apps.memories.writing import Writer

if TYPE_CHECKING:
    from apps.memories.projections import IndexedText
    from apps.tenants.access import Access, NamespaceGrant
    from apps.tenants.transactions import TenantTransaction

_BRINGS_RESULTS = frozenset({Trust.TOOL, Trust.RECORD})


def release(tx: TenantTransaction, access: Access, grant: NamespaceGrant, namespace: LockedNamespace, event: SourceEvent) -> int:
    """Judge again what waits for the evidence that this event brings; returns how many candidates that were.

    The transaction holds the namespace row. A candidate that still waits for something else says so.
    """
    if event.trust not in _BRINGS_RESULTS:
        return 0
    claims = Derivation.objects.filter(tenant_id=access.tenant_id, child_id=event.id).values("parent_id")
    waiting = Candidate.objects.filter(
        tenant_id=access.tenant_id,
        namespace_id=namespace.id,
        event_id__in=claims,
        status=Candidate.Status.PENDING_REVIEW,
        reasons__contains=[Reason.NEEDS_EVIDENCE.value],
    )
    rows = list(waiting.order_by("id").select_related("retention_class").select_for_update(of=("self",), no_key=True))
    texts = texts_of(access.tenant_id, rows)
    released = [row for row in rows if row.id in texts]
    if released:
        cases = [Case(grant, author_of(row), proposal_of(row, texts[row.id], event)) for row in released]
        writer = Writer(tx, access, namespace, cases[0].author)
        judge_again(writer, released, cases)
    return len(rows)


def judge_again(writer: Writer, rows: list[Candidate], cases: list[Case]) -> None:
    """Judge candidates that waited, and write down what became of them; one that cannot be judged waits on."""
    judged: list[Candidate] = []
    done: set[UUID] = set()  # texts that a memory holds now
    for row, found in zip(rows, judge_all(writer, cases), strict=True):
        if isinstance(found, DomainError):  # a label or a related memory is gone since: it waits on
            continue
        record_judgement(row, found)
        if row.memory_id is not None:
            done |= {key for key in (row.content_id, row.rationale_id, row.aliases_id) if key is not None}
            row.content_id = row.rationale_id = row.aliases_id = None
        writer.note(decision_entry(row))
        judged.append(row)
    writer.flush(dated=judged)
    for row in judged:
        row.save()
    erase_texts(writer.tenant_id, done)


def author_of(row: Candidate) -> Author:
    return Author(row.actor_id, row.subject_id, row.origin, row.session_id)


def proposal_of(row: Candidate, text: IndexedText, event: SourceEvent | None = None) -> Proposal:
    """The candidate as it was proposed, resting on its own sources and on the event that answers it, if one does."""
    kept = Proposal(
        candidate_id=row.candidate_id,
        scope="",
        memory_type=MemoryType(row.memory_type),
        fact_key=row.fact_key,
        content=text.content,
        rationale=text.rationale,
        aliases=text.aliases,
        conditions=row.conditions,
        epistemic_status=EpistemicStatus(row.epistemic_status),
        verdict=None if row.verdict is None else Verdict(row.verdict),
        topics=tuple(row.topics),
        entities=tuple(row.entities),
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        observed_at=row.observed_at,
        last_confirmed_at=row.last_confirmed_at,
        expected_resolution_at=row.expected_resolution_at,
        retrieval_policy=RetrievalPolicy(row.retrieval_policy),
        retention_class=row.retention_class.key,
        access_policy_id=None if row.access_policy is None else row.access_policy.key,
        authority=Authority(row.authority),
        relations=tuple(ProposedRelation(one["type"], public_id("mem", UUID(one["memory"]))) for one in row.relations),
        origin=row.origin,
    )
    names = SourceEvent.objects.filter(tenant_id=row.tenant_id, id__in=row.source_events).values_list("event_id", flat=True)
    evidence = tuple(public_id("evd", key) for key in row.evidence)
    answering = () if event is None else (event.event_id,)
    return replace(kept, source_event_ids=(*names, *answering), evidence_refs=evidence)
