"""Showing private text to a person: only who may read it, for a purpose, and never without an entry in the audit log (ID-35).

The console shows states, times and grounds to many roles, and no words. These two verbs show the words: of versions of a memory,
and of a candidate. Auditors and operators never get them here, whatever was granted to them; everybody else only through the door
that agents come through, namespace by namespace and policy by policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from apps.audits import log
from apps.core.errors import NotFound, NotPermitted
from apps.evidence.content import read_texts
from apps.memories.candidate_reads import CandidateDetail, read_candidate, readable_candidates
from apps.memories.conflicts import read_conflict
from apps.memories.door import require_readable
from apps.memories.models import MemoryVersion
from apps.memories.texts import texts_of
from apps.tenants.access import ActorKind
from apps.tenants.models import Role
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from apps.memories.conflicts import ConflictView
    from apps.tenants.access import Access

MAY_REVEAL = frozenset({Role.OWNER, Role.COMPLIANCE, Role.REVIEWER})
MOST_VERSIONS = 2  # that are shown at once: to be compared


class Purpose(StrEnum):
    """Why somebody looks; the code stands in the audit entry."""

    REVIEW = "review"
    SUBJECT_REQUEST = "subject_request"
    INCIDENT = "incident"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True)
class SaidVersion:
    """The private part of a version; ``erased`` when its text is gone."""

    number: int
    content: str = ""
    rationale: str = ""
    aliases: tuple[str, ...] = ()
    reason: str = ""
    conditions: Mapping[str, object] | None = None
    erased: bool = False


def may_reveal(access: Access) -> bool:
    """Whether the roles of a person let them see private text at all; which text, the reads decide."""
    return access.actor_kind == ActorKind.PERSON and bool(access.roles & MAY_REVEAL)


def reveal_versions(access: Access, memory_id: str, numbers: Sequence[int], *, purpose: Purpose) -> list[SaidVersion]:
    """What up to two versions of a memory say, in the order asked for; audited.

    Raises NotPermitted (a role that never sees text), NotFound (also for a version that is not there) and Revoked.
    """
    wanted = list(dict.fromkeys(numbers))
    if len(wanted) > MOST_VERSIONS:
        msg = f"at most {MOST_VERSIONS} versions are shown at once"
        raise ValueError(msg)
    with tenant_transaction(access):
        if not may_reveal(access):
            raise NotPermitted
        memory = require_readable(access, memory_id)
        rows = {
            row.version: row
            for row in MemoryVersion.objects.filter(tenant_id=access.tenant_id, memory=memory, version__in=wanted)
        }
        if len(rows) != len(wanted):
            raise NotFound
        texts = texts_of(access.tenant_id, rows.values())
        reasons = read_texts(access.tenant_id, [row.reason_id for row in rows.values()])
        shown = []
        for number in wanted:
            row = rows[number]
            text = texts.get(row.id)
            if text is None:
                shown.append(SaidVersion(number, erased=True))
                continue
            reason = reasons.get(row.reason_id, "") if row.reason_id else ""
            shown.append(SaidVersion(number, text.content, text.rationale or "", text.aliases, reason, row.conditions))
        log.record(
            access,
            "content.revealed",
            "memory",
            memory_id,
            namespace_id=memory.namespace_id,
            codes=[purpose, *(f"version:{number}" for number in wanted)],
        )
        return shown


def reveal_candidate(access: Access, candidate_id: str, *, purpose: Purpose) -> CandidateDetail:
    """A candidate with what it says; audited. Raises NotPermitted (a role that never sees text) and NotFound."""
    with tenant_transaction(access):
        if not may_reveal(access):
            raise NotPermitted
        found = read_candidate(access, candidate_id)
        namespace_id = readable_candidates(access).values_list("namespace_id", flat=True).get(candidate_id=candidate_id)
        log.record(access, "content.revealed", "candidate", candidate_id, namespace_id=namespace_id, codes=[purpose])
        return found


def reveal_conflict(access: Access, conflict_id: str, *, purpose: Purpose) -> ConflictView:
    """An open conflict with what its values say; audited. Raises NotPermitted (a role that never sees text) and NotFound."""
    with tenant_transaction(access):
        if not may_reveal(access):
            raise NotPermitted
        found = read_conflict(access, conflict_id)
        members = [f"{one.memory_id}:{one.version}" for one in found.members]
        log.record(access, "content.revealed", "conflict", conflict_id, codes=[purpose, *members])
        return found
