"""The open conflicts that a packet touches, told with both sides and their sources (PK-07, RP-23)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.core.ids import public_id
from apps.memories import timeline
from apps.memories.texts import texts_of
from apps.retrieval.packet import Conflict, ConflictMember
from apps.retrieval.vocabulary import Stage

if TYPE_CHECKING:
    from apps.retrieval.context import QueryContext
    from apps.retrieval.selection import Selection
    from apps.tenants.access import Access

EXPLANATIONS = {
    "equal_time": "Two values begin at the same time and nothing tells which one holds.",
    "no_effective_time": "A value came without a time from which it holds.",
    "other_subject": "Somebody else's word stands against the record.",
    "weaker_fidelity": "The newer value rests on weaker evidence than the older one.",
    "unreliable_source": "The newer value comes from a source that cannot decide the fact.",
}
EXPLANATION = "Sources, conditions or times do not decide which of these holds. Verify before relying on any of them."


def disputes_of(access: Access, context: QueryContext, selection: Selection) -> list[Conflict]:
    """Each open conflict with every member the caller may read, also those that found no room in the packet."""
    touched = {row.candidate.memory_id for row in selection.chosen if row.candidate.conflict_id}
    touched |= {row.candidate.memory_id for row in selection.rejected if row.candidate.conflict_id and row.stage == Stage.PACKING}
    if not touched:
        return []
    found = timeline.open_conflicts(access, touched)
    members = {key for conflict in found for key in conflict.member_pks}
    heads = timeline.heads(context.tenant_id, members)
    texts = texts_of(context.tenant_id, heads.values())
    sources = timeline.sources_of(access, [head.id for head in heads.values()])
    return [
        Conflict(
            conflict.conflict_id,
            conflict.fact_key,
            [
                ConflictMember(
                    memory_id=public_id("mem", key),
                    version=heads[key].version,
                    content=texts[heads[key].id].content,
                    valid_from=heads[key].valid_from if heads[key].effective else None,
                    source_refs=list(sources[heads[key].id].refs) if heads[key].id in sources else [],
                )
                for key in conflict.member_pks
                if key in heads and heads[key].id in texts
            ],
            EXPLANATIONS.get(conflict.reason, EXPLANATION),
        )
        for conflict in found
    ]
