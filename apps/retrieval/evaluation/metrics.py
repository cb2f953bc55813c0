"""Ranking figures of an evaluation run (design/04 Evaluation). Pure arithmetic over ranked ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


STALE_DEPTH = 5


def recall_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Share of the relevant ids among the first k; 1.0 when nothing is relevant."""
    return len(set(ranked[:k]) & set(relevant)) / len(set(relevant)) if relevant else 1.0


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """1 / rank of the first relevant id; 0.0 when none is there."""
    return next((1 / rank for rank, found in enumerate(ranked, start=1) if found in relevant), 0.0)


def precision_of(chosen: Collection[str], relevant: Collection[str]) -> float:
    """Share of the chosen ids that are relevant; 1.0 for an empty choice, which claims nothing."""
    return len(set(chosen) & set(relevant)) / len(set(chosen)) if chosen else 1.0


def stands_above(ranked: Sequence[str], relevant: Collection[str], stale: Collection[str]) -> bool:
    """Is the first relevant id there, and before every stale one?"""
    first = next((found for found in ranked if found in relevant or found in stale), None)
    return first is not None and first in relevant


@dataclass(slots=True)
class Tally:
    """Running means of recall at several depths, MRR and packet size; and what questions with stale records say of those."""

    depths: tuple[int, ...] = (5, 10, 20)
    questions: int = 0
    _recall: dict[int, float] = field(default_factory=dict)
    _reciprocal: float = 0.0
    _chosen: int = 0
    _precision: float = 0.0
    _updates: int = 0
    _stale: int = 0
    _above: int = 0
    _with_forbidden: int = 0
    _forbidden: int = 0

    def add(
        self, ranked: Sequence[str], relevant: Collection[str], stale: Collection[str] = (), forbidden: Collection[str] = ()
    ) -> None:
        """Count one question; ``stale`` are ids of what was true once, ``forbidden`` of what may not be given at all."""
        self.questions += 1
        for depth in self.depths:
            self._recall[depth] = self._recall.get(depth, 0.0) + recall_at(ranked, relevant, depth)
        self._reciprocal += reciprocal_rank(ranked, relevant)
        self._chosen += len(ranked)
        self._precision += precision_of(ranked, relevant)
        if stale:
            self._updates += 1
            self._stale += not set(ranked[:STALE_DEPTH]).isdisjoint(stale)
            self._above += stands_above(ranked, relevant, stale)
        if forbidden:
            self._with_forbidden += 1
            self._forbidden += not set(ranked).isdisjoint(forbidden)

    def figures(self) -> dict[str, float]:
        """Means by name: `recall@k`, `mrr`, `size` (ids given per question) and `precision`; zeros when nothing was counted.

        With stale records also `stale@5`, the share of questions with one of them among the first five, and `above`, the share
        whose answer stands above all of them. With forbidden ones `forbidden`, the share of those questions that were given one.
        """
        count = self.questions or 1
        found = {f"recall@{depth}": self._recall.get(depth, 0.0) / count for depth in self.depths}
        found |= {"mrr": self._reciprocal / count, "size": self._chosen / count, "precision": self._precision / count}
        if self._updates:
            found |= {f"stale@{STALE_DEPTH}": self._stale / self._updates, "above": self._above / self._updates}
        if self._with_forbidden:
            found["forbidden"] = self._forbidden / self._with_forbidden
        return found
