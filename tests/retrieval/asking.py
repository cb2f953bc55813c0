"""Short ways to ask and to look at the index."""

from __future__ import annotations

from typing import Any

from apps.retrieval.models import IndexState, Posting, TermStat
from apps.retrieval.models.index import Layer
from apps.retrieval.packet import Packet
from apps.retrieval.pipeline import answer_query
from apps.retrieval.question import Question


class Asking:
    def __init__(self, world: Any) -> None:
        self.world = world

    def packet(self, question: str, *, who: str = "alice", **fields: Any) -> Packet:
        return answer_query(self.world.access(who), Question(question=question, **fields))

    def contents(self, question: str, **fields: Any) -> list[str]:
        return [item.content for item in self.packet(question, **fields).items]

    def index(self) -> tuple[set[tuple[Any, ...]], dict[tuple[Any, ...], int], dict[Any, tuple[int, int]]]:
        """Postings, statistics and document counts as plain values, without the generation."""
        with self.world.inside():
            postings = set(Posting.objects.values_list("namespace_id", "layer", "term", "memory_id", "version"))
            statistics = {
                (namespace, layer, term): documents
                for namespace, layer, term, documents in TermStat.objects.values_list(
                    "namespace_id", "layer", "term", "documents"
                )
                if documents
            }
            states = {
                namespace: (current, history)
                for namespace, current, history in IndexState.objects.values_list(
                    "namespace_id", "documents", "history_documents"
                )
            }
        return postings, statistics, states

    def counted(self) -> tuple[dict[tuple[Any, ...], int], dict[Any, tuple[int, int]]]:
        """What statistics and document counts must be, counted from the postings."""
        postings, _, _ = self.index()
        statistics: dict[tuple[Any, ...], int] = {}
        for namespace, layer, term, _memory, _version in (posting for posting in postings if posting[1] < Layer.NAMES):
            statistics[(namespace, layer, term)] = statistics.get((namespace, layer, term), 0) + 1
        documents: dict[Any, list[int]] = {}
        for namespace, era, _memory, _version in {(p[0], p[1] & 1, p[3], p[4]) for p in postings}:
            documents.setdefault(namespace, [0, 0])[era] += 1
        return statistics, {namespace: (counts[0], counts[1]) for namespace, counts in documents.items()}
