"""What a deletion means for memories, decided when it is accepted (design/05 steps 1 and 2).

From the commit of the acceptance on nothing that rests on the target alone may be read or written. A version that also rests on
something else stays and is counted again; a memory none of whose versions stays is revoked as a whole, and the layers clear it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db.models import Q, Value

from apps.core.errors import NotPermitted
from apps.core.ids import public_id
from apps.evidence import lineage
from apps.evidence.content import erase_texts
from apps.evidence.coverage import covered_events, directly_covered
from apps.evidence.models import SourceEvent
from apps.jobs.queue import publish
from apps.memories import conflicts
from apps.memories.digests import fact_digest
from apps.memories.door import require_readable
from apps.memories.lines import Rival, load
from apps.memories.models import Candidate, Decision, EvidenceLink, Memory, MemoryVersion, Relation
from apps.memories.projections import project
from apps.memories.reasons import Reason
from apps.memories.reviews.requests import open_revalidations
from apps.memories.revision import CONFIRM, RESOLVE, REVISE, VALIDATE, WITHDRAW
from apps.memories.sources import roots_of
from apps.memories.texts import texts_of
from apps.retention.models import TargetKind
from apps.retention.targets import Resolved
from apps.tenants.models import Tenant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.retention.layers import Target
    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

_REPEATS = frozenset({REVISE, CONFIRM, WITHDRAW, RESOLVE, VALIDATE})  # versions made from the one before
_TEXTS = ("content_id", "rationale_id", "aliases_id", "reason_id")


# -- a memory as target


def resolve_memory(access: Access, target: str) -> Resolved:
    """A memory by its public id: one's own, or any in a namespace with the permission to erase (design/06 Candidates).

    Raises NotFound (absent and unreadable alike), NotPermitted (readable, not erasable) and Revoked.
    """
    memory = require_readable(access, target)
    grant = access.by_id[memory.namespace_id]
    own = access.subject_id is not None and access.subject_id in (memory.created_for_id, grant.subject_id)
    if not (grant.erase or own):
        raise NotPermitted
    links = EvidenceLink.objects.filter(tenant_id=access.tenant_id, memory=memory)
    events = SourceEvent.objects.filter(tenant_id=access.tenant_id, evidence__in=links.values("evidence_id"))
    index_key = bytes(Tenant.objects.values_list("index_key", flat=True).get(pk=access.tenant_id))
    return Resolved(
        target_id=str(memory.id),
        public_id=public_id("mem", memory.id),
        namespaces=(memory.namespace_id,),
        keys=(memory.id, *events.order_by("id").values_list("id", flat=True)),
        fact_digest=fact_digest(index_key, memory.namespace_id, memory.memory_type, memory.fact_key),
        subject_id=grant.subject_id,
    )


# -- the hook of an acceptance


@dataclass(slots=True)
class _Loss:
    """What one memory loses: whole versions, and single pieces of evidence of others."""

    rival: Rival
    versions: set[int] = field(default_factory=set)
    evidence: dict[int, set[UUID]] = field(default_factory=lambda: defaultdict(set))

    @property
    def whole(self) -> bool:
        return self.versions >= set(self.rival.versions)


def shut(tx: TenantTransaction, access: Access, target: Target) -> set[UUID]:
    """Revoke what rests on the target alone and count again what does not; returns the memories revoked.

    Runs in the accepting transaction, which holds the namespaces, after the events were marked.
    """
    gone = _lost_events(target)
    losses = {memory_id: loss for memory_id, loss in _losses(target, gone).items() if loss.versions or loss.evidence}
    revoked = {memory_id for memory_id, loss in losses.items() if loss.whole}
    revoked |= _summaries_of(target, revoked, gone)
    if losses or revoked:
        revision = tx.next_revision()
        _revoke(target, revoked, revision)
        for memory_id in sorted(losses.keys() - revoked):
            _recount(target, losses[memory_id], revision)
        publish(access, "memory.changed", [(memory_id, revision) for memory_id in sorted(losses.keys() | revoked)])
        open_revalidations(target.tenant_id)
    _drop_candidates(target, gone, revoked)
    return revoked


def _lost_events(target: Target) -> set[UUID]:
    """Events that cannot be used any more because of this target: those it reaches, and those marked along with them."""
    if target.kind == TargetKind.MEMORY and not target.cover_sources:
        return set()
    events = SourceEvent.objects.filter(tenant_id=target.tenant_id)
    reached = set(target.keys)
    if target.kind != TargetKind.MEMORY:
        reached |= set(events.filter(directly_covered(target)).values_list("id", flat=True))
    along = reached | lineage.descendants(target.tenant_id, reached)
    marked = set(events.filter(id__in=along, covered=True).values_list("id", flat=True))
    return marked if target.kind == TargetKind.MEMORY else marked | reached


def _losses(target: Target, gone: set[UUID]) -> dict[UUID, _Loss]:
    """Every memory that the target touches, locked, with what it loses."""
    touched = Q(evidence_links__evidence__event__in=gone) if gone else Q(pk=None)
    everything = Q(pk=None)
    if target.kind == TargetKind.MEMORY:
        everything = Q(pk=target.target_id)
    elif target.kind == TargetKind.NAMESPACE:
        everything = Q(namespace_id=target.target_id)
    elif target.kind == TargetKind.SUBJECT:
        everything = Q(namespace__subject_id=target.target_id)
        touched |= Q(versions__author_subject_id=target.target_id)
    elif target.kind == TargetKind.SESSION:
        touched |= Q(versions__session_id=target.target_id, versions__author_subject_id=target.subject_id)
    live = Memory.objects.filter(tenant_id=target.tenant_id).exclude(state=Memory.State.REVOKED)
    whole = set(live.filter(everything).values_list("id", flat=True))
    part = set(live.filter(touched).values_list("id", flat=True)) - whole
    locked = live.filter(id__in=whole | part).order_by("id").select_for_update(of=("self",), no_key=True)
    losses = {}
    for rival in load(target.tenant_id, list(locked)):
        loss = _Loss(rival)
        if rival.memory.id in whole:
            loss.versions = set(rival.versions)
        else:
            _weigh(target, loss, gone)
        losses[rival.memory.id] = loss
    return losses


def _weigh(target: Target, loss: _Loss, gone: set[UUID]) -> None:
    """Version by version, oldest first: one made from the version before, without evidence of its own, shares its fate."""
    before_lost = False
    for number in sorted(loss.rival.versions):
        version = loss.rival.versions[number]
        links = loss.rival.links[number]
        lost = {link.evidence_id for link in links if link.event_id in gone}
        if links:
            is_lost = len(lost) == len(links)
        else:
            is_lost = _said_within(target, version) or (before_lost and version.decision in _REPEATS)
        if is_lost:
            loss.versions.add(number)
        elif lost:
            loss.evidence[number] = lost
        before_lost = is_lost


def _said_within(target: Target, version: MemoryVersion) -> bool:
    """Whether a version without evidence is the word of the revoked subject, or was stated in the revoked session."""
    if target.kind == TargetKind.SUBJECT:
        return str(version.author_subject_id) == target.target_id
    return (
        target.kind == TargetKind.SESSION
        and version.session_id == target.target_id
        and version.author_subject_id == target.subject_id
    )


def _summaries_of(target: Target, revoked: set[UUID], gone: set[UUID]) -> set[UUID]:
    """Memories derived from revoked ones: without evidence of their own they go along, with some they are reviewed (LN-12)."""
    fresh = set(revoked)
    found: set[UUID] = set()
    while fresh:
        edges = Relation.objects.filter(tenant_id=target.tenant_id, type=Relation.Type.DERIVED_FROM, target_id__in=fresh)
        derived = Memory.objects.filter(tenant_id=target.tenant_id, id__in=edges.values("source_id"))
        derived = derived.exclude(state=Memory.State.REVOKED).exclude(id__in=revoked | found)
        locked = derived.order_by("id").select_for_update(of=("self",), no_key=True)
        rivals = load(target.tenant_id, list(locked))
        fresh = set()
        for rival in rivals:
            links = rival.links[rival.memory.version]
            if any(link.event_id is None or link.event_id not in gone for link in links):
                Memory.objects.filter(pk=rival.memory.id, state=Memory.State.ACTIVE).update(state=Memory.State.NEEDS_REVIEW)
            else:
                fresh.add(rival.memory.id)
        found |= fresh
    return found


def _revoke(target: Target, revoked: Iterable[UUID], revision: int) -> None:
    rows = Memory.objects.filter(tenant_id=target.tenant_id, id__in=revoked)
    members = dict(rows.exclude(conflict_set=None).values_list("id", "conflict_set_id"))
    rows.update(state=Memory.State.REVOKED, conflict_set=None, updated_revision=revision)
    conflicts.settle_emptied(target.tenant_id, set(members.values()), revision, without=members)


def _recount(target: Target, loss: _Loss, revision: int) -> None:
    """A memory that stays, without the lost evidence and versions; it is put up for review if its head was one of them."""
    rival, memory = loss.rival, loss.rival.memory
    for number, evidence in loss.evidence.items():
        version = rival.versions[number]
        EvidenceLink.objects.filter(tenant_id=target.tenant_id, version=version, evidence_id__in=evidence).delete()
        rival.links[number] = [link for link in rival.links[number] if link.evidence_id not in evidence]
        version.independent_evidence_count = len(roots_of(rival.links[number]))
        version.save(update_fields=["independent_evidence_count"])
    if loss.versions:
        lost = [rival.versions[number] for number in loss.versions]
        EvidenceLink.objects.filter(tenant_id=target.tenant_id, version__in=lost).delete()
        erase_versions(target.tenant_id, lost)
        for number in loss.versions:
            del rival.versions[number]
        if memory.version not in rival.versions:
            newest = max(rival.versions.values(), key=lambda version: (version.valid_from, version.version))
            memory.version, memory.head_id = newest.version, newest.id
            memory.retrieval_policy = newest.retrieval_policy
            memory.state = Memory.State.NEEDS_REVIEW if memory.state == Memory.State.ACTIVE else memory.state
    memory.updated_revision = revision
    memory.save(update_fields=["version", "head", "retrieval_policy", "state", "updated_revision"])
    texts = texts_of(target.tenant_id, rival.live)
    project(target.tenant_id, memory, [(one, texts[one.id]) for one in rival.live if one.id in texts], revision=revision)


def erase_versions(tenant_id: UUID, versions: Iterable[MemoryVersion]) -> int:
    """Take everything away that versions said: texts, labels, conditions. The empty rows stay in their numbers."""
    rows = list(versions)
    keys = [row.id for row in rows]
    texts = {getattr(row, name) for row in rows for name in _TEXTS} - {None}
    cleared = MemoryVersion.objects.filter(tenant_id=tenant_id, id__in=keys).update(
        content=None,
        rationale=None,
        aliases=None,
        reason=None,
        content_hash="",
        conditions={},
        topics=[],
        entities=[],
        session_id="",
    )
    erase_texts(tenant_id, texts)
    return cleared


# -- candidates


def candidates_of_target(target: Target, gone: set[UUID], revoked: Iterable[UUID]) -> Q:
    """The candidates that a deletion takes: made from lost events, by what it names, or committed to what it revokes."""
    events = Value(list(gone), output_field=Candidate._meta.get_field("source_events"))  # noqa: SLF001 - documented; one parameter
    reach = Q(event_id__in=gone) | Q(source_events__overlap=events) | Q(memory_id__in=list(revoked))
    if target.kind == TargetKind.NAMESPACE:
        reach |= Q(namespace_id=target.target_id)
    elif target.kind == TargetKind.SUBJECT:
        reach |= Q(namespace__subject_id=target.target_id) | Q(subject_id=target.target_id, source_events=[])
    elif target.kind == TargetKind.SESSION:
        reach |= Q(session_id=target.target_id, subject_id=target.subject_id, source_events=[])
    return reach & Q(created_at__lte=target.accepted_at)


def _drop_candidates(target: Target, gone: set[UUID], revoked: Iterable[UUID]) -> None:
    """At once: nothing of them waits or is shown any more. The layer takes what they hold."""
    dropped_candidates(target, gone, revoked).update(
        status=Candidate.Status.REJECTED, decision=Decision.REJECT, reasons=[Reason.REVOKED.value]
    )


def dropped_candidates(target: Target, gone: set[UUID], revoked: Iterable[UUID]) -> QuerySet[Candidate]:
    """Those of the target that did not become part of a memory that stays."""
    rows = Candidate.objects.filter(candidates_of_target(target, gone, revoked), tenant_id=target.tenant_id)
    taken = Q(memory__state=Memory.State.REVOKED)
    if target.foreseen:
        taken |= Q(memory_id__in=list(revoked))
    return rows.filter(Q(memory=None) | taken)


def lost_events(target: Target) -> set[UUID]:
    """Events that the deletion erases or has erased."""
    return set(covered_events(target).values_list("id", flat=True))


def erase_candidates(tenant_id: UUID, rows: Sequence[Candidate]) -> None:
    """Take everything away that candidates said and were about; their ids stay taken."""
    texts = {key for row in rows for key in (row.content_id, row.rationale_id, row.aliases_id) if key is not None}
    Candidate.objects.filter(tenant_id=tenant_id, id__in=[row.id for row in rows]).update(
        content=None,
        rationale=None,
        aliases=None,
        fact_key="",
        fingerprint="",
        session_id="",
        conditions={},
        topics=[],
        entities=[],
        relations=[],
    )
    erase_texts(tenant_id, texts)
