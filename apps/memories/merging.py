"""Carrying out a merge decision under the locks of one transaction (design/03 step 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.core.errors import VersionConflict
from apps.memories.commit import Holding, Saying, Span, review_date
from apps.memories.consolidation import Claim, Merge, decide
from apps.memories.models import Authority, ConflictSet, Decision, Memory, Relation
from apps.memories.proposals import conditions_hash
from apps.memories.reasons import Reason
from apps.memories.sources import Linked, roots_of, strength_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from apps.memories.consolidation import Closing
    from apps.memories.lines import Key, Rival
    from apps.memories.models import MemoryVersion
    from apps.memories.projections import IndexedText
    from apps.memories.writing import Writer
    from apps.tenants.access import Access

_LEAST_MEMBERS = 2  # of a conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """An admitted proposal, ready to be compared and written."""

    holding: Holding
    saying: Saying
    links: list[Linked]
    valid_from: datetime | None
    valid_to: datetime | None
    effective_at: datetime | None
    expected_version: int | None = None
    relations: tuple[tuple[str, UUID], ...] = ()

    @property
    def key(self) -> Key:
        return str(self.holding.memory_type), self.holding.fact_key, conditions_hash(self.saying.conditions)


@dataclass(frozen=True, slots=True)
class Merged:
    """What became of a statement; without a decision it cannot be merged before somebody has decided, and nothing was written."""

    decision: Decision | None
    reasons: tuple[Reason, ...] = ()
    memory_id: UUID | None = None
    version: int | None = None
    conflict_id: UUID | None = None


def merge(writer: Writer, statement: Statement) -> Merged:
    """Decide, and write. The key is locked. Raises VersionConflict when the head is not the expected one."""
    rivals = writer.keys.under(statement.key)
    # Before the version is compared: whoever may not see a record does not learn how often it was changed.
    reason = _needs_somebody(writer.access, rivals, statement.holding)
    if reason is not None:
        return Merged(None, (reason,))
    versions = {rival.memory.version for rival in rivals if not rival.past}
    if statement.expected_version is not None and statement.expected_version not in versions:
        raise VersionConflict(max(versions, default=0))
    saying = statement.saying
    claim = Claim(
        proposition=saying.proposition,
        roots=roots_of(statement.links),
        effective_at=statement.effective_at,
        author=writer.author.subject_id,
        strength=strength_of(statement.links),
        valid_to=statement.valid_to,
    )
    found = decide(claim, [rival.line() for rival in rivals])
    if found.decision is Decision.NO_OP:
        memory = rivals[found.line or 0].memory
        return Merged(Decision.NO_OP, _codes(found), memory.id, memory.version, memory.conflict_set_id)
    return _carry_out(writer, statement, rivals, found)


def _needs_somebody(access: Access, rivals: Sequence[Rival], holding: Holding) -> Reason | None:
    """Reasons why this caller's statement cannot touch what stands there, known only now that it is locked."""
    for rival in rivals:
        policy = rival.memory.access_policy_id
        if (policy is not None and policy not in access.policies) or holding.access_policy_id not in (None, policy):
            return Reason.NOT_AUTHORISED
        if rival.memory.authority != Authority.DATABASE:
            return Reason.GIT_AUTHORITY
    return None


def _carry_out(writer: Writer, statement: Statement, rivals: list[Rival], found: Merge) -> Merged:
    """What ends by the statement first, then the statement itself, then what its coming means for a dispute."""
    at = statement.effective_at
    for closing in found.closes:
        _close(writer, rivals[closing.line], closing, at or writer.at)
    rival, version = _EFFECTS[found.decision](writer, statement, rivals, found)
    for place in found.retires:
        writer.retire(rivals[place], rival, at or writer.at)
    if found.decision is Decision.CONFLICT:
        _dispute(writer, rivals, rival, found)
    elif found.retires:
        _settle(writer, [*rivals, rival])
    _relate(writer, rival, statement)
    writer.finish("memory.conflicted" if found.decision is Decision.CONFLICT else "memory.committed", codes=[found.decision])
    return Merged(found.decision, _codes(found), rival.memory.id, version, rival.memory.conflict_set_id)


