"""Opening reviews, and what each is about: its hash, how risky it is, who may not decide it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from apps.audits.models import AuditEntry
from apps.core import clock
from apps.core.canonical import json_hash
from apps.core.errors import NotFound
from apps.core.ids import parse_public_id
from apps.evidence.models import SourceEvent
from apps.memories.models import OPEN, Candidate, EvidenceLink, Memory, ReviewKind, ReviewRequest
from apps.memories.reasons import Reason
from apps.memories.reviews.policies import current_policy, due_days
from apps.tenants.access import ActorKind
from apps.tenants.models import AccessPolicy, Role, Scope, User

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.tenants.access import Access, NamespaceGrant

PREFIX = "rvw"
REVIEWERS = frozenset({Role.REVIEWER, Role.OWNER})
# Reasons for waiting that a reviewer can answer; results answer needs_evidence, and a merge in Git what belongs there.
ANSWERABLE = frozenset({Reason.NOT_AUTHORISED, Reason.ORGANIZATION_SCOPE, Reason.HIDDEN_CHARACTERS})
LOW, MIDDLE, HIGH, HIGHEST = 1, 2, 3, 4
_RISKS = {
    ReviewKind.REVALIDATION: MIDDLE,
    ReviewKind.PROMOTION_PROJECT: HIGH,
    ReviewKind.PROMOTION_ORGANIZATION: HIGHEST,
}


# -- opening


def new_request(tenant_id: UUID, kind: str, namespace_id: UUID, *, risk: int, **about: object) -> ReviewRequest:
    """A request under the rule now in force; the caller writes it."""
    policy, at = current_policy(tenant_id, kind), clock.now()
    return ReviewRequest(
        tenant_id=tenant_id,
        kind=kind,
        namespace_id=namespace_id,
        policy=policy,
        risk=risk,
        created_at=at,
        due_at=at + timedelta(days=due_days(policy, kind)),
        **about,
    )


def of_candidate(candidate: Candidate, scope: str) -> ReviewRequest:
    """The review of a proposal that waits. What holds for everybody, and what does not read as it looks, goes first."""
    risky = scope == Scope.ORGANIZATION or Reason.HIDDEN_CHARACTERS in candidate.reasons
    return new_request(
        candidate.tenant_id,
        ReviewKind.CANDIDATE,
        candidate.namespace_id,
        risk=HIGH if risky else LOW,
        candidate_id=candidate.id,
        subject_hash=hash_of_candidate(candidate),
        requested_by=candidate.actor_id,
        requested_for_id=candidate.subject_id,
    )


def open_revalidations(tenant_id: UUID) -> int:
    """A review for every memory that has to be looked at again and has none; returns how many."""
    there = ReviewRequest.objects.filter(
        tenant_id=tenant_id, memory_id=OuterRef("pk"), kind=ReviewKind.REVALIDATION, status__in=OPEN
    )
    found = Memory.objects.filter(~Exists(there), tenant_id=tenant_id, state=Memory.State.NEEDS_REVIEW)
    rows = [
        new_request(
            tenant_id,
            ReviewKind.REVALIDATION,
            memory.namespace_id,
            risk=_RISKS[ReviewKind.REVALIDATION],
            memory_id=memory.id,
            subject_hash=hash_of_memory(memory, ReviewKind.REVALIDATION, memory.namespace_id),
        )
        for memory in found.select_related("head").order_by("id")
    ]
    ReviewRequest.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


def risk_of(kind: str) -> int:
    """How much an error would cost, for the order of the queue."""
    return _RISKS[ReviewKind(kind)]


# -- what it is about


def hash_of_candidate(candidate: Candidate) -> str:
    """A proposal never changes; its fingerprint is that of the whole request."""
    return json_hash([ReviewKind.CANDIDATE.value, str(candidate.id), candidate.fingerprint])


def hash_of_memory(memory: Memory, kind: str, namespace_id: UUID) -> str:
    """The version that is looked at, and where it would hold: any edit makes another one."""
    head = memory.head
    said = None if head is None else [head.version, head.content_hash, head.conditions]
    return json_hash([str(kind), str(memory.id), said, str(namespace_id)])


def hash_of(request: ReviewRequest) -> str:
    """The present state of what a request is about."""
    if request.candidate is not None:
        return hash_of_candidate(request.candidate)
    if request.memory is None:
        return ""
    return hash_of_memory(request.memory, request.kind, request.namespace_id)


# -- who


def may_review(access: Access, grant: NamespaceGrant | None) -> bool:
    """A person with a reviewing role and the permission there; what holds for everybody needs ``promote`` besides (ID-17)."""
    if access.actor_kind != ActorKind.PERSON or not access.roles & REVIEWERS or grant is None or not grant.review:
        return False
    return grant.scope != Scope.ORGANIZATION or grant.promote


def visible_requests(access: Access) -> QuerySet[ReviewRequest]:
    """Reviews in namespaces that the person reviews, of what they may read under its policy."""
    reviewed = [grant.id for grant in access.namespaces if grant.review]
    rows = ReviewRequest.objects.filter(tenant_id=access.tenant_id, namespace_id__in=reviewed)
    rows = rows.exclude(memory__access_policy__in=_foreign_policies(access))
    return rows.exclude(candidate__access_policy__in=_foreign_policies(access)).select_related(
        "namespace", "policy", "candidate", "memory__head", "memory__namespace"
    )


def find_request(access: Access, request_id: str) -> ReviewRequest:
    """Raises NotFound: absent, foreign, and in a namespace that is not reviewed by the caller look the same."""
    key = parse_public_id(PREFIX, request_id)
    found = None if key is None else visible_requests(access).filter(pk=key).first()
    if found is None:
        raise NotFound
    return found


def _foreign_policies(access: Access) -> QuerySet[AccessPolicy]:
    return AccessPolicy.objects.filter(tenant_id=access.tenant_id).exclude(id__in=access.policies)


def barred_people(request: ReviewRequest) -> set[UUID]:
    """Who wrote it, asked for it, sent its evidence, or made the agent that did: none of them can decide about it."""
    found = {request.requested_by}
    events: Iterable[object] = ()
    if request.candidate is not None:
        found.add(request.candidate.actor_id)
        events = request.candidate.source_events
    elif request.memory is not None:
        memory = request.memory
        found |= {memory.created_by, memory.head.author_id if memory.head else None}
        links = EvidenceLink.objects.filter(tenant_id=memory.tenant_id, version_id=memory.head_id)
        events = list(links.exclude(evidence__event=None).values_list("evidence__event_id", flat=True))
    found |= set(SourceEvent.objects.filter(tenant_id=request.tenant_id, id__in=list(events)).values_list("actor_id", flat=True))
    people = {key for key in found if key is not None}
    agents = User.objects.filter(id__in=people, kind=User.Kind.AGENT).values_list("key", flat=True)
    made = AuditEntry.objects.filter(
        tenant_id=request.tenant_id, verb="agent.created", object_id__in=list(agents), actor_kind=ActorKind.PERSON
    )
    return people | {key for key in made.values_list("actor_id", flat=True) if key is not None}
