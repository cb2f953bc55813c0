"""The relevance cut: a record that only shares words with the question must share enough of it (design/04, BU-20, RP-40).

The measure: the weights of the question's terms that the record holds, against a share of the question's heaviest known terms.
Known is what occurs in the allowed scope at all: a term nobody here ever used says nothing about these records. Only the
heaviest few count, so that a long message does not ask more of a short record than a short question does. What a key, a name, a
policy or meaning brought in is not judged by its words; a phrase is words, and lifts only what is about the question anyway.

Measured on the shared evaluation data (share 250, heaviest 6): LoCoMo recall@10 .633 → .624 while the list of at most twenty
shrinks from 19.9 to 13.6; MADial zh, one user's scope, recall@5 .566 → .552 from twenty to 8.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, Self

from apps.retrieval.vocabulary import Lane

if TYPE_CHECKING:
    from collections.abc import Collection

    from apps.retrieval.context import Recall

DEFAULT_SHARE = 250  # permille; a setting of the tenant's operator
HEAVIEST = 6
SHORT_QUESTION = 2
_WORDS = frozenset({Lane.LEXICAL, Lane.PHRASE})
ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTerms:
    """The question's terms that occur in the allowed scope: how many, and the weight of the heaviest few together."""

    count: int
    weight: int

    @classmethod
    def of(cls, weights: Collection[int]) -> Self:
        """From the weight of each known term (fusion.term_weight)."""
        return cls(count=len(weights), weight=sum(nlargest(HEAVIEST, weights)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceRule:
    """`share`: permille of the known weight that a record must hold; 0 lets every shared word pass."""

    share: int = DEFAULT_SHARE


def passes(rule: RelevanceRule, known: KnownTerms, recall: Recall, *, policy: str = "relevant") -> bool:
    """Is this record about the question, as far as words can tell? False is reason `below_relevance`.

    A question of one or two known terms finds every record that holds one of them, and policy `always` needs one shared word.
    """
    if not recall.lanes.keys() <= _WORDS:
        return True
    if recall.matched_terms == 0:
        return False
    return known.count <= SHORT_QUESTION or policy == ALWAYS or 1000 * recall.matched_weight >= rule.share * known.weight
