"""Reading an event and proposing what it says (design/03 step 2). An extractor only proposes; it is judged like an agent."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.audits import log
from apps.core.errors import DomainError, ValidationFailed
from apps.core.text import hidden_characters
from apps.evidence import reads
from apps.evidence.redaction import redact
from apps.memories import extractors
from apps.memories.candidates import POLICY_VERSION, settle_all
from apps.memories.commit import Author, LockedNamespace, lock_namespace
from apps.memories.extractors.base import SUBJECT, SourceText
from apps.memories.judging import Case
from apps.memories.models import Candidate, EpistemicStatus, MemoryType, RetrievalPolicy, Verdict
from apps.memories.outside import SENT, may_read
from apps.memories.proposals import Proposal
from apps.memories.reasons import Reason
from apps.memories.waiting import release
from apps.tenants.models import Scope, Tenant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.evidence.models import SourceEvent
    from apps.evidence.reads import Material
    from apps.memories.candidates import Proposed as Decided
    from apps.memories.extractors.base import Extraction, Extractor, Proposed
    from apps.tenants.access import Access, NamespaceGrant
    from apps.tenants.transactions import TenantTransaction

_REASONS = frozenset(Reason)


@dataclass(frozen=True, slots=True)
class Read:
    """What became of one event: counts for the log, candidates by status, and how much of the text was not understood."""

    candidates: dict[str, int]
    sentences: int = 0
    missed: int = 0
    yielded: bool = True


def read_event(tx: TenantTransaction, access: Access, event_id: UUID, *, extractor: Extractor | None = None) -> Read:
    """Extract one event in the open transaction, with an extractor that needs nobody else.

    An event that was erased or is covered by a deletion yields nothing (VH-13, DJ-03). Idempotent: the ids of its candidates
    follow from event, extractor and rules alone, so a second run finds what the first one wrote.
    """
    return read_events(tx, access, [event_id], extractor=extractor)[0]


def read_events(
    tx: TenantTransaction, access: Access, event_ids: Sequence[UUID], *, extractor: Extractor | None = None
) -> list[Read]:
    """Extract events of one namespace like :func:`read_event`, under one lock and one revision; answers in their order."""
    reader = extractor or extractors.chosen()[0]
    held, namespace = _hold(access, event_ids)
    if namespace is None:
        return [Read({}, yielded=False) for _ in event_ids]
    grant = access.by_id[namespace.id]
    found = [_Found(held[key], reader.extract(_source_of(held[key], grant))) for key in dict.fromkeys(event_ids) if key in held]
    done = _settle_all(tx, access, namespace, reader, found)
    return [done.get(key, Read({}, yielded=False)) for key in event_ids]


class Withheld(Exception):
    """The tenant does not let this event go outside, or not any more. It may be asked for again when it does."""


def text_for(access: Access, event_id: UUID, reader: Extractor) -> SourceText | None:
    """The text that an extractor outside may be sent, in the open transaction, which notes that it is.

    None if the event is gone or has no text, for text that does not read as it looks (ID-31), and if the extractor has proposed
    something for this event already. Raises Withheld.
    """
    found = reads.material(access, event_id)
    if found is None or not found.text or hidden_characters(found.text):
        return None
    event, grant = found.event, access.by_id[found.event.namespace_id]
    # The access is as old as the claim of the job; the permission may have been taken away since.
    tenant = Tenant.objects.get(id=access.tenant_id)
    if not may_read(reader, tenant, grant.scope, event.source_type):
        raise Withheld
    if Candidate.objects.filter(tenant_id=access.tenant_id, event=event, origin=extractors.origin(reader)).exists():
        return None
    log.record(access, SENT, "event", event.event_id, namespace_id=event.namespace_id, codes=[reader.name])
    # Detectors may have learned since the text was stored.
    return replace(_source_of(found, grant), text=redact(found.text).text)


def take_up(tx: TenantTransaction, access: Access, event_id: UUID, reader: Extractor, extraction: Extraction) -> Read:
    """Settle what an extractor outside has proposed, in the open transaction.

    The barrier is asked now: what was deleted while it was asked yields nothing.
    """
    held, namespace = _hold(access, [event_id])
    if namespace is None or event_id not in held:
        return Read({}, yielded=False)
    return _settle_all(tx, access, namespace, reader, [_Found(held[event_id], extraction)])[event_id]


@dataclass(frozen=True, slots=True)
class _Found:
    """An event, and what an extractor proposes for it."""

    material: Material
    extraction: Extraction


def _hold(access: Access, event_ids: Sequence[UUID]) -> tuple[dict[UUID, Material], LockedNamespace | None]:
    """The events of one namespace that are there and have text, under its lock. Raises ValueError for more than one namespace."""
    found = {key: one for key, one in reads.materials(access, event_ids).items() if one.text}
    spaces = {one.event.namespace_id for one in found.values()}
    if not spaces:
        return {}, None
    (space,) = spaces
    namespace = lock_namespace(access.tenant_id, space)
    # A deletion may have been accepted while we waited for the lock: asked again under it.
    doubtful = [key for key, one in found.items() if one.event.deletion_epoch != namespace.deletion_epoch]
    still_there = reads.materials(access, doubtful) if doubtful else {}
    return {key: one for key, one in found.items() if key not in doubtful or key in still_there}, namespace


def _settle_all(
    tx: TenantTransaction, access: Access, namespace: LockedNamespace, reader: Extractor, found: Sequence[_Found]
) -> dict[UUID, Read]:
    grant, origin = access.by_id[namespace.id], extractors.origin(reader)
    cases: list[Case] = []
    for one in found:
        event = one.material.event
        author = Author(access.actor_id, event.subject_id, origin, event.session_id)
        for place, proposed in enumerate(one.extraction.proposals):
            allowed = grant if _belongs(proposed, grant) else replace(grant, write=False)
            cases.append(Case(allowed, author, _proposal(event, grant, origin, place, proposed), event.id))
    counts = {
        one.material.event.id: Counter({"refused": one.extraction.refused} if one.extraction.refused else {}) for one in found
    }
    for case, done in zip(cases, settle_all(tx, access, namespace, cases) if cases else (), strict=True):
        if case.event_id is not None:
            counts[case.event_id][_status(done)] += 1
    answers = {}
    for one in found:
        event, extraction = one.material.event, one.extraction
        if not any(Reason.NEEDS_EVIDENCE in proposed.marks for proposed in extraction.proposals):
            counts[event.id].update({"released": release(tx, access, grant, namespace, event)})
        told = {status: count for status, count in counts[event.id].items() if count}
        answers[event.id] = Read(told, extraction.sentences, extraction.missed)
    return answers


def _status(done: Decided | DomainError) -> str:
    if isinstance(done, ValidationFailed):  # an extractor is no better than any other client; nothing of this was written
        return "invalid"
    if isinstance(done, DomainError):
        raise done
    return done.outcome.status


def _source_of(found: Material, grant: NamespaceGrant) -> SourceText:
    event = found.event
    return SourceText(
        text=found.text or "",
        source_type=event.source_type,
        scope=grant.scope,
        project_key=grant.scope_id if grant.scope == Scope.PROJECT else None,
        occurred_at=event.occurred_at,
    )


def _belongs(proposed: Proposed, grant: NamespaceGrant) -> bool:
    """What somebody says about themself in company is not shared by that; it waits for somebody to decide (ID-16)."""
    return proposed.belongs_to != SUBJECT or grant.scope == Scope.USER


def _proposal(event: SourceEvent, grant: NamespaceGrant, origin: str, place: int, proposed: Proposed) -> Proposal:
    return Proposal(
        candidate_id=candidate_id(event.id, origin, place),
        scope=grant.scope,
        scope_id=grant.scope_id,
        memory_type=MemoryType(proposed.memory_type),
        fact_key=proposed.fact_key,
        content=proposed.content,
        rationale=proposed.rationale,
        conditions=dict(proposed.conditions),
        epistemic_status=EpistemicStatus(proposed.epistemic_status),
        verdict=None if proposed.verdict is None else Verdict(proposed.verdict),
        topics=proposed.topics,
        entities=proposed.entities,
        aliases=proposed.aliases,
        source_event_ids=(event.event_id,),
        valid_from=proposed.valid_from or proposed.effective_at,
        valid_to=proposed.valid_to,
        observed_at=event.occurred_at,
        expected_resolution_at=proposed.expected_resolution_at,
        retrieval_policy=RetrievalPolicy(proposed.retrieval_policy),
        retention_class=event.retention_class.key,
        origin=origin,
        marks=frozenset(mark for mark in proposed.marks if mark in _REASONS),
    )


def candidate_id(event_id: UUID, origin: str, place: int) -> str:
    """The id of the n-th candidate that one reader finds in one event."""
    name = f"{event_id}:{origin}:{POLICY_VERSION}:{place}"
    return f"ext_{hashlib.blake2b(name.encode(), digest_size=16).hexdigest()}"
