"""The words around reviews: why something was asked for, and what reviewers said. They go with what they are about.

The votes themselves stay: who decided what, when and by which code is a record that holds no words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Q

from apps.core.ids import public_id
from apps.evidence.content import erase_texts, read_texts
from apps.memories.models import ReviewRequest, ReviewVote
from apps.memories.reviews.requests import PREFIX
from apps.retention.layers import CHUNK
from apps.retention.models import TargetKind

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.memories.models import Candidate
    from apps.retention.layers import Target


def worded(target: Target, revoked: Collection[UUID], dropped: QuerySet[Candidate]) -> QuerySet[ReviewRequest]:
    """Reviews of what a deletion takes, or that its subject asked for, as far as words are left of them."""
    reach = Q(memory_id__in=revoked) | Q(candidate__in=dropped.values("id"))
    if target.kind == TargetKind.SUBJECT:
        reach |= Q(requested_for_id=target.target_id)
    elif target.kind == TargetKind.NAMESPACE:
        reach |= Q(namespace_id=target.target_id)
    rows = ReviewRequest.objects.filter(reach, tenant_id=target.tenant_id)
    commented = ReviewVote.objects.filter(tenant_id=target.tenant_id).exclude(comment=None)
    return rows.filter(Q(rationale__isnull=False) | Q(id__in=commented.values("request_id")))


def erase_words(target: Target, rows: QuerySet[ReviewRequest]) -> int:
    """Take the words of at most a chunk of these reviews away; returns of how many."""
    found = list(rows.order_by("id")[:CHUNK])
    keys = [row.id for row in found]
    votes = ReviewVote.objects.filter(tenant_id=target.tenant_id, request_id__in=keys).exclude(comment=None)
    texts = {row.rationale_id for row in found} | set(votes.values_list("comment_id", flat=True))
    votes.update(comment=None)
    ReviewRequest.objects.filter(tenant_id=target.tenant_id, id__in=keys).update(rationale=None)
    erase_texts(target.tenant_id, [key for key in texts if key is not None])
    return len(found)


def handed_out(tenant_id: UUID, rows: Sequence[ReviewRequest]) -> list[dict[str, Any]]:
    """Reviews as they are handed out to whom they are about; who voted is not theirs to know."""
    votes = ReviewVote.objects.filter(tenant_id=tenant_id, request__in=list(rows)).order_by("cast_at")
    given: dict[UUID, list[ReviewVote]] = {}
    for vote in votes:
        given.setdefault(vote.request_id, []).append(vote)
    keys = [row.rationale_id for row in rows] + [vote.comment_id for found in given.values() for vote in found]
    texts = read_texts(tenant_id, keys)
    return [
        {
            "review_id": public_id(PREFIX, row.id),
            "kind": row.kind,
            "status": row.status,
            "rationale": texts.get(row.rationale_id) if row.rationale_id else None,
            "created_at": row.created_at,
            "decided_at": row.decided_at,
            "votes": [
                {
                    "verdict": vote.verdict,
                    "reason": vote.reason_code or None,
                    "comment": texts.get(vote.comment_id) if vote.comment_id else None,
                    "at": vote.cast_at,
                }
                for vote in given.get(row.id, [])
            ],
        }
        for row in rows
    ]
