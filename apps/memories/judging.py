"""Judging proposals under the lock of their namespace: admission, and the merge of those admitted (design/03 steps 3 and 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.core.errors import DomainError, FieldError, ValidationFailed, VersionConflict
from apps.core.ids import parse_public_id
from apps.evidence.lineage import ensure_evidence
from apps.evidence.models import SourceType, Trust
from apps.memories import extractors, labels
from apps.memories.admission import Admission, Known, Result, admit
from apps.memories.commit import Author, Holding, LockedNamespace, Saying
from apps.memories.digests import fact_digest
from apps.memories.door import readable_memories
from apps.memories.extractors.base import SourceText
from apps.memories.merging import Merged, Statement, merge
from apps.memories.models import Memory, Relation
from apps.memories.reasons import Reason
from apps.memories.sources import Named, Sources, gather_all, links_to
from apps.retention import barrier
from apps.retention.classes import ENGINEERING_KNOWLEDGE, find_class
from apps.tenants.models import AccessPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from apps.evidence.models import Evidence
    from apps.memories.proposals import Proposal
    from apps.memories.writing import Writer
    from apps.retention.models import RetentionClass
    from apps.tenants.access import Access, NamespaceGrant


READER = "rules"  # knows what an order looks like


@dataclass(frozen=True, slots=True)
class Case:
    """A proposal, whose word it is, and what the caller may do in the namespace it is for."""

    grant: NamespaceGrant
    author: Author
    proposal: Proposal
    event_id: UUID | None = None  # it was read from
    answers: frozenset[Reason] = frozenset()  # reasons for waiting to which a review has said yes


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found out about a proposal, and what became of it. ``merged`` is None unless it was admitted."""

    admission: Admission
    merged: Merged | None
    sources: Sources
    retention: RetentionClass
    policy_id: UUID | None
    relations: tuple[tuple[str, UUID], ...]

    @property
    def reasons(self) -> list[str]:
        """Every code, in the order in which it was found."""
        later: tuple[Reason, ...] = () if self.merged is None else self.merged.reasons
        return [reason.value for reason in dict.fromkeys((*self.admission.reasons, *later))]


@dataclass(frozen=True, slots=True)
class _Checked:
    """A proposal that passed the strict checks of its names, and what they stand for."""

    case: Case
    digest: int
    retention: RetentionClass
    policy_id: UUID | None
    relations: tuple[tuple[str, UUID], ...]
    may_relate: bool


def judge_all(writer: Writer, cases: Sequence[Case]) -> list[Judgement | DomainError]:
    """Admit proposals for one namespace or not, and merge those that are admitted, one after the other; the caller flushes.

    In the place of a proposal that cannot be judged stands why: ValidationFailed (unknown label, retention class, policy or
    related memory) or VersionConflict (expected_version). Nothing of it was written, and the others do not suffer.
    """
    names = _Names(writer.access)
    checked = [_checked(writer, names, case) for case in cases]
    fine = [one for one in checked if isinstance(one, _Checked)]
    gathered = iter(
        gather_all(
            writer.access,
            [Named(one.case.proposal.source_event_ids, one.case.proposal.evidence_refs, one.digest) for one in fine],
        )
    )
    admitted: list[tuple[_Checked, Sources, Admission] | DomainError] = []
    for one in checked:
        if isinstance(one, _Checked):
            sources = next(gathered)
            admitted.append((one, sources, _admission(writer, one, sources)))
        else:
            admitted.append(one)
    return _merged(writer, admitted)


def _checked(writer: Writer, names: _Names, case: Case) -> _Checked | DomainError:
    proposal, namespace = case.proposal, writer.namespace
    try:
        labels.require_known(writer.tenant_id, proposal.topics, proposal.entities)
        relations, may_relate = _relations(writer.access, namespace, case.author, proposal)
        return _Checked(
            case=case,
            digest=fact_digest(namespace.index_key, namespace.id, proposal.memory_type, proposal.fact_key),
            retention=names.retention(proposal.retention_class),
            policy_id=names.policy(proposal.access_policy_id),
            relations=tuple(relations),
            may_relate=may_relate,
        )
    except ValidationFailed as wrong:
        return wrong


def _admission(writer: Writer, one: _Checked, sources: Sources) -> Admission:
    grant, proposal, namespace = one.case.grant, one.case.proposal, writer.namespace
    known = Known(
        scope=grant.scope,
        may_write=grant.write and one.may_relate,
        has_source=sources.any or Reason.NO_SOURCE in one.case.answers,
        source_fault=sources.fault,
        # No deletion was ever accepted here while the epoch is 0.
        answered=one.case.answers,
        suppressed=namespace.deletion_epoch > 0 and barrier.is_suppressed(writer.tenant_id, namespace.id, one.digest),
    )
    noticed = _noticed(proposal, sources)
    return admit(replace(proposal, marks=proposal.marks | noticed) if noticed else proposal, known)


