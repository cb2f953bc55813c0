"""The verb behind POST /memory-candidates, and what extraction calls for each sentence it understood (design/03 steps 3 to 5)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import timedelta
from typing import TYPE_CHECKING

from apps.audits import log
from apps.core import clock
from apps.core.canonical import canonical_json
from apps.core.errors import Conflict, DomainError, IdempotencyKeyReuse, NotFound
from apps.core.prepared import fetch_prepared
from apps.core.text import fold_key
from apps.memories.admission import Result, holds_forbidden
from apps.memories.candidate_reads import CandidateOutcome, outcome_of, readable_candidates
from apps.memories.commit import Author, LockedNamespace, lock_namespace, remerged
from apps.memories.digests import request_digest
from apps.memories.judging import Case, Judgement, judge_all
from apps.memories.models import Candidate, Decision
from apps.memories.proposals import Proposal
from apps.memories.reviews import requests
from apps.memories.sources import namespaces_of
from apps.memories.writing import Writer
from apps.tenants.access import NamespaceGrant
from apps.tenants.models import Scope
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

POLICY_VERSION = "p1"  # of these admission rules; part of every extraction key (EV-14)

_FIELDS = tuple(one.name for one in fields(Proposal))

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
    (done,) = _propose_in(access, _reach(access, proposal), [proposal])
    if isinstance(done, DomainError):
        raise done
    return done


def propose_all(access: Access, proposals: Sequence[Proposal]) -> list[Proposed | DomainError]:
    """Judge several proposals, those for one namespace in one transaction and under one revision; results in the same order.

    One that cannot be judged gets its error and never fails the others. They are compared with each other too, as if they had
    come one after the other. Keep it to some dozens: a namespace is locked for all of its own.
    """
    results: list[Proposed | DomainError] = [NotFound() for _ in proposals]
    groups: dict[UUID, tuple[NamespaceGrant, list[int]]] = {}
    for place, proposal in enumerate(proposals):
        try:
            grant = _reach(access, proposal)
        except NotFound:
            continue
        groups.setdefault(grant.id, (grant, []))[1].append(place)
    for grant, places in groups.values():
        done = _propose_in(access, grant, [proposals[place] for place in places])
        for place, result in zip(places, done, strict=True):
            results[place] = result
    return results


def _propose_in(access: Access, grant: NamespaceGrant, proposals: Sequence[Proposal]) -> list[Proposed | DomainError]:
    session = access.session_id or ""
    cases = [Case(grant, Author(access.actor_id, access.subject_id, one.origin, session), one) for one in proposals]

    def work() -> list[Proposed | DomainError]:
        with tenant_transaction(access) as tx:
            events = [name for proposal in proposals for name in proposal.source_event_ids]
            evidence = [name for proposal in proposals for name in proposal.evidence_refs]
            namespace = lock_namespace(access.tenant_id, grant.id, namespaces_of(access, events, evidence))
            return settle_all(tx, access, namespace, cases)

    return remerged(work)


def _reach(access: Access, proposal: Proposal) -> NamespaceGrant:
    scope_id = fold_key(proposal.scope_id) if proposal.scope == Scope.PROJECT and proposal.scope_id else proposal.scope_id
    return access.namespace_for(proposal.scope, scope_id)


def settle_all(
    tx: TenantTransaction, access: Access, namespace: LockedNamespace, cases: Sequence[Case]
) -> list[Proposed | DomainError]:
    """Decide proposals in the open transaction, which holds the namespace row; results in the same order.

    In the place of one that cannot be judged stands why (see :func:`apps.memories.judging.judge_all`, and IdempotencyKeyReuse).
    """
    settled = _Settled(access, namespace)
    fresh = settled.take(cases)
    if fresh:
        writer = Writer(tx, access, namespace, fresh[0].author)
        made = {}
        for case, judged in zip(fresh, judge_all(writer, fresh), strict=True):
            if isinstance(judged, DomainError):
                settled.known[case.proposal.candidate_id] = judged
                continue
            made[case.proposal.candidate_id] = candidate = _candidate(access, case, judged)
            candidate.fingerprint = settled.fingerprint(case)
            record_judgement(candidate, judged)
            if _keeps_text(candidate, judged):
                _keep_text(writer, candidate, case.proposal)
            writer.insert(candidate)
            if candidate.status == _Status.PENDING_REVIEW:
                writer.insert(requests.of_candidate(candidate, case.grant.scope))
            writer.note(decision_entry(candidate))
        writer.flush(dated=made.values())
        settled.known |= made
    return [settled.answer(case) for case in cases]


class _Settled:
    """What is known of candidates by their ids: from earlier requests, and as this one goes on."""

    def __init__(self, access: Access, namespace: LockedNamespace) -> None:
        self._access = access
        self._namespace = namespace
        self._fingerprints: dict[int, str] = {}
        self._fresh: set[int] = set()
        self.known: dict[str, Candidate | DomainError] = {}

    def take(self, cases: Sequence[Case]) -> list[Case]:
        """The proposals that nobody has decided yet, each id once."""
        ids = [case.proposal.candidate_id for case in cases]
        self.known |= _earlier(self._access, ids)
        fresh: dict[str, Case] = {}
        for name, case in zip(ids, cases, strict=True):
            if name not in self.known:
                fresh.setdefault(name, case)
        self._fresh = {id(case) for case in fresh.values()}
        return list(fresh.values())

    def fingerprint(self, case: Case) -> str:
        """Tells two requests of one id apart."""
        if id(case) not in self._fingerprints:
            self._fingerprints[id(case)] = request_digest(self._namespace.index_key, _request_of(case, self._namespace))
        return self._fingerprints[id(case)]

    def answer(self, case: Case) -> Proposed | DomainError:
        found = self.known[case.proposal.candidate_id]
        if isinstance(found, DomainError):
            return found
        if id(case) in self._fresh:
            return Proposed(outcome_of(found), replayed=False)
        if case.event_id is not None:
            return Proposed(outcome_of(found), replayed=True)  # the same sentence of the same event, whatever became of it
        try:
            return _replay(self._access, found, self.fingerprint(case))
        except IdempotencyKeyReuse as reused:
            return reused


def record_judgement(candidate: Candidate, judged: Judgement) -> None:
    """Write on the candidate what became of it; its revision comes with the flush, the caller saves it."""
    merged = judged.merged
    candidate.reasons = judged.reasons
    candidate.source_events = [event.id for event in judged.sources.events]
    candidate.evidence = [one.id for one in judged.sources.evidence]
    candidate.decided_at = clock.now()
    if judged.admission.result is Result.REFUSED:
        candidate.status, candidate.decision = _Status.REJECTED, Decision.REJECT
    elif merged is None or merged.decision is None:
        candidate.status = _Status.PENDING_REVIEW
    else:
        candidate.status, candidate.decision = _STATUS_OF[merged.decision], merged.decision
        candidate.memory_id, candidate.memory_version = merged.memory_id, merged.version
        candidate.conflict_set_id = merged.conflict_id


# -- parts


def _earlier(access: Access, candidate_ids: Sequence[str]) -> dict[str, Candidate]:
    rows = fetch_prepared(
        "SELECT id FROM memories_candidate WHERE tenant_id = %s AND candidate_id = ANY(%s)",
        [access.tenant_id, list(candidate_ids)],
    )
    if not rows:
        return {}
    found = Candidate.objects.filter(tenant_id=access.tenant_id, id__in=[row[0] for row in rows])
    return {candidate.candidate_id: candidate for candidate in found}


def _candidate(access: Access, case: Case, judged: Judgement) -> Candidate:
    proposal, at = case.proposal, clock.now()
    kept = judged.admission.keeps_text
    return Candidate(
        tenant_id=access.tenant_id,
        candidate_id=proposal.candidate_id,
        namespace_id=case.grant.id,
        event_id=case.event_id,
        origin=case.author.origin,
        policy_version=POLICY_VERSION,
        actor_id=case.author.actor_id,
        subject_id=case.author.subject_id,
        session_id=case.author.session_id,
        memory_type=proposal.memory_type,
        fact_key=proposal.fact_key if kept else "",
        conditions=dict(proposal.conditions) if kept else {},
        epistemic_status=judged.admission.epistemic_status,
        verdict=judged.admission.verdict,
        topics=list(proposal.topics),
        entities=list(proposal.entities),
        retrieval_policy=proposal.retrieval_policy,
        retention_class=judged.retention,
        access_policy_id=judged.policy_id,
        authority=proposal.authority,
        relations=[{"type": kind, "memory": str(target)} for kind, target in judged.relations],
        valid_from=proposal.valid_from,
        valid_to=proposal.valid_to,
        observed_at=proposal.observed_at,
        last_confirmed_at=proposal.last_confirmed_at,
        expected_resolution_at=proposal.expected_resolution_at,
        expected_version=proposal.expected_version,
        created_at=at,
        expires_at=at + timedelta(days=judged.retention.candidate_days),
    )


def _request_of(case: Case, namespace: LockedNamespace) -> object:
    """What makes two requests the same one; of forbidden texts not even a hash is kept (EV-11)."""
    proposal = case.proposal
    said = {name: getattr(proposal, name) for name in _FIELDS}
    said |= {"relations": [asdict(one) for one in proposal.relations], "scope_id": None, "marks": sorted(proposal.marks)}
    if holds_forbidden(proposal):
        said |= {"content": None, "rationale": None, "aliases": None, "fact_key": None, "conditions": None}
    plain = {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in said.items()}
    return [str(namespace.id), str(case.author.subject_id), plain]


def _replay(access: Access, earlier: Candidate, fingerprint: str) -> Proposed:
    """The same id again. A candidate whose text was deleted since answers what it is now; it tells requests apart no more."""
    if earlier.fingerprint not in ("", fingerprint):
        raise IdempotencyKeyReuse
    if not readable_candidates(access).filter(pk=earlier.pk).exists():
        raise IdempotencyKeyReuse
    return Proposed(outcome_of(earlier), replayed=True)


def _keeps_text(candidate: Candidate, judged: Judgement) -> bool:
    """A candidate keeps its text only while there is no memory that holds it."""
    return candidate.status in (_Status.PENDING_REVIEW, _Status.REJECTED) and judged.admission.keeps_text


def _keep_text(writer: Writer, candidate: Candidate, proposal: Proposal) -> None:
    candidate.content_id = writer.keep_text(proposal.content)
    candidate.rationale_id = writer.keep_text(proposal.rationale)
    candidate.aliases_id = writer.keep_text(canonical_json(list(proposal.aliases)) if proposal.aliases else None)


def decision_entry(candidate: Candidate) -> log.Entry:
    """What the audit log says of a decision."""
    codes = (candidate.status, *([candidate.decision] if candidate.decision else []), *candidate.reasons)
    return log.Entry("candidate.decided", "candidate", candidate.candidate_id, codes)


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
