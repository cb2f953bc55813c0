"""Which events a deletion covers, and which are open to be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

from apps.evidence.models import Derivation, SourceEvent
from apps.retention.barrier import covered_query
from apps.retention.models import TargetKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from apps.retention.layers import Target


def usable(events: QuerySet[SourceEvent]) -> QuerySet[SourceEvent]:
    """Without those that were erased or that an accepted deletion covers, whether or not its worker has run."""
    return events.filter(~covered_query(), erased_at=None, covered=False)


def open_events(tenant_id: UUID, keys: Iterable[UUID], *, lock: bool = False) -> dict[UUID, SourceEvent]:
    """The usable ones of these events by primary key.

    With ``lock`` they are row-locked first, so that whoever erases them waits for what is committed now.
    """
    rows = usable(SourceEvent.objects.filter(tenant_id=tenant_id, id__in=list(keys)))
    if lock:
        # Lock first, look after: a deletion that was accepted while we waited must be seen.
        list(
            SourceEvent.objects.filter(tenant_id=tenant_id, id__in=list(keys))
            .order_by("id")
            .select_for_update(no_key=True)
            .values_list("id")
        )
    return {row.id: row for row in rows}


def directly_covered(target: Target) -> Q:
    """The events that the target names by its own reach: id, session, subject or namespace, up to its acceptance."""
    in_time = Q(occurred_at__lte=target.accepted_at)
    match target.kind:
        case TargetKind.SESSION:
            return in_time & Q(session_id=target.target_id, subject_id=target.subject_id)
        case TargetKind.SUBJECT:
            return in_time & Q(subject_id=target.target_id)
        case TargetKind.NAMESPACE:
            return in_time & Q(namespace_id=target.target_id)
        case TargetKind.EVENT:
            return Q(id=target.target_id)
    return Q(id__in=[])


def covered_events(target: Target) -> QuerySet[SourceEvent]:
    """Every event that the deletion erases: what its target names, and what was found at its acceptance to go along.

    The latter are events derived from covered ones alone and, with ``cover_sources``, the sources of a memory; both were marked.
    """
    marked = Q() if target.foreseen else Q(covered=True)
    named = marked & Q(id__in=target.keys)
    return SourceEvent.objects.filter(directly_covered(target) | named, tenant_id=target.tenant_id)


def covered_names(target: Target) -> list[str]:
    """The senders' ids of those events, for those who have to be told."""
    return list(covered_events(target).order_by("event_id").values_list("event_id", flat=True))


def reaches(target: Target, keys: Sequence[UUID], subject_id: UUID | None) -> bool:
    """Whether the deletion erases one of these events, or one of this subject; asked on behalf of legal holds."""
    held = Q(id__in=keys) if subject_id is None else Q(id__in=keys) | Q(subject_id=subject_id)
    return covered_events(target).filter(held).exists()


def restricted_events(target: Target) -> QuerySet[SourceEvent]:
    """The sources of a deleted memory that stay, and may not bring it back (DJ-06)."""
    if target.kind != TargetKind.MEMORY or target.fact_digest is None:
        return SourceEvent.objects.none()
    return SourceEvent.objects.filter(tenant_id=target.tenant_id, id__in=target.keys, covered=False, erased_at=None)


def derived_alone(tenant_id: UUID, named: Q) -> set[UUID]:
    """Usable events that were made from unusable ones alone, at any distance from those that ``named`` names.

    Asked after the named ones have become unusable (revoked or marked). An event that also has a living origin is not among them.
    """
    everything = SourceEvent.objects.filter(tenant_id=tenant_id)
    edges = Derivation.objects.filter(tenant_id=tenant_id)
    maybe = set(
        edges.filter(parent__in=everything.filter(named), child__in=usable(everything)).values_list("child_id", flat=True)
    )
    found: set[UUID] = set()
    while maybe:
        living = edges.filter(child_id__in=maybe, parent__in=usable(everything)).exclude(parent_id__in=found)
        new = maybe - set(living.values_list("child_id", flat=True))
        found |= new
        children = edges.filter(parent_id__in=new, child__in=usable(everything)).values_list("child_id", flat=True)
        maybe = set(children) - found if new else set()
    return found
