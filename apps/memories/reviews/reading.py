"""What a reviewer looks at: the words of what is proposed, of the record that stands there now, and why it was asked for.

Showing them is an entry in the audit log (ID-35).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.audits import log
from apps.core.errors import NotPermitted
from apps.core.ids import public_id
from apps.evidence.content import read_texts
from apps.memories.lines import HEAD_STATES
from apps.memories.models import Memory, MemoryVersion, ReviewKind
from apps.memories.proposals import conditions_hash
from apps.memories.revealing import SaidVersion, may_reveal
from apps.memories.reviews.requests import PREFIX, find_request, may_review
from apps.memories.texts import texts_of
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from apps.memories.models import Candidate, ReviewRequest
    from apps.tenants.access import Access


@dataclass(frozen=True, slots=True)
class ReviewWords:
    """``current``: what stands under the same key where the proposal would hold, or what a memory said before."""

    proposed: SaidVersion
    current: SaidVersion | None
    rationale: str


def reveal_review(access: Access, request_id: str) -> ReviewWords:
    """The words of a review, to who decides about it; audited. Raises NotFound and NotPermitted."""
    with tenant_transaction(access):
        row = find_request(access, request_id)
        if not may_reveal(access) or not may_review(access, access.by_id.get(row.namespace_id)):
            raise NotPermitted
        subject = row.candidate or (row.memory.head if row.memory else None)
        other = standing_beside(row)
        texts = texts_of(access.tenant_id, [one for one in (subject, other) if one is not None])
        rationale = read_texts(access.tenant_id, [row.rationale_id]).get(row.rationale_id, "") if row.rationale_id else ""
        log.record(
            access,
            "content.revealed",
            "review",
            public_id(PREFIX, row.pk),
            namespace_id=row.namespace_id,
            codes=["review", row.kind],
        )

        def said(one: Candidate | MemoryVersion | None) -> SaidVersion:
            text = None if one is None else texts.get(one.id)
            if one is None or text is None:
                return SaidVersion(0, erased=True)
            number = one.version if isinstance(one, MemoryVersion) else 0
            return SaidVersion(number, text.content, text.rationale or "", text.aliases, "", one.conditions)

        return ReviewWords(said(subject), None if other is None else said(other), rationale)


def standing_beside(row: ReviewRequest) -> MemoryVersion | None:
    """The record that the proposal would meet."""
    if row.kind == ReviewKind.REVALIDATION:
        if row.memory is None:
            return None
        earlier = MemoryVersion.objects.filter(tenant_id=row.tenant_id, memory=row.memory, version__lt=row.memory.version)
        return earlier.exclude(content=None).order_by("-version").first()
    key = row.candidate or row.memory
    said = row.candidate or (None if row.memory is None else row.memory.head)
    if key is None or said is None:
        return None
    found = Memory.objects.filter(
        tenant_id=row.tenant_id,
        namespace_id=row.namespace_id,
        memory_type=key.memory_type,
        fact_key=key.fact_key,
        conditions_hash=conditions_hash(said.conditions),
        state__in=HEAD_STATES,
    )
    memory = found.select_related("head").order_by("id").first()
    return None if memory is None else memory.head
