"""Carrying out a merge decision under the locks of one transaction (design/03 step 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.core.errors import VersionConflict
from apps.memories.commit import Holding, Saying, Span, Writer, review_date
from apps.memories.consolidation import Claim, Merge, decide
from apps.memories.lines import HEAD_STATES, Rival, load, lock_key
from apps.memories.models import Authority, ConflictSet, Decision, Memory, Relation
from apps.memories.proposals import conditions_hash
from apps.memories.reasons import Reason
from apps.memories.sources import Linked, roots_of, strength_of
from apps.memories.texts import texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from apps.memories.models import MemoryVersion
    from apps.tenants.access import Access


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


@dataclass(frozen=True, slots=True)
class Merged:
    """What became of a statement. ``waits``: it cannot be merged without somebody's decision, nothing was written."""

    decision: Decision | None
    reasons: tuple[Reason, ...] = ()
    memory_id: UUID | None = None
    version: int | None = None
    conflict_id: UUID | None = None
    revision: int | None = None
    waits: bool = False


def merge(writer: Writer, statement: Statement) -> Merged:
    """Lock the key, decide, and write. Raises VersionConflict when the head is not the expected one."""
    holding, saying = statement.holding, statement.saying
    rivals = lock_key(
        writer.tenant_id, writer.namespace.id, holding.memory_type, holding.fact_key, conditions_hash(saying.conditions)
    )
    if statement.expected_version is not None and statement.expected_version not in {one.memory.version for one in rivals}:
        raise VersionConflict(max((one.memory.version for one in rivals), default=0))
    reason = _needs_somebody(writer.access, rivals, holding)
    if reason is not None:
        return Merged(None, (reason,), waits=True)
    claim = Claim(
        proposition=saying.proposition,
        roots=roots_of(statement.links),
        effective_at=statement.effective_at,
        author=writer.author.subject_id,
        strength=strength_of(statement.links),
        valid_to=statement.valid_to,
    )
    in_conflict = any(rival.memory.conflict_set_id is not None for rival in rivals)
    found = decide(claim, [rival.line() for rival in rivals], in_conflict=in_conflict)
    return _EFFECTS[found.decision](writer, statement, rivals, found)


def _needs_somebody(access: Access, rivals: Sequence[Rival], holding: Holding) -> Reason | None:
    """Reasons why this caller's statement cannot touch what stands there, known only now that it is locked."""
    for rival in rivals:
        policy = rival.memory.access_policy_id
        if (policy is not None and policy not in access.policies) or holding.access_policy_id not in (None, policy):
            return Reason.NOT_AUTHORISED
        if rival.memory.authority != Authority.DATABASE:
            return Reason.GIT_AUTHORITY
    return None


# -- one function per decision


def _add(writer: Writer, statement: Statement, rivals: list[Rival], found: Merge) -> Merged:  # noqa: ARG001 - one shape
    made = writer.add(statement.holding, statement.saying, _span(writer, statement), statement.links, Decision.ADD)
    return _finished(writer, statement, made, Decision.ADD, 1)


def _no_op(writer: Writer, statement: Statement, rivals: list[Rival], found: Merge) -> Merged:  # noqa: ARG001
    memory = rivals[found.line or 0].memory
    return Merged(Decision.NO_OP, _codes(found), memory.id, memory.version, memory.conflict_set_id)


def _attach(writer: Writer, statement: Statement, rivals: list[Rival], found: Merge) -> Merged:
    rival, number = rivals[found.line or 0], found.standing or 0
    version = rival.versions[number]
    if found.backdates and statement.effective_at is not None:
        number = _backdate(writer, rival, version, statement)
    else:
        writer.attach(rival, number, statement.links)
    rival.memory.state = Memory.State.ACTIVE  # a new independent source answers a review for lost evidence (LN-11)
    return _finished(writer, statement, rival, Decision.ATTACH_EVIDENCE, rival.memory.version)


def _supersede(writer: Writer, statement: Statement, rivals: list[Rival], found: Merge) -> Merged:  # noqa: ARG001
    (rival,) = rivals
    span = _span(writer, statement)
    writer.end(rival, rival.memory.version, span.start)
    made = writer.append(rival, statement.saying, span, statement.links, Decision.SUPERSEDE)
    memory = rival.memory
    memory.state = Memory.State.ACTIVE
    memory.retention_class = statement.holding.retention_class
    memory.review_after = review_date(writer.at, memory.retention_class)
    return _finished(writer, statement, rival, Decision.SUPERSEDE, made.version)


def _insert(writer: Writer, statement: Statement, rivals: list[Rival], found: Merge) -> Merged:
    (rival,) = rivals
    span = replace(_span(writer, statement), end=found.ends)
    ended = None if found.standing is None else rival.versions[found.standing]
    resumed = None if ended is None or found.resumes_at is None else _Resumed.of(writer.tenant_id, rival, ended, found.resumes_at)
    if ended is not None:
        writer.end(rival, ended.version, span.start)
    made = writer.append(rival, statement.saying, span, statement.links, Decision.INSERT_HISTORY, behind=True)
    if resumed is not None:
        writer.append(rival, resumed.saying, resumed.span, resumed.links, Decision.INSERT_HISTORY, behind=not resumed.head)
    return _finished(writer, statement, rival, Decision.INSERT_HISTORY, made.version)


