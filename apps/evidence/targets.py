"""Events, sessions and subjects as targets of a deletion: who may ask, and what is shut at once (design/05 steps 1, 2, 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Q

from apps.core.errors import NotFound, NotPermitted
from apps.evidence.coverage import derived_alone, directly_covered, usable
from apps.evidence.lineage import roots
from apps.evidence.models import SourceEvent
from apps.evidence.reads import find_events
from apps.retention.models import TargetKind
from apps.retention.targets import Resolved, known_namespaces, may_erase
from apps.tenants.models import Delegation, Namespace, Scope

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from apps.retention.layers import Target
    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction


def resolve_event(access: Access, target: str) -> Resolved:
    """An event by the sender's id. One's own, or any in a namespace with the permission to erase."""
    (event,) = find_events(access, [target], namespaces=[grant.id for grant in known_namespaces(access)])
    if not _may_erase(access, event):
        raise NotPermitted
    return Resolved(
        target_id=str(event.id),
        public_id=event.event_id,
        namespaces=(event.namespace_id,),
        keys=(event.id,),
        subject_id=event.subject_id,
    )


def resolve_session(access: Access, target: str) -> Resolved:
    """A session of the caller's subject: the present one, or one in which that subject sent an event or had a delegation.

    Another subject's session of the same name is not found, and not touched.
    """
    subject = access.subject_id
    if subject is None:
        raise NotFound  # who speaks for nobody has no session
    own = Namespace.objects.get(tenant_id=access.tenant_id, scope=Scope.USER, subject_id=subject).id
    spaces = set(_events(access).filter(session_id=target, subject_id=subject).values_list("namespace_id", flat=True))
    lent = Delegation.objects.filter(tenant_id=access.tenant_id, session_id=target, subject_id=subject)
    if target != access.session_id and not spaces and not lent.exists():
        raise NotFound
    return Resolved(target_id=target, public_id=target, namespaces=(own, *sorted(spaces - {own})), subject_id=subject)


def resolve_subject(access: Access, target: str) -> Resolved:
    """All data of a subject, by its exact key: the caller's own, or another's whose namespace the caller may erase."""
    grant = next((one for one in known_namespaces(access) if one.scope == Scope.USER and one.scope_id == target), None)
    if grant is None or grant.subject_id is None:
        raise NotFound
    if not may_erase(access, grant):
        raise NotPermitted
    spaces = set(_events(access).filter(subject_id=grant.subject_id).values_list("namespace_id", flat=True).distinct())
    return Resolved(
        target_id=str(grant.subject_id),
        public_id=target,
        namespaces=(grant.id, *sorted(spaces - {grant.id})),
        subject_id=grant.subject_id,
    )


def shut(tx: TenantTransaction, access: Access, target: Target) -> set[UUID]:  # noqa: ARG001 - signature of the hooks
    """Mark what the target takes along: its own events, those derived from them alone, and what a deleted memory rests on.

    The reach of a session, subject or namespace needs no mark, the barrier itself speaks for it. Sources of a memory that
    stay, or that the caller may not erase, are put under ``no_rebuild`` at once (DJ-06).
    """
    events = _events(access)
    marked: set[UUID] = set()
    kept: set[UUID] = set()
    named = directly_covered(target)
    if target.kind == TargetKind.EVENT:
        marked = {UUID(target.target_id)}
    elif target.kind == TargetKind.MEMORY:
        marked, kept = _sources_of_a_memory(access, target)
        if not marked:
            return kept
        named = Q(id__in=marked)
    if marked:
        events.filter(id__in=marked).update(covered=True)
    along = _held_derivations(access, named)
    if along:
        events.filter(id__in=along).update(covered=True)
    return marked | along | kept


def _held_derivations(access: Access, named: Q) -> set[UUID]:
    """What was made from the named events alone, row-locked: asked again until nobody has built on it while we waited."""
    held: set[UUID] = set()
    while (found := derived_alone(access.tenant_id, named)) - held:
        list(_events(access).filter(id__in=found).order_by("id").select_for_update(no_key=True).values_list("id"))
        held |= found
    return found


def _sources_of_a_memory(access: Access, target: Target) -> tuple[set[UUID], set[UUID]]:
    """The sources that are erased, and those that stay and are restricted."""
    sources = usable(_events(access).filter(id__in=target.keys)).order_by("id").select_for_update(no_key=True)
    erased = {event.id for event in sources if target.cover_sources and _may_erase(access, event)}
    kept = {event.id for event in sources} - erased
    if target.fact_digest is not None:
        # Whether a source brings anything new is known by its origins (LN-04), so a retelling is restricted by those.
        behind = {origin for found in roots(access.tenant_id, kept | erased).values() for origin in found} - erased
        kept |= set(usable(_events(access).filter(id__in=behind)).values_list("id", flat=True))
        restrict(_events(access).filter(id__in=kept), target.fact_digest)
    return erased, kept


def restrict(events: QuerySet[SourceEvent], digest: int) -> int:
    """Put events under ``no_rebuild`` for one fact; those that are already stay as they are."""
    count = 0
    for event in events.exclude(no_rebuild__contains=[digest]).order_by("id").select_for_update(no_key=True):
        event.no_rebuild = [*event.no_rebuild, digest]
        event.save(update_fields=["no_rebuild"])
        count += 1
    return count


def _events(access: Access) -> QuerySet[SourceEvent]:
    return SourceEvent.objects.filter(tenant_id=access.tenant_id)


def _may_erase(access: Access, event: SourceEvent) -> bool:
    grant = access.by_id.get(event.namespace_id)
    if grant is None:
        return False
    return may_erase(access, grant) or (event.subject_id is not None and event.subject_id == access.subject_id)
