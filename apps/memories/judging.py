"""Judging one proposal under the lock of its namespace: admission, and the merge if it is admitted (design/03 steps 3 and 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.core.errors import FieldError, ValidationFailed
from apps.core.ids import parse_public_id
from apps.evidence.models import SourceType, Trust
from apps.memories import extractors, labels
from apps.memories.admission import Admission, Known, Result, admit
from apps.memories.commit import Author, Holding, LockedNamespace, Saying, Writer
from apps.memories.digests import fact_digest
from apps.memories.door import readable_memories
from apps.memories.extractors.base import SourceText
from apps.memories.merging import Merged, Statement, merge
from apps.memories.models import Memory, Relation
from apps.memories.reasons import Reason
from apps.memories.sources import Sources, gather, links_to
from apps.retention import barrier
from apps.retention.classes import ENGINEERING_KNOWLEDGE, find_class
from apps.tenants.models import AccessPolicy

if TYPE_CHECKING:
    from uuid import UUID

    from apps.memories.proposals import Proposal
    from apps.retention.models import RetentionClass
    from apps.tenants.access import Access, NamespaceGrant
    from apps.tenants.transactions import TenantTransaction


READER = "rules"  # knows what an order looks like


@dataclass(frozen=True, slots=True)
class Case:
    """A proposal with whose word it is and the namespace it is for, which the caller has locked."""

    grant: NamespaceGrant
    namespace: LockedNamespace
    author: Author
    proposal: Proposal


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


def judge(tx: TenantTransaction, access: Access, case: Case) -> Judgement:
    """Admit a proposal or not, and merge what is admitted.

    Raises ValidationFailed (unknown label, retention class, policy or related memory) before anything is written, and
    VersionConflict (expected_version).
    """
    proposal, namespace = case.proposal, case.namespace
    digest = fact_digest(namespace.index_key, namespace.id, proposal.memory_type, proposal.fact_key)
    labels.require_known(access.tenant_id, proposal.topics, proposal.entities)
    retention = find_class(access, proposal.retention_class, default=ENGINEERING_KNOWLEDGE)
    policy_id = _policy(access, proposal)
    relations, may_relate = _relations(access, namespace, case.author, proposal)
    sources = gather(access, proposal.source_event_ids, proposal.evidence_refs, digest)
    known = Known(
        scope=case.grant.scope,
        may_write=case.grant.write and may_relate,
        has_source=sources.any,
        source_fault=sources.fault,
        # No deletion was ever accepted here while the epoch is 0.
        suppressed=namespace.deletion_epoch > 0 and barrier.is_suppressed(access.tenant_id, namespace.id, digest),
    )
    admission = admit(replace(proposal, marks=proposal.marks | _noticed(proposal, sources)), known)
    merged = None
    if admission.result is Result.ADMITTED:
        holding = Holding(
            memory_type=proposal.memory_type,
            fact_key=proposal.fact_key,
            authority=proposal.authority,
            retention_class=retention,
            access_policy_id=policy_id,
        )
        writer = Writer(tx, access, namespace, case.author)
        merged = merge(writer, _statement(access, proposal, admission, sources, holding, relations))
    return Judgement(admission, merged, sources, retention, policy_id, tuple(relations))


def _noticed(proposal: Proposal, sources: Sources) -> frozenset[str]:
    """An order that stands in foreign material stays one, even if an agent proposes it as a memory (CA-14, ID-32)."""
    if not sources.trusts or set(sources.trusts.values()) != {Trust.UNTRUSTED}:
        return frozenset()
    page = SourceText(text="\n".join(proposal.texts), source_type=SourceType.WEB_PAGE)
    marks = {mark for one in extractors.get(READER).extract(page).proposals for mark in one.marks}
    return frozenset(marks & {Reason.UNTRUSTED_INSTRUCTION.value})


def _policy(access: Access, proposal: Proposal) -> UUID | None:
    if proposal.access_policy_id is None:
        return None
    found = AccessPolicy.objects.filter(tenant_id=access.tenant_id, key=proposal.access_policy_id, id__in=access.policies).first()
    if found is None:
        raise ValidationFailed([FieldError("/access_policy_id", "not_found", "There is no such policy that you may use.")])
    return found.id


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
    access: Access,
    proposal: Proposal,
    admission: Admission,
    sources: Sources,
    holding: Holding,
    relations: list[tuple[str, UUID]],
) -> Statement:
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
        links=links_to(access, sources, effective_at),
        valid_from=proposal.valid_from,
        valid_to=valid_to,
        effective_at=effective_at,
        expected_version=proposal.expected_version,
        relations=tuple(relations),
    )