def _conflict(writer: Writer, statement: Statement, rivals: list[Rival], found: Merge) -> Merged:
    conflict = rivals[0].memory.conflict_set if rivals[0].memory.conflict_set_id else None
    if conflict is None:
        memory = rivals[0].memory
        conflict = ConflictSet.objects.create(
            tenant_id=writer.tenant_id,
            namespace_id=writer.namespace.id,
            memory_type=memory.memory_type,
            fact_key=memory.fact_key,
            conditions_hash=memory.conditions_hash,
            reason=found.reason or Reason.OPEN_CONFLICT,
            created_at=writer.at,
        )
        memory.conflict_set = conflict
        writer.touched[memory.id] = rivals[0]
    made = writer.add(statement.holding, statement.saying, _span(writer, statement), statement.links, Decision.CONFLICT, conflict)
    done = _finished(writer, statement, made, Decision.CONFLICT, 1, verb="memory.conflicted")
    return replace(done, reasons=_codes(found), conflict_id=conflict.id)


_EFFECTS = {
    Decision.ADD: _add,
    Decision.NO_OP: _no_op,
    Decision.ATTACH_EVIDENCE: _attach,
    Decision.SUPERSEDE: _supersede,
    Decision.INSERT_HISTORY: _insert,
    Decision.CONFLICT: _conflict,
}


# -- parts


def _span(writer: Writer, statement: Statement) -> Span:
    """The interval of a statement; without any effective time it starts when it was observed, or is recorded."""
    if statement.effective_at is not None:
        return Span(statement.effective_at, statement.valid_to, stated=True)
    start = statement.saying.observed_at or writer.at
    end = statement.valid_to
    return Span(start if end is None or start <= end else end, end, stated=False)


def _backdate(writer: Writer, rival: Rival, version: MemoryVersion, statement: Statement) -> int:
    """The same statement held earlier than was known: a version with the earlier start takes its place."""
    start = statement.effective_at
    if start is None:  # pragma: no cover - decided with a time
        return version.version
    was_head = version.version == rival.memory.version
    saying, until = said_by(writer.tenant_id, version), version.valid_to
    known = {link.evidence_id for link in rival.links[version.version]}
    links = [*rival.links[version.version], *(link for link in statement.links if link.evidence_id not in known)]
    for other in rival.live:
        if other.valid_from < start and (other.valid_to is None or other.valid_to > start):
            writer.end(rival, other.version, start)
    writer.correct(rival, version.version)
    made = writer.append(rival, saying, Span(start, until, stated=True), links, Decision.ATTACH_EVIDENCE, behind=not was_head)
    return made.version


@dataclass(frozen=True, slots=True)
class _Resumed:
    """What an ended version goes on to say from the instant for which its later evidence speaks."""

    saying: Saying
    span: Span
    links: list[Linked]
    head: bool

    @classmethod
    def of(cls, tenant_id: UUID, rival: Rival, ended: MemoryVersion, at: datetime) -> _Resumed:
        later = [link for link in rival.links[ended.version] if link.held_at is not None and link.held_at >= at]
        head = ended.version == rival.memory.version
        return cls(said_by(tenant_id, ended), Span(at, ended.valid_to, stated=True), later, head)


def said_by(tenant_id: UUID, version: MemoryVersion) -> Saying:
    """What a version says, for another version that says the same."""
    text = texts_of(tenant_id, [version])[version.id]
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


def _finished(
    writer: Writer, statement: Statement, rival: Rival, decision: Decision, version: int, *, verb: str = "memory.committed"
) -> Merged:
    _relate(writer, rival, statement)
    revision = writer.finish(verb, codes=[decision])
    memory = rival.memory
    return Merged(decision, (), memory.id, version, memory.conflict_set_id, revision)


def _relate(writer: Writer, rival: Rival, statement: Statement) -> None:
    """Relations of the new statement; what it supersedes elsewhere gives up its place (design/02 Relation)."""
    others = [(kind, target) for kind, target in statement.relations if target != rival.memory.id]
    if not others:
        return
    Relation.objects.bulk_create(
        [
            Relation(tenant_id=writer.tenant_id, source=rival.memory, target_id=target, type=kind, created_at=writer.at)
            for kind, target in others
        ],
        ignore_conflicts=True,
    )
    ended = [target for kind, target in others if kind == Relation.Type.SUPERSEDES]
    for other in lock_superseded(writer.tenant_id, ended):
        other.memory.state = Memory.State.SUPERSEDED
        writer.end(other, other.memory.version, statement.effective_at or writer.at)


def lock_superseded(tenant_id: UUID, targets: Sequence[UUID]) -> list[Rival]:
    """The heads among the targets, locked by primary key."""
    if not targets:
        return []
    rows = Memory.objects.select_for_update(of=("self",), no_key=True).filter(
        tenant_id=tenant_id, id__in=targets, state__in=HEAD_STATES, conflict_set=None
    )
    return load(tenant_id, list(rows.order_by("id")))


def _codes(found: Merge) -> tuple[Reason, ...]:
    return (found.reason,) if found.reason is not None else ()
