"""Where things come from: independent origins, evidence, and what may not be made again (LN-01..05, LN-19, DJ-06)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from apps.core import clock
from apps.core.ids import new_id
from apps.core.prepared import fetch_prepared
from apps.evidence.models import Derivation, Evidence, SourceEvent
from apps.evidence.sources import fidelity_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from apps.tenants.access import Access

_COLUMNS = ("id", "tenant_id", "namespace_id", "kind", "event_id", "fidelity", "availability", "created_at")
_DERIVED = "SELECT DISTINCT child_id FROM evidence_derivation WHERE tenant_id = %s AND child_id = ANY(%s)"
_INSERT = f"""
    INSERT INTO evidence_evidence ({", ".join(_COLUMNS)})
    SELECT {", ".join(_COLUMNS)} FROM json_populate_recordset(NULL::evidence_evidence, %s::json) ORDER BY event_id
    ON CONFLICT (event_id) DO NOTHING RETURNING event_id
"""  # noqa: S608 - names of columns above, the values are one parameter


def roots(tenant_id: UUID, events: Iterable[UUID]) -> dict[UUID, frozenset[UUID]]:
    """The independent origins of each event: its furthest ancestors, itself if it was made from nothing (LN-04).

    Summary, retelling and regenerated answer of one source share its root and so count once. One query per generation.
    """
    wanted = set(events)
    parents = _ancestry(tenant_id, wanted)
    memo: dict[UUID, frozenset[UUID]] = {}
    return {event: _roots_of(event, parents, memo) for event in wanted}


def descendants(tenant_id: UUID, events: Iterable[UUID]) -> set[UUID]:
    """Everything that was made from these events, at any distance; without the events themselves."""
    found: set[UUID] = set()
    fresh = set(events)
    while fresh:
        children = set(Derivation.objects.filter(tenant_id=tenant_id, parent_id__in=fresh).values_list("child_id", flat=True))
        fresh = children - found
        found |= fresh
    return found


def rebuild_refused(tenant_id: UUID, events: Iterable[UUID], fact_digest: int) -> bool:
    """Whether these sources may not state this fact again: every one of their origins is under ``no_rebuild`` for it (DJ-06).

    One unrestricted origin makes it a new, lawful statement. Without any source nothing is refused here.
    """
    origins = {root for found in roots(tenant_id, events).values() for root in found}
    if not origins:
        return False
    restricted = SourceEvent.objects.filter(tenant_id=tenant_id, id__in=origins, no_rebuild__contains=[fact_digest]).count()
    return restricted == len(origins)


def ensure_evidence(access: Access, events: Sequence[SourceEvent]) -> dict[UUID, Evidence]:
    """One piece of evidence per event, made on first use, by primary key of the event. Ids are never reassigned (LN-08)."""
    found = _evidence_of(access.tenant_id, [event.id for event in events])
    missing = [event for event in {event.id: event for event in events}.values() if event.id not in found]
    if not missing:
        return found
    derived = {row[0] for row in fetch_prepared(_DERIVED, [access.tenant_id, [event.id for event in missing]])}
    at = clock.now()
    rows = {
        event.id: Evidence(
            id=new_id(),
            tenant_id=access.tenant_id,
            namespace_id=event.namespace_id,
            kind=Evidence.Kind.EVENT,
            event_id=event.id,
            fidelity=fidelity_of(event.source_type, derived=event.id in derived),
            created_at=at,
        )
        for event in sorted(missing, key=lambda one: one.id)
    }
    data = [{name: getattr(row, name) for name in _COLUMNS} for row in rows.values()]
    made = {key: rows[key] for (key,) in fetch_prepared(_INSERT, [orjson.dumps(data).decode()])}
    others = [key for key in rows if key not in made]  # another writer needed the same one at the same moment
    return found | made | (_evidence_of(access.tenant_id, others) if others else {})


def _evidence_of(tenant_id: UUID, events: Sequence[UUID]) -> dict[UUID, Evidence]:
    rows = Evidence.objects.filter(tenant_id=tenant_id, event_id__in=events)
    return {row.event_id: row for row in rows if row.event_id is not None}


def _ancestry(tenant_id: UUID, events: set[UUID]) -> dict[UUID, set[UUID]]:
    """Parents of these events and of all their ancestors."""
    parents: dict[UUID, set[UUID]] = {}
    fresh = set(events)
    while fresh:
        edges = Derivation.objects.filter(tenant_id=tenant_id, child_id__in=fresh).values_list("child_id", "parent_id")
        found: set[UUID] = set()
        for child, parent in edges:
            parents.setdefault(child, set()).add(parent)
            found.add(parent)
        fresh = found - parents.keys()
        # A parent without parents of its own is looked up once and never again.
        for parent in fresh:
            parents.setdefault(parent, set())
    return parents


def _roots_of(event: UUID, parents: dict[UUID, set[UUID]], memo: dict[UUID, frozenset[UUID]]) -> frozenset[UUID]:
    """Furthest ancestors, without recursion: chains of retellings may be long."""
    stack = [event]
    while stack:
        current = stack[-1]
        if current in memo:
            stack.pop()
            continue
        above = parents.get(current) or set()
        open_ones = [parent for parent in above if parent not in memo]
        if open_ones:
            stack += open_ones
            continue
        memo[current] = frozenset(root for parent in above for root in memo[parent]) if above else frozenset({current})
        stack.pop()
    return memo[event]
