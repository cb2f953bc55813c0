"""The verb behind POST /memory-candidates, and what extraction calls for each sentence it understood (design/03 steps 3 to 5)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from apps.audits import log
from apps.core import clock
from apps.core.canonical import canonical_json
from apps.core.errors import Conflict, FieldError, IdempotencyKeyReuse, NotFound, ValidationFailed
from apps.core.ids import parse_public_id
from apps.core.text import fold_key
from apps.evidence import content
from apps.memories import labels
from apps.memories.admission import Admission, Known, Result, admit, holds_forbidden
from apps.memories.candidate_reads import CandidateOutcome, outcome_of, readable_candidates
from apps.memories.commit import Author, Holding, Saying, Writer, lock_namespace, remerged
from apps.memories.digests import fact_digest, request_digest
from apps.memories.door import readable_memories
from apps.memories.merging import Merged, Statement, merge
from apps.memories.models import Candidate, Decision, Memory, Relation
from apps.memories.reasons import Reason
from apps.memories.sources import Sources, gather, links_to
from apps.retention import barrier
from apps.retention.classes import ENGINEERING_KNOWLEDGE, find_class
from apps.tenants.models import AccessPolicy, Scope
from apps.tenants.transactions import current_revision, tenant_transaction

if TYPE_CHECKING:
    from uuid import UUID

    from apps.memories.proposals import Proposal
    from apps.retention.models import RetentionClass
    from apps.tenants.access import Access, NamespaceGrant
    from apps.tenants.models import Namespace
    from apps.tenants.transactions import TenantTransaction

POLICY_VERSION = "p1"  # of these admission rules; part of every extraction key (EV-14)

_Status = Candidate.Status
_STATUS_OF = {
    Decision.ADD: _Status.COMMITTED,
    Decision.SUPERSEDE: _Status.COMMITTED,
    Decision.INSERT_HISTORY: _Status.COMMITTED,
    Decision.ATTACH_EVIDENCE: _Status.COMMITTED,
    Decision.NO_OP: _Status.NO_OP,
    Decision.CONFLICT: _Status.CONFLICT,
}


@dataclass(frozen=True, slots=True)
class Proposed:
    """The outcome, and whether it had been decided by an earlier request with the same id."""

    outcome: CandidateOutcome
    replayed: bool


def propose(access: Access, proposal: Proposal) -> Proposed:
    """Judge a proposal and, if it passes, commit it; the answer is definite (CA-17).

    Raises NotFound (a scope out of reach), ValidationFailed (unknown label, retention class, policy or related memory),
    VersionConflict (expected_version), IdempotencyKeyReuse (the id names another proposal).
    """
    scope_id = fold_key(proposal.scope_id) if proposal.scope == Scope.PROJECT and proposal.scope_id else proposal.scope_id
    grant = access.namespace_for(proposal.scope, scope_id)
    author = Author(access.actor_id, access.subject_id, proposal.origin, access.session_id or "")

    def work() -> Proposed:
        with tenant_transaction(access) as tx:
            namespace = lock_namespace(access.tenant_id, grant.id)
            return settle(tx, access, grant, namespace, author, proposal)

    return remerged(work)


def settle(
    tx: TenantTransaction,
    access: Access,
    grant: NamespaceGrant,
    namespace: Namespace,
    author: Author,
    proposal: Proposal,
    *,
    event_id: UUID | None = None,
) -> Proposed:
    """Decide one proposal in the open transaction, which holds the namespace row; ``event_id`` is the event it was read from."""
    index_key = bytes(namespace.tenant.index_key)
    fingerprint = request_digest(index_key, _request_of(namespace, author, proposal))
    earlier = Candidate.objects.filter(tenant_id=access.tenant_id, candidate_id=proposal.candidate_id).first()
    if earlier is not None:
        return _replay(access, earlier, fingerprint)
    digest = fact_digest(index_key, namespace.id, proposal.memory_type, proposal.fact_key)
    labels.require_known(access.tenant_id, proposal.topics, proposal.entities)
    retention = find_class(access, proposal.retention_class, default=ENGINEERING_KNOWLEDGE)
    policy_id = _policy(access, proposal)
    relations, may_relate = _relations(access, namespace, author, proposal)
    sources = gather(access, proposal.source_event_ids, proposal.evidence_refs, digest)
    known = Known(
        scope=grant.scope,
        may_write=grant.write and may_relate,
        has_source=sources.any,
        source_fault=sources.fault,
        # No deletion was ever accepted here while the epoch is 0.
        suppressed=namespace.deletion_epoch > 0 and barrier.is_suppressed(access.tenant_id, namespace.id, digest),
    )
    admission = admit(proposal, known)
    candidate = _candidate(access, namespace, author, proposal, admission, retention)
    candidate.fingerprint = fingerprint
    candidate.event_id = event_id
    candidate.source_events = [event.id for event in sources.events]
    candidate.evidence = [one.id for one in sources.evidence]
    candidate.access_policy_id = policy_id
    candidate.relations = [{"type": kind, "memory": str(target)} for kind, target in relations]
    if admission.result is Result.ADMITTED:
        writer = Writer(tx, access, namespace, author, at=candidate.created_at)
        holding = Holding(
            memory_type=proposal.memory_type,
            fact_key=proposal.fact_key,
            authority=proposal.authority,
            retention_class=retention,
            access_policy_id=policy_id,
        )
        merged = merge(writer, _statement(access, proposal, admission, sources, holding, relations))
        _apply(candidate, merged)
        reasons = merged.reasons
    else:
        _refuse_or_keep(candidate, admission)
        reasons = ()
    return Proposed(_stored(access, candidate, proposal, admission, reasons), replayed=False)


# -- parts of a decision


def _policy(access: Access, proposal: Proposal) -> UUID | None:
    if proposal.access_policy_id is None:
        return None
    found = AccessPolicy.objects.filter(tenant_id=access.tenant_id, key=proposal.access_policy_id, id__in=access.policies).first()
    if found is None:
        raise ValidationFailed([FieldError("/access_policy_id", "not_found", "There is no such policy that you may use.")])
    return found.id


def _relations(access: Access, namespace: Namespace, author: Author, proposal: Proposal) -> tuple[list[tuple[str, UUID]], bool]:
    """Targets by primary key, and whether the caller may supersede those it names so.

    Absent and unreadable targets are one error (ID-09).
    """
    if not proposal.relations:
        return [], True
    keys = [parse_public_id("mem", one.memory_id) for one in proposal.relations]
    found = {memory.id: memory for memory in readable_memories(access).filter(id__in=[key for key in keys if key is not None])}
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


def _may_supersede(target: Memory, namespace: Namespace, author: Author, proposal: Proposal) -> bool:
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


def _candidate(
    access: Access, namespace: Namespace, author: Author, proposal: Proposal, admission: Admission, retention: RetentionClass
) -> Candidate:
    at = clock.now()
    kept = admission.keeps_text
    return Candidate(
        tenant_id=access.tenant_id,
        candidate_id=proposal.candidate_id,
        namespace_id=namespace.id,
        origin=author.origin,
        policy_version=POLICY_VERSION,
        actor_id=author.actor_id,
        subject_id=author.subject_id,
        session_id=author.session_id,
        memory_type=proposal.memory_type,
        fact_key=proposal.fact_key if kept else "",
        conditions=dict(proposal.conditions) if kept else {},
        epistemic_status=admission.epistemic_status,
        verdict=admission.verdict,
        topics=list(proposal.topics),
        entities=list(proposal.entities),
        retrieval_policy=proposal.retrieval_policy,
        retention_class=retention,
        authority=proposal.authority,
        valid_from=proposal.valid_from,
        valid_to=proposal.valid_to,
        observed_at=proposal.observed_at,
        last_confirmed_at=proposal.last_confirmed_at,
        expected_resolution_at=proposal.expected_resolution_at,
        expected_version=proposal.expected_version,
        created_at=at,
        decided_at=at,
        expires_at=at + timedelta(days=retention.candidate_days),
    )


def _request_of(namespace: Namespace, author: Author, proposal: Proposal) -> object:
    """What makes two requests the same one; of forbidden texts not even a hash is kept (EV-11)."""
    said = asdict(proposal) | {"scope_id": None, "marks": sorted(proposal.marks)}
    if holds_forbidden(proposal):
        said |= {"content": None, "rationale": None, "aliases": None, "fact_key": None, "conditions": None}
    plain = {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in said.items()}
    return [str(namespace.id), str(author.subject_id), plain]


def _replay(access: Access, earlier: Candidate, fingerprint: str) -> Proposed:
    """The same id again. A candidate whose text was deleted since answers what it is now; it tells requests apart no more."""
    if earlier.fingerprint not in ("", fingerprint):
        raise IdempotencyKeyReuse
    if not readable_candidates(access).filter(pk=earlier.pk).exists():
        raise IdempotencyKeyReuse
    return Proposed(outcome_of(earlier), replayed=True)


def _apply(candidate: Candidate, merged: Merged) -> None:
    if merged.waits or merged.decision is None:
        candidate.status = _Status.PENDING_REVIEW
        return
    candidate.status = _STATUS_OF[merged.decision]
    candidate.decision = merged.decision
    candidate.memory_id = merged.memory_id
    candidate.memory_version = merged.version
    candidate.conflict_set_id = merged.conflict_id
    candidate.revision = merged.revision


def _refuse_or_keep(candidate: Candidate, admission: Admission) -> None:
    if admission.result is Result.REFUSED:
        candidate.status, candidate.decision = _Status.REJECTED, Decision.REJECT
    else:
        candidate.status = _Status.PENDING_REVIEW


def _stored(
    access: Access, candidate: Candidate, proposal: Proposal, admission: Admission, reasons: tuple[Reason, ...]
) -> CandidateOutcome:
    """Insert the candidate. Its text is kept only while there is no memory that holds it."""
    candidate.reasons = [reason.value for reason in dict.fromkeys([*admission.reasons, *reasons])]
    if candidate.status in (_Status.PENDING_REVIEW, _Status.REJECTED) and admission.keeps_text:
        texts = (proposal.content, proposal.rationale, canonical_json(list(proposal.aliases)) if proposal.aliases else None)
        stored = iter(
            content.store_texts(access.tenant_id, [(candidate.namespace_id, text) for text in texts if text is not None])
        )
        candidate.content_id, candidate.rationale_id, candidate.aliases_id = (
            None if text is None else next(stored) for text in texts
        )
    if candidate.revision is None:
        candidate.revision = current_revision(access.tenant_id)
    candidate.save(force_insert=True)
    log.record(
        access,
        "candidate.decided",
        "candidate",
        candidate.candidate_id,
        namespace_id=candidate.namespace_id,
        codes=[candidate.status, *([candidate.decision] if candidate.decision else []), *candidate.reasons],
        revision=candidate.revision,
    )
    return outcome_of(candidate)


# -- withdrawing


def withdraw_candidate(access: Access, candidate_id: str) -> CandidateOutcome:
    """Take back a candidate that waits; a second time changes nothing.

    Whoever may see a waiting candidate proposed it or reviews it. Raises NotFound, and Conflict when it was decided already.
    """
    with tenant_transaction(access):
        found = readable_candidates(access).filter(candidate_id=candidate_id).select_for_update(of=("self",), no_key=True).first()
        if found is None:
            raise NotFound
        if found.status == _Status.WITHDRAWN:
            return outcome_of(found)
        if found.status not in (_Status.PENDING_REVIEW, _Status.RECEIVED):
            raise Conflict
        found.status = _Status.WITHDRAWN
        found.decided_at = clock.now()
        found.save(update_fields=["status", "decided_at"])
        log.record(access, "candidate.withdrawn", "candidate", found.candidate_id, namespace_id=found.namespace_id)
        return outcome_of(found)