# -- one function per decision: the memory that the statement is part of now, and its version there


def _add(writer: Writer, statement: Statement, rivals: list[Rival], found: Merge) -> tuple[Rival, int]:  # noqa: ARG001 - one shape
    return writer.add(statement.holding, statement.saying, _span(writer, statement), statement.links, Decision.ADD), 1


def _attach(writer: Writer, statement: Statement, rivals: list[Rival], found: Merge) -> tuple[Rival, int]:
    rival, number = rivals[found.line or 0], found.standing or 0
    if found.backdates and statement.effective_at is not None:
        _backdate(writer, rival, rival.versions[number], statement.effective_at, statement.links)
    else:
        writer.attach(rival, number, statement.links)
    if rival.memory.state == Memory.State.NEEDS_REVIEW:  # a new independent source answers a review for lost evidence (LN-11)
        rival.memory.state = Memory.State.ACTIVE
    return rival, rival.memory.version


def _supersede(writer: Writer, statement: Statement, rivals: list[Rival], found: Merge) -> tuple[Rival, int]:
    rival = rivals[found.line or 0]
    made = writer.append(rival, statement.saying, _span(writer, statement), statement.links, found.decision)
    memory = rival.memory
    memory.state = Memory.State.ACTIVE
    memory.retention_class = statement.holding.retention_class
    memory.review_after = review_date(writer.at, memory.retention_class)
    return rival, made.version


def _insert(writer: Writer, statement: Statement, rivals: list[Rival], found: Merge) -> tuple[Rival, int]:
    rival = rivals[found.line or 0]
    span = replace(_span(writer, statement), end=found.ends)
    if found.beside:  # contradicted for its own time, and over: a line of its own, which the present one has replaced
        made = writer.add(statement.holding, statement.saying, span, statement.links, Decision.INSERT_HISTORY, past=True)
        writer.relate(rival.memory, [made.memory.id], Relation.Type.SUPERSEDES)
        return made, 1
    last = rival.past and span.start > rival.head.valid_from
    version = writer.append(rival, statement.saying, span, statement.links, Decision.INSERT_HISTORY, behind=not last)
    return rival, version.version


def _conflict(writer: Writer, statement: Statement, rivals: list[Rival], found: Merge) -> tuple[Rival, int]:
    if found.line is not None:  # a further word of somebody who is in the dispute already
        return _supersede(writer, statement, rivals, found)
    return writer.add(statement.holding, statement.saying, _span(writer, statement), statement.links, Decision.CONFLICT), 1


_EFFECTS = {
    Decision.ADD: _add,
    Decision.ATTACH_EVIDENCE: _attach,
    Decision.SUPERSEDE: _supersede,
    Decision.INSERT_HISTORY: _insert,
    Decision.CONFLICT: _conflict,
}


# -- disputes


def _dispute(writer: Writer, rivals: Sequence[Rival], rival: Rival, found: Merge) -> None:
    """Every current value of the key is a member of one open conflict."""
    members = {one.memory.id: one for one in (*rivals, rival) if not one.past}
    conflict = next((one.memory.conflict_set_id for one in members.values() if one.memory.conflict_set_id), None)
    if conflict is None:
        memory = rival.memory
        conflict = ConflictSet.objects.create(
            tenant_id=writer.tenant_id,
            namespace_id=writer.namespace.id,
            memory_type=memory.memory_type,
            fact_key=memory.fact_key,
            conditions_hash=memory.conditions_hash,
            reason=found.reason or Reason.OPEN_CONFLICT,
            created_at=writer.at,
        ).id
    for one in members.values():
        if one.memory.conflict_set_id != conflict:
            one.memory.conflict_set_id = conflict
            writer.touch(one)


