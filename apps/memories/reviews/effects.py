"""What an approval or a rejection brings about. Everything is written through the write protocol, under the locks of the vote.

Proposals and promotions are judged once more, by the service itself within exactly the namespaces concerned: what was deleted,
became unavailable or is in dispute by now is refused or put in conflict as always. A review answers only the reasons for which
somebody had to look.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from apps.audits import log
from apps.core import clock
from apps.core.errors import DomainError, ReviewNotPossible
from apps.core.ids import public_id
from apps.evidence.models import Evidence, SourceEvent
from apps.memories import conflicts, waiting
from apps.memories.candidates import settle_all
from apps.memories.commit import Author, Span, review_date
from apps.memories.judging import Case
from apps.memories.lines import lock_memory
from apps.memories.merging import said_by
from apps.memories.models import (
    Candidate,
    Decision,
    EpistemicStatus,
    EvidenceLink,
    Memory,
    MemoryType,
    Relation,
    RetrievalPolicy,
    ReviewKind,
    Verdict,
)
from apps.memories.proposals import Proposal, ProposedRelation
from apps.memories.reasons import Reason
from apps.memories.reviews.requests import ANSWERABLE, PREFIX
from apps.memories.revision import VALIDATE, WITHDRAW
from apps.memories.texts import texts_of
from apps.memories.writing import Writer
from apps.tenants.console_access import service_access

if TYPE_CHECKING:
    from uuid import UUID

    from apps.memories.commit import LockedNamespace
    from apps.memories.models import ReviewRequest
    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

ORIGIN = "promotion"
_WORDS_OF_SERVICE = "review"


def namespaces_of(request: ReviewRequest) -> set[UUID]:
    """Every namespace that the effect looks into: where it is, where it comes from, where its sources lie."""
    found = {request.namespace_id}
    events: list[UUID] = []
    if request.candidate is not None:
        events = list(request.candidate.source_events)
        found |= set(
            Evidence.objects.filter(tenant_id=request.tenant_id, id__in=request.candidate.evidence).values_list(
                "namespace_id", flat=True
            )
        )
    elif request.memory is not None:
        found.add(request.memory.namespace_id)
        links = EvidenceLink.objects.filter(tenant_id=request.tenant_id, version_id=request.memory.head_id)
        found_rows = links.values_list("evidence__event_id", "evidence__namespace_id")
        rows = cast("list[tuple[UUID | None, UUID]]", list(found_rows))
        events = [event for event, _ in rows if event is not None]
        found |= {namespace for _, namespace in rows}
    rows_of = SourceEvent.objects.filter(tenant_id=request.tenant_id, id__in=events)
    return found | set(rows_of.values_list("namespace_id", flat=True))


def approve(
    access: Access, tx: TenantTransaction, namespace: LockedNamespace, request: ReviewRequest, comment: str
) -> tuple[UUID, int] | None:
    """Commit what was asked; returns the memory and the version that it became. Raises ReviewNotPossible."""
    if request.kind == ReviewKind.CANDIDATE:
        return _take_up(access, tx, namespace, request)
    if request.kind == ReviewKind.REVALIDATION:
        return _validate(access, tx, namespace, request, comment)
    return _promote(access, tx, namespace, request)


def reject(
    access: Access, tx: TenantTransaction, namespace: LockedNamespace, request: ReviewRequest, comment: str
) -> tuple[UUID, int] | None:
    """A proposal is rejected, a memory that did not stand the second look is withdrawn; a promotion just does not happen."""
    if request.candidate is not None:
        row = request.candidate
        row.status, row.decision, row.decided_at = Candidate.Status.REJECTED, Decision.REJECT, clock.now()
        row.reasons = [*row.reasons, Reason.REJECTED_BY_REVIEW.value]
        row.save(update_fields=["status", "decision", "decided_at", "reasons"])
        entry = (row.status, *row.reasons)
        log.record(access, "candidate.decided", "candidate", row.candidate_id, namespace_id=row.namespace_id, codes=entry)
    elif request.kind == ReviewKind.REVALIDATION:
        return _withdraw(access, tx, namespace, request, comment)
    return None


# -- a proposal


def _take_up(
    access: Access, tx: TenantTransaction, namespace: LockedNamespace, request: ReviewRequest
) -> tuple[UUID, int] | None:
    row = request.candidate
    text = None if row is None else texts_of(access.tenant_id, [row]).get(row.id)
    if row is None or text is None or not {Reason(code) for code in row.reasons} <= ANSWERABLE:
        raise ReviewNotPossible
    service = _service(access, request, row.access_policy_id)
    case = Case(
        service.by_id[row.namespace_id], waiting.author_of(row), waiting.proposal_of(row, text), row.event_id, answers=ANSWERABLE
    )
    writer = Writer(tx, service, namespace, case.author)
    waiting.judge_again(writer, [row], [case])
    if row.status in (Candidate.Status.PENDING_REVIEW, Candidate.Status.REJECTED):
        raise ReviewNotPossible
    return None if row.memory_id is None else (row.memory_id, row.memory_version or 1)


# -- a promotion


def _promote(
    access: Access, tx: TenantTransaction, namespace: LockedNamespace, request: ReviewRequest
) -> tuple[UUID, int] | None:
    """The version that was reviewed becomes a record of its own where it is to hold, made from the original, which stays."""
    memory = request.memory
    head = None if memory is None else memory.head
    text = None if head is None else texts_of(access.tenant_id, [head]).get(head.id)
    if memory is None or head is None or text is None:
        raise ReviewNotPossible
    links = EvidenceLink.objects.filter(tenant_id=access.tenant_id, version=head, stance=EvidenceLink.Stance.SUPPORTS)
    rows = list(links.values_list("evidence_id", "evidence__event__event_id", "evidence__availability"))
    usable = [row for row in rows if row[2] == Evidence.Availability.AVAILABLE]
    service = _service(access, request, memory.access_policy_id)
    grant = service.by_id[request.namespace_id]
    proposal = Proposal(
        candidate_id=f"{ORIGIN}:{public_id(PREFIX, request.pk)}",
        scope=grant.scope,
        scope_id=grant.scope_id,
        memory_type=MemoryType(memory.memory_type),
        fact_key=memory.fact_key,
        content=text.content,
        rationale=text.rationale,
        aliases=text.aliases,
        conditions=head.conditions,
        epistemic_status=EpistemicStatus(head.epistemic_status),
        verdict=None if head.verdict is None else Verdict(head.verdict),
        topics=tuple(head.topics),
        entities=tuple(head.entities),
        source_event_ids=tuple(name for _, name, _ in usable if name is not None),
        evidence_refs=tuple(public_id("evd", key) for key, name, _ in usable if name is None),
        valid_from=head.valid_from if head.effective else None,
        valid_to=head.valid_to,
        observed_at=head.observed_at,
        last_confirmed_at=head.last_confirmed_at,
        expected_resolution_at=head.expected_resolution_at,
        retrieval_policy=RetrievalPolicy(head.retrieval_policy),
        retention_class=memory.retention_class.key,
        access_policy_id=None if memory.access_policy is None else memory.access_policy.key,
        relations=(ProposedRelation(Relation.Type.DERIVED_FROM, public_id("mem", memory.id)),),
        origin=ORIGIN,
    )
    author = Author(head.author_id, head.author_subject_id, ORIGIN, head.session_id)
    # A record that was reviewed with its original beside it is traceable to that.
    case = Case(grant, author, proposal, answers=ANSWERABLE | {Reason.NO_SOURCE})
    (done,) = settle_all(tx, service, namespace, [case])
    if isinstance(done, DomainError):
        raise ReviewNotPossible
    made = Candidate.objects.get(tenant_id=access.tenant_id, candidate_id=proposal.candidate_id)
    if made.status in (Candidate.Status.PENDING_REVIEW, Candidate.Status.REJECTED) or made.memory_id is None:
        raise ReviewNotPossible
    return made.memory_id, made.memory_version or 1


# -- another look


def _validate(
    access: Access, tx: TenantTransaction, namespace: LockedNamespace, request: ReviewRequest, comment: str
) -> tuple[UUID, int]:
    """It stands: a version that says the same, confirmed now, on the evidence that can still be looked at."""
    writer, memory_id = _writer(access, tx, namespace, request)
    rival = lock_memory(access.tenant_id, memory_id)
    head = rival.head
    saying = replace(said_by(head, writer.text_of(head)), reason=comment or None, last_confirmed_at=writer.at)
    links = rival.links[head.version]
    available = set(
        Evidence.objects.filter(
            tenant_id=access.tenant_id,
            id__in=[link.evidence_id for link in links],
            availability=Evidence.Availability.AVAILABLE,
        ).values_list("id", flat=True)
    )
    writer.correct(rival, head.version)
    kept = [link for link in links if link.evidence_id in available]
    writer.append(rival, saying, Span(head.valid_from, head.valid_to, stated=head.effective), kept, VALIDATE)
    rival.memory.state = Memory.State.ACTIVE
    rival.memory.review_after = review_date(writer.at, rival.memory.retention_class)
    writer.finish("memory.confirmed", codes=["review"])
    writer.flush()
    return rival.memory.id, rival.memory.version


def _withdraw(
    access: Access, tx: TenantTransaction, namespace: LockedNamespace, request: ReviewRequest, comment: str
) -> tuple[UUID, int]:
    writer, memory_id = _writer(access, tx, namespace, request)
    rival = lock_memory(access.tenant_id, memory_id)
    head = rival.head
    saying = replace(said_by(head, writer.text_of(head)), reason=comment or None)
    links = list(rival.links[head.version])
    writer.correct(rival, head.version)
    writer.append(rival, saying, Span(head.valid_from, head.valid_to, stated=head.effective), links, WITHDRAW)
    rival.memory.state = Memory.State.WITHDRAWN
    conflicts.leave(access.tenant_id, rival.memory, tx.next_revision())
    writer.finish("memory.withdrawn", codes=["review"])
    writer.flush()
    return rival.memory.id, rival.memory.version


def _writer(access: Access, tx: TenantTransaction, namespace: LockedNamespace, request: ReviewRequest) -> tuple[Writer, UUID]:
    memory = request.memory
    if memory is None or memory.state != Memory.State.NEEDS_REVIEW:
        raise ReviewNotPossible
    return Writer(tx, access, namespace, Author(access.actor_id, None, "review", "")), memory.id


def _service(access: Access, request: ReviewRequest, policy_id: UUID | None) -> Access:
    """The platform itself, within the namespaces of this one decision; the reviewer need not read where the sources lie."""
    found = service_access(access.tenant_id, namespaces_of(request), actor=_WORDS_OF_SERVICE, request_id=access.request_id)
    return replace(found, policies=frozenset() if policy_id is None else frozenset({policy_id}), subject_id=None, subject=None)
