"""Text into terms, for the index and for a question (design/04 lexical, RK-11, RK-12, RK-17, C26).

Spaced scripts: whole words; Latin ones lightly stemmed, function words dropped. What is joined by signs (`feild_test`, `v2.4.0`,
`run-4472`, `a/b`) gives its words and, where the join carries meaning, the whole. Han, kana and the other scripts written without
spaces, and Hangul: adjacent pairs of characters. Single characters are indexed too, and a question uses one only where it
stands alone. Signs are never operators. Both functions are deterministic and linear in the text.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from operator import add
from typing import TYPE_CHECKING

from apps.retrieval.scripts import HANGUL, LATIN, MARKS, PAIRED, fold
from apps.retrieval.stemming import FUNCTION_WORDS, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable

# Stored with every generation of the index; a query never mixes terms of two analyses. Raise it when any term may change.
ANALYSIS_VERSION = 2

_RUN = rf"[{LATIN}]+(?:[_.\-/:@&,'\u2019][{LATIN}]+)*(?:\+\+|\#)?"
_LATIN_CHUNK = re.compile(_RUN)
_CHUNK = re.compile(
    rf"({_RUN})|([{PAIRED}]+|[{HANGUL}]+)|((?:[^\W_{PAIRED}{HANGUL}]|[{MARKS}])+)",
)
_PART = re.compile(rf"[{LATIN}]+")
_SHORT_NUMBER = re.compile(r"[0-9]{1,2}")  # inside a join (a time, a version, a range) it says nothing by itself
_VERSION = re.compile(r"v[0-9]+(?:\.[0-9]+)+")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+")
_CONTRACTION = re.compile(r"([a-z]+)['\u2019](s|t|re|ve|ll|d|m)")
_WHOLE_MATTERS = re.compile(r"[0-9_.@]|\+\+$|\#$")

# Chinese words of grammar. A pair among them is neither indexed nor searched; a single one is not searched alone.
FUNCTION_PAIRS = words(
    """
    什么 怎么 怎样 为什 哪些 哪种 哪个 哪里 我们 你们 他们 她们 它们 自己 可以 这个 那个 这些 那些 这样 那样 一个 一下 一些
    没有 有没 还是 如何 是否 因为 所以 但是 如果 虽然 然后 不是 就是 还有 已经 应该 可能 非常 以及 或者 并且 而且
    """
)
PARTICLES = frozenset("的了着过吗呢吧啊呀嘛么和与或在是有我你您他她它们这那就都也很还把被让给对从到为以及而但个之其")


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What the lexical lane looks up: distinct terms in the order of the question, and how often each is said in it.

    Falsy when there is nothing to look up.
    """

    terms: tuple[str, ...]
    said: tuple[int, ...]

    def __bool__(self) -> bool:
        return bool(self.terms)


def index_terms(text: str) -> frozenset[str]:
    """Every term under which the text can be found."""
    return frozenset(_terms(text, indexing=True)) - FUNCTION_PAIRS


def query_terms(text: str) -> QueryTerms:
    """The terms a question is looked up by; none for a question of function words and signs only."""
    found = Counter(term for term in _terms(text, indexing=False) if term not in FUNCTION_PAIRS)
    return QueryTerms(tuple(found), tuple(found.values()))


def _terms(text: str, *, indexing: bool) -> list[str]:
    folded = fold(text)
    found: list[str] = []
    if folded.isascii():
        for chunk in _LATIN_CHUNK.findall(folded):
            _add_latin(found, chunk)
        return found
    for latin, paired, other in _CHUNK.findall(folded):
        if latin:
            _add_latin(found, latin)
        elif other:
            found.append(other)
        elif len(paired) > 1:
            found += map(add, paired, paired[1:])
            if indexing:
                found += paired
        elif indexing or paired not in PARTICLES:
            found.append(paired)
    return found


def _add_latin(found: list[str], chunk: str) -> None:
    """Add the words of one run of Latin letters, digits and the signs between them, and the run itself where it is a name."""
    if chunk.isalpha():
        if chunk not in FUNCTION_WORDS:
            found.append(stem(chunk))
        return
    if contraction := _CONTRACTION.fullmatch(chunk):
        base, ending = contraction.groups()
        if base not in FUNCTION_WORDS and not (ending == "t" and base.endswith("n")):
            found.append(stem(base))
        return
    if _THOUSANDS.fullmatch(chunk):
        found.append(chunk.replace(",", ""))
        return
    parts = _PART.findall(chunk)
    alone = len(parts) == 1
    found += [stem(part) for part in parts if part not in FUNCTION_WORDS and (alone or not _SHORT_NUMBER.fullmatch(part))]
    if chunk != parts[0] and (alone or _WHOLE_MATTERS.search(chunk)):
        found.append(chunk)
        if _VERSION.fullmatch(chunk):
            found.append(chunk[1:])


def term_hash(key: bytes, term: str) -> int:
    """The term as the index stores it: a signed 64-bit number that spells nothing without the tenant's key.

    `key` is 16 to 64 bytes.
    """
    return int.from_bytes(blake2b(term.encode(), digest_size=8, key=key).digest(), "big", signed=True)


def term_hashes(key: bytes, terms: Iterable[str]) -> dict[str, int]:
    """Hash of each term, in the order given."""
    keyed = blake2b(digest_size=8, key=key)
    found: dict[str, int] = {}
    for term in terms:
        state = keyed.copy()
        state.update(term.encode())
        found[term] = int.from_bytes(state.digest(), "big", signed=True)
    return found
