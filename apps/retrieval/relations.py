"""What records are to each other (design/04 stage 6; RP-20..24, SP-01..07, C3, C9, LN-15).

Works on records that passed the filters, in their final order, and says which of them are packed together and which give way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.retrieval.packing import Unit
from apps.retrieval.vocabulary import EvidenceLabel, Reason, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.retrieval.context import Judged, Key


@dataclass(frozen=True, slots=True)
class Settled:
    """Units in packing order, and who gave way to whom."""

    units: tuple[Unit, ...]
    rejected: tuple[tuple[Judged, Reason], ...]


def settle(ordered: Sequence[Judged]) -> Settled:
    """Resolve duplicates, copies of one source, predecessors and contradictions among records in their final order."""
    primary = [item for item in ordered if item.candidate.successor is None]
    rejected: list[tuple[Judged, Reason]] = []
    present = {item.candidate.public_id for item in primary}
    told: set[tuple[str, frozenset[str]]] = set()
    kept: list[Judged] = []
    for item in primary:
        candidate = item.candidate
        same = (" ".join(candidate.content.split()), candidate.lineage)
        if any(relation.type == "duplicate_of" and relation.memory_id in present for relation in candidate.relations):
            rejected.append((item, Reason.DUPLICATE_OF_CANONICAL))
        elif candidate.lineage and same in told:
            rejected.append((item, Reason.SAME_LINEAGE))
        else:
            told.add(same)
            kept.append(item)
    followers, turned_away = _followers([item for item in ordered if item.candidate.successor is not None], kept)
    return Settled(tuple(_units(kept, followers)), (*rejected, *turned_away))


def _followers(predecessors: Sequence[Judged], kept: Sequence[Judged]) -> tuple[dict[Key, Judged], list[tuple[Judged, Reason]]]:
    """At most one direct predecessor for each kept decision: the latest. Of other types none (SP-01, C3)."""
    places = {item.key for item in kept}
    chosen: dict[Key, Judged] = {}
    rejected: list[tuple[Judged, Reason]] = []
    latest_first = sorted(predecessors, key=lambda item: (_started(item), item.key), reverse=True)
    for item in latest_first:
        successor = item.candidate.successor
        if item.candidate.memory_type != "decision" or successor in chosen:
            rejected.append((item, Reason.SUPERSEDED))
        elif successor is None or successor not in places:
            rejected.append((item, Reason.SUCCESSOR_NOT_SELECTED))
        else:
            chosen[successor] = item
    return chosen, rejected


def _started(item: Judged) -> float:
    return item.candidate.valid_from.timestamp() if item.candidate.valid_from is not None else float("-inf")


def _units(kept: Sequence[Judged], followers: dict[Key, Judged]) -> list[Unit]:
    """One unit per record, but records that contradict each other come together, at the place of the best of them."""
    groups: dict[Key, list[Judged]] = {}
    roots = _roots(kept)
    for item in kept:
        groups.setdefault(roots.get(item.key, item.key), []).append(item)
    return [_unit(members, followers) for members in groups.values()]


def _unit(members: list[Judged], followers: dict[Key, Judged]) -> Unit:
    if len(members) > 1:
        return Unit(tuple(_disputed(member) for member in members))
    return Unit((members[0],), followers.get(members[0].key))


def _roots(kept: Sequence[Judged]) -> dict[Key, Key]:
    """For each record that contradicts another here, or shares an open conflict with it: the best record of its group."""
    by_name: dict[str, list[Key]] = {}
    links: list[tuple[Key, str]] = []
    for item in kept:
        candidate = item.candidate
        by_name.setdefault(candidate.public_id, []).append(item.key)
        links += [(item.key, relation.memory_id) for relation in candidate.relations if relation.type == "contradicts"]
        if candidate.conflict_id is not None:
            by_name.setdefault(candidate.conflict_id, []).append(item.key)
            links.append((item.key, candidate.conflict_id))
    if not links:
        return {}
    place = {item.key: number for number, item in enumerate(kept)}
    root: dict[Key, Key] = {}

    def top(key: Key) -> Key:
        while key in root:
            key = root[key]
        return key

    for one, name in links:
        for other in by_name.get(name, ()):
            better, worse = sorted((top(one), top(other)), key=place.__getitem__)
            if better != worse:
                root[worse] = better
    return {item.key: top(item.key) for item in kept}


def _disputed(item: Judged) -> Judged:
    """Neither side may stand as supported while the other is denied (RP-22, PK-07)."""
    if item.section is Section.HISTORY:
        return item
    labels = tuple(label for label in EvidenceLabel if label in item.labels or label is EvidenceLabel.CONFLICTING_OR_SUPERSEDED)
    return replace(item, section=Section.CONFLICT, labels=labels)
