"""Claiming a review and voting about it. The vote that completes a quorum commits what was asked, in the same transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from apps.audits import log
from apps.core import clock
from apps.core.errors import (
    FieldError,
    NotPermitted,
    ReviewClaimed,
    ReviewClosed,
    ReviewerBarred,
    StaleReview,
    ValidationFailed,
)
from apps.core.ids import public_id
from apps.evidence.content import erase_texts, store_text
from apps.memories.admission import is_forbidden
from apps.memories.commit import lock_namespace, remerged
from apps.memories.models import OPEN, Candidate, Memory, ReviewRequest, ReviewVote
from apps.memories.reviews import effects
from apps.memories.reviews.deciding import Ballot, Outcome, Tally, tally
from apps.memories.reviews.policies import rule_of
from apps.memories.reviews.requests import PREFIX, REVIEWERS, barred_people, find_request, hash_of, may_review
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from apps.memories.commit import LockedNamespace
    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

LEASE = timedelta(minutes=30)

Verdict = ReviewVote.Verdict
Status = ReviewRequest.Status


@dataclass(frozen=True, slots=True)
class Claimed:
    """Who claims it sees the hash that a vote has to name."""

    review_id: str
    until: datetime
    subject_hash: str


@dataclass(frozen=True, slots=True)
class Voted:
    """Where the review stands after a vote."""

    review_id: str
    status: str
    approvals: int
    needed: int
    memory_id: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """A verdict about the state that was seen. Whoever does not approve says why, with a code; words are optional."""

    verdict: str
    seen_hash: str
    reason_code: str = ""
    comment: str = ""


@dataclass(slots=True)
class _Open:
    """A review under its locks: the namespaces, what it is about, and its own row, in this order."""

    request: ReviewRequest
    namespace: LockedNamespace


def claim_review(access: Access, request_id: str) -> Claimed:
    """Take a review for half an hour; one's own claim begins anew. It ends by itself.

    Raises NotFound, NotPermitted, ReviewerBarred, ReviewClosed and ReviewClaimed (by somebody else).
    """
    with tenant_transaction(access):
        row = _locked(access, request_id).request
        _require_free(access, row)
        row.claimed_by, row.claimed_until = access.actor_id, clock.now() + LEASE
        row.save(update_fields=["claimed_by", "claimed_until"])
        _note(access, row, "review.claimed")
        return Claimed(request_id, row.claimed_until, row.subject_hash)


def release_review(access: Access, request_id: str) -> None:
    """Give a claim back; one that is not one's own stays. Raises NotFound, NotPermitted, ReviewerBarred, ReviewClosed."""
    with tenant_transaction(access):
        row = _locked(access, request_id).request
        if row.claimed_by == access.actor_id:
            row.claimed_by = row.claimed_until = None
            row.save(update_fields=["claimed_by", "claimed_until"])
            _note(access, row, "review.released")


def cast_vote(access: Access, request_id: str, vote: Vote) -> Voted:
    """Say what one thinks of the state one has seen; another vote about the same state takes the place of the first.

    Raises NotFound, NotPermitted, ReviewerBarred (author, sender of evidence, requester, owner of the agent), ReviewClosed,
    ReviewClaimed, StaleReview (it was edited since), ReviewNotPossible (the write protocol refuses what was approved) and
    ValidationFailed.
    """

    def work() -> Voted:
        with tenant_transaction(access) as tx:
            found = _locked(access, request_id)
            _require_free(access, found.request)
            if vote.seen_hash != found.request.subject_hash:
                raise StaleReview
            _require_whole(vote)
            _keep(access, found.request, vote)
            return _settle(access, tx, found, vote)

    return remerged(work)


def standing_of(request: ReviewRequest, subject_hash: str) -> Tally:
    """What the votes so far amount to for a state of the subject."""
    ballots = [
        Ballot(vote.reviewer_id, vote.verdict, vote.subject_hash, frozenset(vote.roles))
        for vote in ReviewVote.objects.filter(tenant_id=request.tenant_id, request=request)
    ]
    return tally(ballots, subject_hash, rule_of(request.policy, request.kind))


# -- steps


