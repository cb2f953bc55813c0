"""What a proposal rests on: events and evidence, their independent origins, and how good that ground is (LN-01..05, LN-19)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from apps.core.errors import NotFound, Revoked
from apps.core.ids import parse_public_id
from apps.evidence import lineage, reads
from apps.evidence.models import Evidence, SourceEvent, Trust
from apps.memories.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from apps.tenants.access import Access

FIDELITY_ORDER = tuple(Evidence.Fidelity.values)  # best first
_COLUMNS = ("id", "tenant_id", "event_id", "namespace_id", "source_type", "occurred_at", "trust", "no_rebuild")
_UNRELIABLE = frozenset({Trust.GENERATED, Trust.UNTRUSTED})
_UNRELIABLE_RANK = len(FIDELITY_ORDER)


@dataclass(frozen=True, slots=True)
class Origin:
    """What an independent origin says about itself."""

    occurred_at: datetime
    trust: str
    no_rebuild: frozenset[int]


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of one proposal. ``fault``: why they do not count; then the rest says nothing."""

    events: tuple[SourceEvent, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    roots_of: Mapping[UUID, frozenset[UUID]] = field(default_factory=dict)  # by event and by lone evidence
    trusts: Mapping[UUID, str] = field(default_factory=dict)  # of the origins
    latest_origin: datetime | None = None
    fault: Reason | None = None

    @property
    def roots(self) -> frozenset[UUID]:
        """The independent origins of all of them together (LN-04)."""
        return frozenset(root for roots in self.roots_of.values() for root in roots)

    @property
    def any(self) -> bool:
        return bool(self.events or self.evidence)


@dataclass(frozen=True, slots=True)
class Linked:
    """One evidence of a version: what it is, and the instant for which it speaks."""

    evidence_id: UUID
    held_at: datetime | None
    fidelity: str
    event_id: UUID | None
    roots: frozenset[UUID]
    trusts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """The sources that one proposal names, and the digest of the fact that it states."""

    event_ids: Sequence[str]
    evidence_refs: Sequence[str]
    fact_digest: int


def gather(access: Access, event_ids: Sequence[str], evidence_refs: Sequence[str], fact_digest: int) -> Sources:
    """Find what one proposal names; see :func:`gather_all`."""
    return gather_all(access, [Named(event_ids, evidence_refs, fact_digest)])[0]


def gather_all(access: Access, named: Sequence[Named]) -> list[Sources]:
    """Find what proposals name, and hold it against deletions; one answer each, in the same order.

    Absent, foreign and unreadable sources are one fault (no_source), so that naming an id teaches nothing (ID-09); what has been
    deleted, or may not rebuild this fact any more (DJ-06), is revoked; what cannot be looked at is evidence_unavailable (CA-23).
    """
    rows = _evidence_rows(access, {ref for one in named for ref in one.evidence_refs})
    chosen = [_named_evidence(one.evidence_refs, rows) for one in named]
    wanted: list[dict[str, None]] = []
    for one, found in zip(named, chosen, strict=True):
        others = () if isinstance(found, Reason) else (row.event.event_id for row in found if row.event is not None)
        wanted.append(dict.fromkeys((*one.event_ids, *others)))
    every = {name for names in wanted for name in names}
    if every:
        reads.hold_events(access, every)
    rows_of = reads.readable_events(access).filter(event_id__in=every).only(*_COLUMNS)
    usable = {row.event_id: row for row in rows_of} if every else {}
    keys = {row.id: row for row in usable.values()}
    roots = lineage.roots(access.tenant_id, keys) if keys else {}
    origins = origins_of(access.tenant_id, frozenset(root for found in roots.values() for root in found), keys)
    answers = []
    for one, found, names in zip(named, chosen, wanted, strict=True):
        fault = found if isinstance(found, Reason) else _fault(access, [name for name in names if name not in usable])
        if fault is not None or isinstance(found, Reason):
            answers.append(Sources(fault=fault))
            continue
        lone = tuple(row for row in found if row.event is None)
        answers.append(_weighed([usable[name] for name in names], lone, one.fact_digest, roots, origins))
    return answers


def _fault(access: Access, missing: list[str]) -> Reason | None:
    """Why events that cannot be used are no source: never there, or there before a deletion."""
    if not missing:
        return None
    try:
        reads.find_events(access, missing)
    except Revoked:
        return Reason.REVOKED
    except NotFound:
        pass
    return Reason.NO_SOURCE  # also one that came in since they were held


def namespaces_of(access: Access, event_ids: Sequence[str], evidence_refs: Sequence[str] = ()) -> set[UUID]:
    """Where the readable ones among these sources lie; what a writer locks before it looks at them."""
    found = reads.namespaces_of(access, event_ids) if event_ids else set()
    keys = [key for key in (parse_public_id("evd", ref) for ref in evidence_refs) if key is not None]
    if keys:
        rows = Evidence.objects.filter(tenant_id=access.tenant_id, id__in=keys, namespace_id__in=access.readable)
        found |= set(rows.values_list("namespace_id", flat=True))
    return found


def _evidence_rows(access: Access, refs: Collection[str]) -> dict[str, Evidence]:
    keys = {ref: key for ref in refs if (key := parse_public_id("evd", ref)) is not None}
    if not keys:
        return {}
    found = Evidence.objects.filter(tenant_id=access.tenant_id, id__in=keys.values(), namespace_id__in=access.readable)
    rows = {row.id: row for row in found.select_related("event")}
    return {ref: rows[key] for ref, key in keys.items() if key in rows}


def _named_evidence(refs: Sequence[str], rows: Mapping[str, Evidence]) -> list[Evidence] | Reason:
    """The rows behind evidence ids, or why they cannot be used."""
    wanted = list(dict.fromkeys(refs))
    found = [rows[ref] for ref in wanted if ref in rows]
    if len(found) < len(wanted):
        return Reason.NO_SOURCE
    states = {one.availability for one in found}
    if Evidence.Availability.ERASED in states:
        return Reason.REVOKED
    return found if states <= {Evidence.Availability.AVAILABLE} else Reason.EVIDENCE_UNAVAILABLE


def _weighed(
    events: Sequence[SourceEvent],
    lone: tuple[Evidence, ...],
    fact_digest: int,
    roots: Mapping[UUID, frozenset[UUID]],
    origins: Mapping[UUID, Origin],
) -> Sources:
    own = {event.id: roots[event.id] for event in events}
    behind = {root: origins[root] for found in own.values() for root in found if root in origins}
    if behind and not lone and all(fact_digest in origin.no_rebuild for origin in behind.values()):
        return Sources(fault=Reason.REVOKED)  # one unrestricted origin would make it a new, lawful statement (DJ-06)
    return Sources(
        events=tuple(events),
        evidence=lone,
        roots_of={**own, **{one.id: frozenset({one.id}) for one in lone}},
        trusts={root: origin.trust for root, origin in behind.items()},
        latest_origin=max((origin.occurred_at for origin in behind.values()), default=None),
    )


def origins_of(tenant_id: UUID, roots: Collection[UUID], known: Mapping[UUID, SourceEvent]) -> dict[UUID, Origin]:
    """When each origin happened and how far it may be believed. A retelling is as old as what it retells (LN-04)."""
    found = {root: _origin(known[root]) for root in roots if root in known}
    missing = [root for root in roots if root not in known]
    if missing:
        rows = SourceEvent.objects.filter(tenant_id=tenant_id, id__in=missing).only("id", "occurred_at", "trust", "no_rebuild")
        found |= {row.id: _origin(row) for row in rows}
    return found


def _origin(event: SourceEvent) -> Origin:
    return Origin(event.occurred_at, event.trust, frozenset(event.no_rebuild))


def links_to(
    access: Access, sources: Sources, held_at: datetime | None, made: Mapping[UUID, Evidence] | None = None
) -> list[Linked]:
    """Make (or find) the evidence rows of the sources; called only when something may be written.

    ``made``: those of the events, by event, if they are at hand.
    """
    if not sources.any:
        return []
    if made is None:
        made = lineage.ensure_evidence(access, sources.events) if sources.events else {}
    rows = [*((event.id, made[event.id]) for event in sources.events), *((one.id, one) for one in sources.evidence)]
    return [
        Linked(
            evidence_id=row.id,
            held_at=held_at,
            fidelity=row.fidelity,
            event_id=row.event_id,
            roots=sources.roots_of[key],
            trusts=tuple(sources.trusts[root] for root in sources.roots_of[key] if root in sources.trusts),
        )
        for key, row in rows
    ]


def strength_of(links: Sequence[Linked]) -> int:
    """How good the ground of a statement is: 0 is best. Without evidence it is somebody's own explicit word, which is best.

    Only generated text and foreign material behind it is worse than any honest record (LN-19, LN-23).
    """
    if not links:
        return 0
    reliable = any(link.event_id is None or any(trust not in _UNRELIABLE for trust in link.trusts) for link in links)
    return min(FIDELITY_ORDER.index(link.fidelity) for link in links) + (0 if reliable else _UNRELIABLE_RANK)


def roots_of(links: Iterable[Linked]) -> frozenset[UUID]:
    """The independent origins behind links; their number is the independent evidence count."""
    return frozenset(root for link in links for root in link.roots)
