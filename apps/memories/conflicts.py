"""Conflict sets: who is in them, what is shown of them, and when they are over (VH-08, LN-24)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from apps.core import clock
from apps.core.cursors import Page, PageRequest, page
from apps.core.errors import NotFound
from apps.core.ids import parse_public_id, public_id
from apps.evidence.models import Trust
from apps.memories import timeline
from apps.memories.door import readable_memories
from apps.memories.lines import HEAD_STATES, load
from apps.memories.models import ConflictSet, EpistemicStatus, Memory
from apps.memories.precedence import EXPLANATIONS as RULES
from apps.memories.precedence import Ground, weigh
from apps.memories.reasons import Reason
from apps.memories.sources import FIDELITY_ORDER
from apps.memories.texts import texts_of
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.memories.lines import Rival
    from apps.tenants.access import Access

_LEAST_MEMBERS = 2
_PRIMARY = frozenset({Trust.SUBJECT, Trust.RECORD})

EXPLANATIONS = {
    Reason.EQUAL_TIME: "Several values are stated for the same time.",
    Reason.NO_EFFECTIVE_TIME: "At least one value does not say since when it holds.",
    Reason.OTHER_SUBJECT: "Different subjects state different values.",
    Reason.WEAKER_FIDELITY: "The later value rests on weaker evidence than the earlier one.",
    Reason.OPEN_CONFLICT: "The value was in dispute already.",
}


@dataclass(frozen=True, slots=True)
class ConflictValue:
    """One of the values, with what speaks for it."""

    memory_id: str
    version: int
    content: str
    valid_from: datetime
    valid_from_stated: bool
    independent_evidence_count: int
    fidelity: str | None
    source_refs: list[str]
    epistemic_status: str
    authority: str
    occurred_at: datetime | None


@dataclass(frozen=True, slots=True)
class PrecedenceView:
    """What one rule of LN-23 says: the values it favours; none when it does not tell them apart."""

    rule: str
    explanation: str
    favours: list[str]


@dataclass(frozen=True, slots=True)
class ConflictView:
    """An open conflict. ``ask``: what a reader should do; no value of it is to be taken as the fact (PK-07).

    ``precedence`` explains what speaks for which value, in its order, and ``favoured`` is what is left; a reviewer decides.
    """

    conflict_id: str
    scope: str
    scope_id: str
    memory_type: str
    fact_key: str
    reason: str
    explanation: str
    ask: str
    status: str
    members: list[ConflictValue]
    precedence: list[PrecedenceView]
    favoured: str | None
    created_at: datetime


def list_conflicts(access: Access, query: PageRequest) -> Page[ConflictView]:
    """Open conflicts with at least one member that the caller may read, newest first."""
    with tenant_transaction(access):
        found = page(_readable(access), order=("-id",), query=query, caller=access.caller_id, route="memory-conflicts")
        return Page(_views(access, found.items), found.next_cursor)


def read_conflict(access: Access, conflict_id: str) -> ConflictView:
    """One open conflict. Raises NotFound: absent, settled, and without a readable member look the same."""
    key = parse_public_id("cfl", conflict_id)
    with tenant_transaction(access):
        found = None if key is None else _readable(access).filter(pk=key).first()
        if found is None:
            raise NotFound
        return _views(access, [found])[0]


def leave(tenant_id: UUID, memory: Memory, revision: int) -> list[UUID]:
    """Take a memory out of its conflict, and end a conflict of which fewer than two members are left.

    Returns the memories that are free again by that. The caller saves the memory itself.
    """
    conflict = memory.conflict_set_id
    memory.conflict_set = None
    return [] if conflict is None else settle_emptied(tenant_id, [conflict], revision, without=[memory.id])


def settle_emptied(tenant_id: UUID, conflicts: Iterable[UUID], revision: int, *, without: Iterable[UUID] = ()) -> list[UUID]:
    """End those conflicts that have fewer than two members left; returns the memories that are free again."""
    freed: list[UUID] = []
    for conflict in conflicts:
        members = Memory.objects.filter(tenant_id=tenant_id, conflict_set_id=conflict, state__in=HEAD_STATES)
        left = list(
            members.exclude(id__in=list(without)).order_by("id").select_for_update(no_key=True).values_list("id", flat=True)
        )
        if len(left) >= _LEAST_MEMBERS:
            continue
        Memory.objects.filter(tenant_id=tenant_id, id__in=left).update(conflict_set=None, updated_revision=revision)
        ConflictSet.objects.filter(tenant_id=tenant_id, id=conflict).update(
            status=ConflictSet.Status.RESOLVED, resolved_at=clock.now(), last_members=[*left, *without]
        )
        freed += left
    return freed


def _readable(access: Access) -> QuerySet[ConflictSet]:
    members = readable_memories(access).exclude(conflict_set=None).values("conflict_set_id")
    return ConflictSet.objects.filter(tenant_id=access.tenant_id, status=ConflictSet.Status.OPEN, id__in=members).select_related(
        "namespace"
    )


def _views(access: Access, sets: Iterable[ConflictSet]) -> list[ConflictView]:
    rows = {one.id: one for one in sets}
    found = list(timeline.conflicts_with_members(access, rows.values()))
    heads = timeline.heads(access.tenant_id, [key for one in found for key in one.member_pks])
    texts = texts_of(access.tenant_id, heads.values())
    sources = timeline.sources_of(access, [head.id for head in heads.values()])
    memories = Memory.objects.filter(tenant_id=access.tenant_id, id__in=list(heads)) if heads else ()
    rivals = {rival.memory.id: rival for rival in load(access.tenant_id, list(memories))}
    views = []
    for one in found:
        row = rows[one.pk]
        members = []
        for key in one.member_pks:
            head = heads.get(key)
            if head is None or head.id not in texts:
                continue
            ground = sources.get(head.id)
            members.append(
                ConflictValue(
                    memory_id=public_id("mem", key),
                    version=head.version,
                    content=texts[head.id].content,
                    valid_from=head.valid_from,
                    valid_from_stated=head.effective,
                    independent_evidence_count=head.independent_evidence_count,
                    fidelity=None if ground is None else ground.fidelity,
                    source_refs=[] if ground is None else list(ground.refs),
                    epistemic_status=head.epistemic_status,
                    authority=rivals[key].memory.authority,
                    occurred_at=head.occurred_at,
                )
            )
        findings, favoured = weigh([ground_of(rivals[key]) for key in one.member_pks if key in rivals])
        views.append(
            ConflictView(
                conflict_id=one.conflict_id,
                scope=row.namespace.scope,
                scope_id=row.namespace.scope_id,
                memory_type=row.memory_type,
                fact_key=row.fact_key,
                reason=row.reason,
                explanation=EXPLANATIONS.get(Reason(row.reason), ""),
                ask="verify",
                status=row.status,
                members=members,
                precedence=[
                    PrecedenceView(found.rule, RULES[found.rule], [public_id("mem", key) for key in found.favoured])
                    for found in findings
                ],
                favoured=None if favoured is None else public_id("mem", favoured),
                created_at=row.created_at,
            )
        )
    return views


def ground_of(rival: Rival) -> Ground:
    """What the current version of a value rests on, for the precedence of LN-23."""
    head, links = rival.head, rival.links[rival.memory.version]
    explicit = head.epistemic_status == EpistemicStatus.EXPLICIT
    return Ground(
        memory=rival.memory.id,
        primary=any(trust in _PRIMARY for link in links for trust in link.trusts) if links else explicit,
        explicit=explicit,
        dated_at=head.valid_from if head.effective else None,
        fidelity_rank=min(
            (FIDELITY_ORDER.index(link.fidelity) for link in links), default=0 if explicit else len(FIDELITY_ORDER)
        ),
    )
