"""The relevance cut: a record that only shares words with the question must share enough of it (design/04, BU-20, RP-40).

The measure: the weights of the question's terms that the record holds, against a share of the question's heaviest known terms.
Known is what occurs in the allowed scope at all: a term nobody here ever used says nothing about these records. Only the
heaviest few count, so that a long message does not ask more of a short record than a short question does; but of a question with
many known terms one shared term is a coincidence, however rare it is. What a key, a name or a policy brought in is
not judged by its words; a phrase is words, and lifts only what is about the question anyway. What is near to the question by its
meaning is judged by that nearness: among the few nearest, and not further away than its embedder says (lane `semantic`).

Who gave a record names said what calls it. Without being called by one it needs half of what the question says beyond the
names of others, and two terms of it: a record that mentions another's name in passing is not what was asked for. Meaning lifts no
record over this: it tells less apart than a name does.

Measured on the shared evaluation data (share 200, heaviest 6, two terms from five known ones on): LoCoMo recall@10 .634 → .632
while the list of at most twenty shrinks from 19.9 to 15.5; MADial zh, one user's scope, recall@5 .574 → .572 from 20 to 11.6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import nlargest
from types import MappingProxyType
from typing import TYPE_CHECKING

from apps.retrieval.vocabulary import Lane

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from apps.retrieval.context import Recall

DEFAULT_SHARE = 200  # permille; a setting of the tenant's operator
NAMED_SHARE = 500  # permille of a record with names that is called by none of them
HEAVIEST = 6
SHORT_QUESTION = 2  # words: every record that holds one of them is found
MANY_TERMS = 5  # known ones, of which a record must hold more than one
ALWAYS = "always"
WORDS = frozenset({Lane.LEXICAL, Lane.PHRASE})
MEANING = frozenset({Lane.SEMANTIC})


def _no_weights() -> Mapping[str, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTerms:
    """The question's terms that occur in the allowed scope, with their weights (fusion.term_weight), and its length in words."""

    weights: Mapping[str, int] = field(default_factory=_no_weights)
    words: int = 0

    @property
    def count(self) -> int:
        """How many are known."""
        return len(self.weights)

    @property
    def weight(self) -> int:
        """The weight of the heaviest few together."""
        return _heaviest(self.weights.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceRule:
    """`share`: permille of the known weight that a record must hold; 0 lets every shared word pass."""

    share: int = DEFAULT_SHARE


def passes(rule: RelevanceRule, known: KnownTerms, recall: Recall, *, policy: str = "relevant") -> bool:
    """Is this record about the question, as far as words can tell? False is reason `below_relevance`.

    A question of one or two words, or known terms, finds every record that holds one of them, and policy `always` needs one.
    """
    if recall.near or not recall.lanes.keys() <= WORDS | MEANING:
        return True
    if recall.matched_terms == 0:
        return False
    if min(known.count, known.words) <= SHORT_QUESTION or policy == ALWAYS or rule.share == 0:
        return True
    alone = known.count >= MANY_TERMS and recall.matched_terms == 1
    return not alone and 1000 * recall.matched_weight >= rule.share * known.weight


def passes_unnamed(rule: RelevanceRule, known: KnownTerms, held: Collection[str], spoken_for: Collection[str]) -> bool:
    """The same for a record that has names and is called by none: `held` are its terms, `spoken_for` those of called names."""
    if known.words <= SHORT_QUESTION or rule.share == 0:
        return not known.weights.keys().isdisjoint(held)
    rest = {term: weight for term, weight in known.weights.items() if term not in spoken_for}
    shared = [weight for term, weight in rest.items() if term in held]
    return len(shared) > 1 and 1000 * sum(shared) >= NAMED_SHARE * _heaviest(rest.values())


def _heaviest(weights: Collection[int]) -> int:
    return sum(nlargest(HEAVIEST, weights))
