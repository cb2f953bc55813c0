"""Promotions: asking that a memory hold for a project or for the whole organization (AI-06, ID-17; design/02 Promotion)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.audits import log
from apps.core.errors import Conflict, FieldError, NotFound, NotPermitted, ReviewPending, ValidationFailed, VersionConflict
from apps.core.ids import parse_public_id, public_id
from apps.core.text import fold_key
from apps.evidence.content import store_text
from apps.memories.admission import is_forbidden
from apps.memories.commit import lock_namespace, remerged
from apps.memories.door import require_readable
from apps.memories.models import OPEN, Authority, Memory, ReviewKind, ReviewRequest, ReviewVote
from apps.memories.reviews.requests import PREFIX, hash_of_memory, new_request, risk_of
from apps.memories.reviews.voting import standing_of
from apps.tenants.models import Scope
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from apps.tenants.access import Access, NamespaceGrant

_BREADTH = {Scope.USER: 0, Scope.PROJECT: 1, Scope.ORGANIZATION: 2}


class Target(models.TextChoices):
    """For whom the memory is to hold; ``git``: as knowledge that Git owns."""

    GIT = "git", _("Git")
    PROJECT = "project", _("project")
    ORGANIZATION = "organization", _("organization")


_KINDS = {Target.PROJECT: ReviewKind.PROMOTION_PROJECT, Target.ORGANIZATION: ReviewKind.PROMOTION_ORGANIZATION}


@dataclass(frozen=True, slots=True)
class PromotionRequested:
    """It waits: nothing has changed yet (CA-19)."""

    promotion_id: str
    status: str
    due_at: datetime


@dataclass(frozen=True, slots=True)
class ReviewGiven:
    """One vote. ``counts``: it was about the memory as it is now; an edit voids votes."""

    verdict: str
    reason: str | None
    at: datetime
    counts: bool


@dataclass(frozen=True, slots=True)
class PromotionView:
    """How a promotion stands. ``base_commit`` and ``merge_commit`` belong to Git and are null for the database's own targets."""

    promotion_id: str
    memory_id: str
    target: str
    target_id: str
    status: str
    approvals: int
    approvals_needed: int
    reviews: list[ReviewGiven]
    base_commit: str | None
    merge_commit: str | None
    result_memory_id: str | None
    result_version: int | None
    created_at: datetime
    due_at: datetime
    decided_at: datetime | None


def request_promotion(
    access: Access, memory_id: str, *, target: str, target_id: str | None, rationale: str, expected_version: int
) -> PromotionRequested:
    """Put a promotion before the reviewers of its target.

    Raises NotFound (the memory, or a project out of reach), Revoked, NotPermitted (readable, not writable), VersionConflict,
    Conflict (not active, or in dispute), ReviewPending (asked for already) and ValidationFailed (``target_unavailable``: no Git
    in this installation; ``not_wider``: it holds there already; forbidden material in the rationale).
    """

    def work() -> PromotionRequested:
        with tenant_transaction(access):
            seen = require_readable(access, memory_id)
            if not access.by_id[seen.namespace_id].write:
                raise NotPermitted
            lock_namespace(access.tenant_id, seen.namespace_id)
            memory = (
                Memory.objects.select_for_update(of=("self",), no_key=True).select_related("head", "namespace").get(pk=seen.pk)
            )
            if memory.state == Memory.State.REVOKED:
                require_readable(access, memory_id)
            if memory.version != expected_version:
                raise VersionConflict(memory.version)
            if memory.state != Memory.State.ACTIVE or memory.conflict_set_id is not None:
                raise Conflict
            grant = _target(access, memory, target, target_id)
            if is_forbidden(rationale):
                detail = "This holds something that may not be stored."
                raise ValidationFailed([FieldError("/rationale", "forbidden_material", detail)])
            return _open(access, memory, Target(target), grant, rationale)

    return remerged(work)


def read_promotion(access: Access, promotion_id: str) -> PromotionView:
    """A promotion of a memory that the caller may read. Raises NotFound, and Revoked when the memory was deleted."""
    key = parse_public_id(PREFIX, promotion_id)
    with tenant_transaction(access):
        rows = ReviewRequest.objects.filter(tenant_id=access.tenant_id, kind__in=_KINDS.values())
        found = (
            None
            if key is None
            else rows.filter(pk=key, memory__namespace_id__in=access.readable)
            .select_related("namespace", "policy", "memory__head")
            .first()
        )
        if found is None or found.memory is None:
            raise NotFound
        require_readable(access, public_id("mem", found.memory.id))
        return _view(found, found.memory)


def _target(access: Access, memory: Memory, target: str, target_id: str | None) -> NamespaceGrant:
    if target == Target.GIT or memory.authority != Authority.DATABASE:
        detail = "Git is not connected in this installation; a memory can be promoted to a project or to the organization."
        raise ValidationFailed([FieldError("/target", "target_unavailable", detail)])
    if target == Target.PROJECT:
        if target_id is None:
            raise ValidationFailed([FieldError("/target_id", "required", "Name the project.")])
        grant = access.namespace_for(Scope.PROJECT, fold_key(target_id))
    else:
        grant = access.namespace_for(Scope.ORGANIZATION, target_id)
    if _BREADTH[Scope(grant.scope)] <= _BREADTH[Scope(memory.namespace.scope)]:
        raise ValidationFailed([FieldError("/target", "not_wider", "The memory holds for as many people already.")])
    return grant


def _open(access: Access, memory: Memory, target: Target, grant: NamespaceGrant, rationale: str) -> PromotionRequested:
    kind = _KINDS[target]
    there = ReviewRequest.objects.filter(
        tenant_id=access.tenant_id, memory=memory, kind=kind, namespace_id=grant.id, status__in=OPEN
    )
    if there.exists():
        raise ReviewPending
    row = new_request(
        access.tenant_id,
        kind,
        grant.id,
        risk=risk_of(kind),
        memory_id=memory.id,
        subject_hash=hash_of_memory(memory, kind, grant.id),
        # The words of whoever asks lie with the memory and are erased with it.
        rationale_id=store_text(access.tenant_id, memory.namespace_id, rationale),
        requested_by=access.actor_id,
        requested_for_id=access.subject_id,
    )
    row.save(force_insert=True)
    codes = (kind, public_id("mem", memory.id))
    log.record(access, "review.requested", "review", public_id(PREFIX, row.pk), namespace_id=memory.namespace_id, codes=codes)
    return PromotionRequested(public_id(PREFIX, row.pk), row.status, row.due_at)


def _view(row: ReviewRequest, memory: Memory) -> PromotionView:
    current = hash_of_memory(memory, row.kind, row.namespace_id) if row.status in OPEN else row.subject_hash
    stands = standing_of(row, current)
    votes = ReviewVote.objects.filter(tenant_id=row.tenant_id, request=row).order_by("cast_at", "id")
    return PromotionView(
        promotion_id=public_id(PREFIX, row.pk),
        memory_id=public_id("mem", memory.id),
        target=row.namespace.scope,
        target_id=row.namespace.scope_id,
        status=row.status,
        approvals=stands.approvals,
        approvals_needed=stands.needed,
        reviews=[
            ReviewGiven(vote.verdict, vote.reason_code or None, vote.cast_at, vote.subject_hash == current) for vote in votes
        ],
        base_commit=None,
        merge_commit=None,
        result_memory_id=None if row.result_memory_id is None else public_id("mem", row.result_memory_id),
        result_version=row.result_version,
        created_at=row.created_at,
        due_at=row.due_at,
        decided_at=row.decided_at,
    )
