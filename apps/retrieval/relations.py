"""What records are to each other (design/04 stage 6; RP-20..24, SP-01..07, C3, C9, LN-15).

Works on records that passed the filters, in their final order, and says which of them are packed together and which give way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.retrieval.vocabulary import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.retrieval.context import Key, Ranked


@dataclass(frozen=True, slots=True)
class Group:
    """Records that stand or fall together, best first: one, or all that contradict each other; perhaps a direct predecessor."""

    members: tuple[Ranked, ...]
    predecessor: Ranked | None = None

    @property
    def disputed(self) -> bool:
        """Do its members deny each other?"""
        return len(self.members) > 1


@dataclass(frozen=True, slots=True)
class Settled:
    """Groups in packing order, and who gave way to whom."""

    groups: tuple[Group, ...]
    rejected: tuple[tuple[Ranked, Reason], ...]


def settle(ordered: Sequence[Ranked]) -> Settled:
    """Resolve duplicates, copies of one source, predecessors and contradictions among records in their final order."""
    primary = [item for item in ordered if item.candidate.successor is None]
    rejected: list[tuple[Ranked, Reason]] = []
    present = {item.candidate.public_id for item in primary}
    told: set[tuple[str, frozenset[str]]] = set()
    kept: list[Ranked] = []
    for item in primary:
        candidate = item.candidate
        copy = _seen(told, candidate.content, candidate.lineage)
        if any(relation.type == "duplicate_of" and relation.memory_id in present for relation in candidate.relations):
            rejected.append((item, Reason.DUPLICATE_OF_CANONICAL))
        elif copy:
            rejected.append((item, Reason.SAME_LINEAGE))
        else:
            kept.append(item)
    followers, turned_away = _predecessors([item for item in ordered if item.candidate.successor is not None], kept)
    return Settled(tuple(_groups(kept, followers)), (*rejected, *turned_away))


def _seen(told: set[tuple[str, frozenset[str]]], content: str, lineage: frozenset[str]) -> bool:
    """Was the same text of the same sources met before? What has no stated source is nobody's copy."""
    if not lineage:
        return False
    same = (" ".join(content.split()), lineage)
    if same in told:
        return True
    told.add(same)
    return False


def _predecessors(rows: Sequence[Ranked], kept: Sequence[Ranked]) -> tuple[dict[Key, Ranked], list[tuple[Ranked, Reason]]]:
    """At most one direct predecessor for each kept decision: the latest. Of other types none (SP-01, C3)."""
    places = {item.key for item in kept}
    chosen: dict[Key, Ranked] = {}
    rejected: list[tuple[Ranked, Reason]] = []
    for item in sorted(rows, key=lambda row: (_started(row), row.key), reverse=True):
        successor = item.candidate.successor
        if item.candidate.memory_type != "decision" or successor in chosen:
            rejected.append((item, Reason.SUPERSEDED))
        elif successor is None or successor not in places:
            rejected.append((item, Reason.SUCCESSOR_NOT_SELECTED))
        else:
            chosen[successor] = item
    return chosen, rejected


def _started(item: Ranked) -> float:
    return item.candidate.valid_from.timestamp() if item.candidate.valid_from is not None else float("-inf")


def _groups(kept: Sequence[Ranked], predecessors: dict[Key, Ranked]) -> list[Group]:
    """One group per record, but records that contradict each other come together, at the place of the best of them.

    A disputed decision comes without the one it replaced: the dispute is what matters, and its parts stay next to each other.
    """
    roots = _roots(kept)
    if not roots:
        return [Group((item,), predecessors.get(item.candidate.key)) for item in kept]
    members: dict[Key, list[Ranked]] = {}
    for item in kept:
        members.setdefault(roots.get(item.key, item.key), []).append(item)
    return [Group(tuple(group), predecessors.get(group[0].key) if len(group) == 1 else None) for group in members.values()]


def _roots(kept: Sequence[Ranked]) -> dict[Key, Key]:
    """For each record that contradicts another here, or shares an open conflict with it: the best record of its group."""
    by_name: dict[str, list[Key]] = {}
    links: list[tuple[Key, str]] = []
    for item in kept:
        candidate = item.candidate
        by_name.setdefault(candidate.public_id, []).append(candidate.key)
        links += [(candidate.key, relation.memory_id) for relation in candidate.relations if relation.type == "contradicts"]
        if candidate.conflict_id is not None:
            by_name.setdefault(candidate.conflict_id, []).append(candidate.key)
            links.append((candidate.key, candidate.conflict_id))
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