def _settle(writer: Writer, rivals: Sequence[Rival]) -> None:
    """A conflict of which fewer than two members are left is over."""
    members = {one.memory.id: one for one in rivals if one.memory.conflict_set_id is not None}
    if len(members) >= _LEAST_MEMBERS:
        return
    over = [one.memory.conflict_set_id for one in members.values() if one.memory.conflict_set_id is not None]
    ConflictSet.objects.filter(tenant_id=writer.tenant_id, id__in=over).update(
        status=ConflictSet.Status.RESOLVED, resolved_at=writer.at, last_members=[one.memory.id for one in rivals]
    )
    for one in members.values():
        one.memory.conflict_set_id = None
        writer.touch(one)


# -- parts


def _span(writer: Writer, statement: Statement) -> Span:
    """The interval of a statement; without any effective time it starts when it was observed, or is recorded."""
    if statement.effective_at is not None:
        return Span(statement.effective_at, statement.valid_to, stated=True)
    start = statement.saying.observed_at or writer.at
    end = statement.valid_to
    return Span(start if end is None or start <= end else end, end, stated=False)


def _close(writer: Writer, rival: Rival, closing: Closing, at: datetime) -> None:
    """End a version where another value begins; from where its own later evidence speaks it holds again."""
    version = rival.versions[closing.standing]
    until, head = version.valid_to, version.version == rival.memory.version
    writer.end(rival, version.version, at)
    again = closing.resumes_at
    if again is None or (until is not None and until <= again):
        return
    saying = said_by(version, writer.text_of(version))
    links = rival.links[version.version]
    later = [link for link in links if link.held_at is not None and link.held_at >= again]
    # Where only a confirmation speaks for the later time, it confirmed what the evidence said.
    kept = [] if later else list(links)
    resumed = writer.append(rival, saying, Span(again, until, stated=True), kept, Decision.INSERT_HISTORY, behind=not head)
    writer.move_evidence(rival, version.version, resumed, later)


def _backdate(writer: Writer, rival: Rival, version: MemoryVersion, start: datetime, links: list[Linked]) -> None:
    """The same statement held earlier than was known: a version with the earlier start takes its place."""
    was_head, until = version.version == rival.memory.version, version.valid_to
    known = {link.evidence_id for link in rival.links[version.version]}
    every = [*rival.links[version.version], *(link for link in links if link.evidence_id not in known)]
    saying = said_by(version, writer.text_of(version))
    writer.correct(rival, version.version)
    writer.append(rival, saying, Span(start, until, stated=True), every, Decision.ATTACH_EVIDENCE, behind=not was_head)


def said_by(version: MemoryVersion, text: IndexedText) -> Saying:
    """What a version says, for another version that says the same."""
    return Saying(
        content=text.content,
        rationale=text.rationale,
        aliases=text.aliases,
        conditions=version.conditions,
        topics=tuple(version.topics),
        entities=tuple(version.entities),
        epistemic_status=version.epistemic_status,
        verdict=version.verdict,
        retrieval_policy=version.retrieval_policy,
        occurred_at=version.occurred_at,
        observed_at=version.observed_at,
        last_confirmed_at=version.last_confirmed_at,
        expected_resolution_at=version.expected_resolution_at,
        hidden_characters=version.hidden_characters,
    )


def _relate(writer: Writer, rival: Rival, statement: Statement) -> None:
    """Relations of the new statement; what it supersedes elsewhere gives up its place (design/02 Relation)."""
    others = [(kind, target) for kind, target in statement.relations if target != rival.memory.id]
    for kind in dict.fromkeys(kind for kind, _ in others):
        writer.relate(rival.memory, [target for one, target in others if one == kind], kind)
    ended = [target for kind, target in others if kind == Relation.Type.SUPERSEDES]
    for other in writer.keys.heads_of(ended) if ended else ():
        writer.end(other, other.memory.version, statement.effective_at or writer.at)
        other.memory.state = Memory.State.SUPERSEDED


def _codes(found: Merge) -> tuple[Reason, ...]:
    return (found.reason,) if found.reason is not None else ()