def _locked(access: Access, request_id: str) -> _Open:
    """Find, authorise and lock; the hash of what it is about now is written down, so that older votes are void."""
    seen = find_request(access, request_id)
    if not may_review(access, access.by_id.get(seen.namespace_id)):
        raise NotPermitted
    others = effects.namespaces_of(seen)
    namespace = lock_namespace(access.tenant_id, seen.namespace_id, others - {seen.namespace_id})
    # What it is about, before the request: whoever changes that ends the request in the same order.
    own = {"tenant_id": access.tenant_id}
    if seen.candidate_id is not None:
        Candidate.objects.select_for_update(no_key=True).get(pk=seen.candidate_id, **own)
    elif seen.memory_id is not None:
        Memory.objects.select_for_update(no_key=True).get(pk=seen.memory_id, **own)
    rows = ReviewRequest.objects.select_related(
        "policy", "namespace", "candidate__retention_class", "memory__head", "memory__retention_class"
    )
    row = rows.select_for_update(of=("self",), no_key=True).get(pk=seen.pk, **own)
    if row.status not in OPEN:
        raise ReviewClosed
    rule = rule_of(row.policy, row.kind)
    if rule.author_barred and access.actor_id in barred_people(row):
        raise ReviewerBarred
    current = hash_of(row)
    if current != row.subject_hash:
        row.subject_hash, row.status = current, Status.PENDING_REVIEW
        row.save(update_fields=["subject_hash", "status"])
    return _Open(row, namespace)


def _require_free(access: Access, row: ReviewRequest) -> None:
    held = row.claimed_by is not None and row.claimed_until is not None and row.claimed_until > clock.now()
    if held and row.claimed_by != access.actor_id:
        raise ReviewClaimed(cast("datetime", row.claimed_until))


def _require_whole(vote: Vote) -> None:
    if vote.verdict != Verdict.APPROVE and not vote.reason_code:
        raise ValidationFailed([FieldError("/reason_code", "required", "Say why it is not approved.")])
    if is_forbidden(vote.comment):
        raise ValidationFailed([FieldError("/comment", "forbidden_material", "This holds something that may not be stored.")])


def _keep(access: Access, row: ReviewRequest, vote: Vote) -> None:
    """One vote of each reviewer about each state; the words of one that is replaced are erased."""
    own = ReviewVote.objects.filter(
        tenant_id=access.tenant_id, request=row, reviewer_id=access.actor_id, subject_hash=row.subject_hash
    ).first()
    before = None if own is None else own.comment_id
    found = own or ReviewVote(tenant_id=access.tenant_id, request=row, reviewer_id=access.actor_id, subject_hash=row.subject_hash)
    found.verdict, found.reason_code = vote.verdict, "" if vote.verdict == Verdict.APPROVE else vote.reason_code
    found.comment_id = store_text(access.tenant_id, row.namespace_id, vote.comment or None)
    found.roles = sorted(str(role) for role in access.roles & REVIEWERS)
    found.cast_at = clock.now()
    found.save()
    if before is not None:
        erase_texts(access.tenant_id, [before])
    codes = (vote.verdict, *([found.reason_code] if found.reason_code else []))
    _note(access, row, "review.voted", codes)


def _settle(access: Access, tx: TenantTransaction, found: _Open, vote: Vote) -> Voted:
    row = found.request
    stands = standing_of(row, row.subject_hash)
    row.claimed_by = row.claimed_until = None
    became: tuple[UUID, int] | None = None
    if stands.outcome in _ENDS:
        # Closed first: what the effects change would end it as undecided otherwise.
        row.status, row.decided_at = _ENDS[stands.outcome], clock.now()
        row.save(update_fields=["status", "decided_at", "claimed_by", "claimed_until"])
        became = _EFFECTS[stands.outcome](access, tx, found.namespace, row, vote.comment)
        if became is not None:
            row.result_memory_id, row.result_version = became
            row.save(update_fields=["result_memory", "result_version"])
        _note(access, row, "review.approved" if stands.outcome is Outcome.APPROVED else "review.rejected")
    else:
        row.status = Status.CHANGES_REQUESTED if stands.outcome is Outcome.CHANGES_REQUESTED else Status.PENDING_REVIEW
        row.save(update_fields=["status", "claimed_by", "claimed_until"])
    return Voted(
        review_id=public_id(PREFIX, row.pk),
        status=row.status,
        approvals=stands.approvals,
        needed=stands.needed,
        memory_id=None if became is None else public_id("mem", became[0]),
        version=None if became is None else became[1],
    )


_ENDS = {Outcome.APPROVED: Status.APPROVED, Outcome.REJECTED: Status.REJECTED}
_EFFECTS = {Outcome.APPROVED: effects.approve, Outcome.REJECTED: effects.reject}


def _note(access: Access, row: ReviewRequest, verb: str, codes: tuple[str, ...] = ()) -> None:
    words = (row.kind, *codes)
    log.record(access, verb, "review", public_id(PREFIX, row.pk), namespace_id=row.namespace_id, codes=words)
