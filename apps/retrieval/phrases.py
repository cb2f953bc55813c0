"""The phrase signal: words of the question that stand together, in order, in few records (design/04, RK-20..34).

A span is two or more whole words of the question as they follow each other, not beginning or ending with a function word. It is
found where the same words stand next to each other; words joined by a sign are another word, a full stop or a comma between
two ends the neighbourhood, and writing without spaces has no words to count, so it forms no spans (RK-32).
A span that many records hold is a common way of speaking, not an anchor. The bonus itself is a lane in the fusion, bounded there.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, TypeVar

from apps.retrieval.fusion import competition_ranks
from apps.retrieval.scripts import MARKS, PAIRED, fold
from apps.retrieval.stemming import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DOCUMENT_CAP = 8
LONGEST = 8  # words of a span; longer agreement is the same anchor
_WORDS_LOOKED_AT = 64  # of a question
_TEXT_LOOKED_AT = 16_384  # code points of a record; work per record stays bounded
_BREAK = "\n"

_WORD = rf"(?:[^\W_{PAIRED}]|[{MARKS}])+"
_TOKEN = re.compile(
    rf"(?P<word>{_WORD}(?:[_.\-/:@&,'\u2019+#]+{_WORD})*)"
    r"""|(?P<quiet>[\s"'\u2018-\u201f()\[\]*_`]+)|(?P<break>.)""",
    re.DOTALL,
)

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class SpanQuery:
    """Words of a question, runs of neighbours apart; falsy when no span can come of it.

    `pairs` are the first two words of subject that a span can hold: a text without both words of any needs no closer look.
    """

    runs: tuple[tuple[str, ...], ...]
    pairs: frozenset[tuple[str, str]]

    def __bool__(self) -> bool:
        return bool(self.pairs)


def span_query(text: str) -> SpanQuery:
    """The question as runs of at least two neighbouring words."""
    runs: list[list[str]] = [[]]
    for word in islice(_tokens(fold(text)), _WORDS_LOOKED_AT):
        if word == _BREAK:
            runs.append([])
        else:
            runs[-1].append(word)
    subjects = ([word for word in run if word not in FUNCTION_WORDS] for run in runs)
    pairs = frozenset(pair for words in subjects for pair in pairwise(words))
    return SpanQuery(tuple(tuple(run) for run in runs if len(run) > 1), pairs)


def spans_in(query: SpanQuery, text: str) -> tuple[str, ...]:
    """The longest spans of the question that this text holds, in the order of the question, each once."""
    folded = fold(text[:_TEXT_LOOKED_AT])
    if not any(first in folded and second in folded for first, second in query.pairs):
        return ()
    body = f" {' '.join(_tokens(folded))} "
    found: dict[str, None] = {}
    for run in query.runs:
        covered = 0
        for start in range(len(run) - 1):
            end = _longest(run, start, body)
            if end > covered and end - start > 1:
                found[" ".join(run[start:end])] = None
                covered = end
    return tuple(found)


def phrase_lane(query: SpanQuery, texts: Mapping[K, str], *, cap: int = DOCUMENT_CAP) -> dict[K, tuple[str, ...]]:
    """Spans of each record that has any, without those that more than `cap` of the records hold.

    `texts` are the records recalled for the question; a common phrase is seen as common as long as more than `cap` are given.
    """
    found = {key: spans for key, text in texts.items() if (spans := spans_in(query, text))}
    holders = Counter(span for spans in found.values() for span in spans)
    kept = {key: tuple(span for span in spans if holders[span] <= cap) for key, spans in found.items()}
    return {key: spans for key, spans in kept.items() if spans}


def phrase_ranks(found: Mapping[K, tuple[str, ...]]) -> dict[K, int]:
    """Rank in the phrase lane: the record with the longest span first, equal lengths share a rank."""
    return competition_ranks({key: max(len(span.split()) for span in spans) for key, spans in found.items()})


def _longest(run: tuple[str, ...], start: int, body: str) -> int:
    """End of the longest span from here that the body holds, cut back so that no function word ends it; `start` for none."""
    if run[start] in FUNCTION_WORDS:
        return start
    end = start + 1
    while end < min(len(run), start + LONGEST) and f" {' '.join(run[start : end + 1])} " in body:
        end += 1
    while end > start + 1 and run[end - 1] in FUNCTION_WORDS:
        end -= 1
    return end


def _tokens(folded: str) -> Iterator[str]:
    """Words in order, with a break where the neighbourhood ends."""
    last = _BREAK
    for match in _TOKEN.finditer(folded):
        token = match.group() if match.lastgroup == "word" else _BREAK
        if match.lastgroup == "quiet" or token == last == _BREAK:
            continue
        yield token
        last = token
