"""Ranking figures of an evaluation run (design/04 Evaluation). Pure arithmetic over ranked ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def recall_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Share of the relevant ids among the first k; 1.0 when nothing is relevant."""
    return len(set(ranked[:k]) & set(relevant)) / len(set(relevant)) if relevant else 1.0


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """1 / rank of the first relevant id; 0.0 when none is there."""
    return next((1 / rank for rank, found in enumerate(ranked, start=1) if found in relevant), 0.0)


def precision_of(chosen: Collection[str], relevant: Collection[str]) -> float:
    """Share of the chosen ids that are relevant; 1.0 for an empty choice, which claims nothing."""
    return len(set(chosen) & set(relevant)) / len(set(chosen)) if chosen else 1.0


@dataclass(slots=True)
class Tally:
    """Running means of recall at several depths, MRR and packet size."""

    depths: tuple[int, ...] = (5, 10, 20)
    questions: int = 0
    _recall: dict[int, float] = field(default_factory=dict)
    _reciprocal: float = 0.0
    _chosen: int = 0
    _precision: float = 0.0

    def add(self, ranked: Sequence[str], relevant: Collection[str]) -> None:
        """Count one question."""
        self.questions += 1
        for depth in self.depths:
            self._recall[depth] = self._recall.get(depth, 0.0) + recall_at(ranked, relevant, depth)
        self._reciprocal += reciprocal_rank(ranked, relevant)
        self._chosen += len(ranked)
        self._precision += precision_of(ranked, relevant)

    def figures(self) -> dict[str, float]:
        """Means by name: `recall@k`, `mrr`, `size` (ids given per question) and `precision`; zeros when nothing was counted."""
        count = self.questions or 1
        found = {f"recall@{depth}": self._recall.get(depth, 0.0) / count for depth in self.depths}
        return found | {"mrr": self._reciprocal / count, "size": self._chosen / count, "precision": self._precision / count}