def _merged(writer: Writer, found: Sequence[tuple[_Checked, Sources, Admission] | DomainError]) -> list[Judgement | DomainError]:
    """Lock the keys of what was admitted, and compare it with them in its order."""
    passed = [one for one in found if not isinstance(one, DomainError) and one[2].result is Result.ADMITTED]
    events = {event.id: event for _, sources, _ in passed for event in sources.events}
    made = ensure_evidence(writer.access, list(events.values())) if events else {}
    statements = {id(one[0]): _statement(writer.access, *one, made) for one in passed}
    writer.keys.lock(statement.key for statement in statements.values())
    answers: list[Judgement | DomainError] = []
    for one in found:
        if isinstance(one, DomainError):
            answers.append(one)
            continue
        checked, sources, admission = one
        statement = statements.get(id(checked))
        try:
            writer.author = checked.case.author
            merged = None if statement is None else merge(writer, statement)
        except VersionConflict as late:
            answers.append(late)
            continue
        answers.append(Judgement(admission, merged, sources, checked.retention, checked.policy_id, checked.relations))
    return answers


class _Names:
    """What the names of classes and policies stand for, each looked up once."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._classes: dict[str | None, RetentionClass] = {}
        self._policies: dict[str, UUID] = {}

    def retention(self, key: str | None) -> RetentionClass:
        """Raises ValidationFailed."""
        if key not in self._classes:
            self._classes[key] = find_class(self._access, key, default=ENGINEERING_KNOWLEDGE)
        return self._classes[key]

    def policy(self, key: str | None) -> UUID | None:
        """Raises ValidationFailed."""
        if key is None:
            return None
        if key not in self._policies:
            rows = AccessPolicy.objects.filter(tenant_id=self._access.tenant_id, key=key, id__in=self._access.policies)
            found = rows.first()
            if found is None:
                raise ValidationFailed(
                    [FieldError("/access_policy_id", "not_found", "There is no such policy that you may use.")]
                )
            self._policies[key] = found.id
        return self._policies[key]


def _noticed(proposal: Proposal, sources: Sources) -> frozenset[str]:
    """An order that stands in foreign material stays one, even if an agent proposes it as a memory (CA-14, ID-32)."""
    if not sources.trusts or set(sources.trusts.values()) != {Trust.UNTRUSTED}:
        return frozenset()
    page = SourceText(text="\n".join(proposal.texts), source_type=SourceType.WEB_PAGE)
    marks = {mark for one in extractors.get(READER).extract(page).proposals for mark in one.marks}
    return frozenset(marks & {Reason.UNTRUSTED_INSTRUCTION.value})


def _relations(
    access: Access, namespace: LockedNamespace, author: Author, proposal: Proposal
) -> tuple[list[tuple[str, UUID]], bool]:
    """Targets by primary key, and whether the caller may supersede those it names so.

    Absent and unreadable targets are one error (ID-09).
    """
    if not proposal.relations:
        return [], True
    keys = [parse_public_id("mem", one.memory_id) for one in proposal.relations]
    # Held until the commit: a deletion of one of them finds what is derived from it, or is found here.
    rows = readable_memories(access).filter(id__in=[key for key in keys if key is not None]).order_by("id")
    found = {memory.id: memory for memory in rows.select_for_update(of=("self",), no_key=True)}
    errors = [
        FieldError(f"/relations/{place}/memory_id", "not_found", "There is no such memory that you may read.")
        for place, key in enumerate(keys)
        if key not in found
    ]
    if errors:
        raise ValidationFailed(errors)
    pairs = [(one.type, key) for one, key in zip(proposal.relations, keys, strict=True) if key is not None]
    may = all(_may_supersede(found[key], namespace, author, proposal) for kind, key in pairs if kind == Relation.Type.SUPERSEDES)
    return list(dict.fromkeys(pairs)), may


def _may_supersede(target: Memory, namespace: LockedNamespace, author: Author, proposal: Proposal) -> bool:
    """Within one namespace, and only what the same subject said; the same key is a matter of the merge decision alone (C14)."""
    if target.namespace_id != namespace.id:
        return False
    same_key = (target.memory_type, target.fact_key) == (proposal.memory_type, proposal.fact_key)
    return same_key or target.created_for_id == author.subject_id


def _statement(
    access: Access, checked: _Checked, sources: Sources, admission: Admission, made: Mapping[UUID, Evidence]
) -> Statement:
    proposal = checked.case.proposal
    holding = Holding(
        memory_type=proposal.memory_type,
        fact_key=proposal.fact_key,
        authority=proposal.authority,
        retention_class=checked.retention,
        access_policy_id=checked.policy_id,
    )
    effective_at = proposal.valid_from or sources.latest_origin
    valid_to = proposal.valid_to
    if proposal.valid_from is None and effective_at is not None and valid_to is not None and valid_to < effective_at:
        effective_at = None  # it had ended before it was said; since when it held nobody knows
    saying = Saying(
        content=proposal.content,
        rationale=proposal.rationale,
        aliases=proposal.aliases,
        conditions=proposal.conditions,
        topics=proposal.topics,
        entities=proposal.entities,
        epistemic_status=admission.epistemic_status,
        verdict=admission.verdict,
        retrieval_policy=proposal.retrieval_policy,
        occurred_at=sources.latest_origin,
        observed_at=proposal.observed_at,
        last_confirmed_at=proposal.last_confirmed_at,
        expected_resolution_at=proposal.expected_resolution_at,
        hidden_characters=admission.hidden,
    )
    return Statement(
        holding=holding,
        saying=saying,
        links=links_to(access, sources, effective_at, made),
        valid_from=proposal.valid_from,
        valid_to=valid_to,
        effective_at=effective_at,
        expected_version=proposal.expected_version,
        relations=checked.relations,
    )
