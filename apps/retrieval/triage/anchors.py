"""What a text names: words that are not common ones, names and identifiers, and runs of Han without the common words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from apps.retrieval.scripts import HAN
from apps.retrieval.stemming import stem
from apps.retrieval.triage import chinese_words, english_words
from apps.retrieval.triage.vocabulary import AnchorKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LATIN_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'\u2019-]*")
HAN_RUN: Final = re.compile(f"[{HAN}]+")
PARTICLES: Final = frozenset(word for word in chinese_words.COMMON if len(word) == 1)
_LONGEST_WORD = max(len(word) for word in chinese_words.COMMON)
_SHORTEST_NAME = 2  # of letters, and of Han characters that are no thing by themselves
_SHORTEST_ADVERB = 5
_SENTENCE_START = re.compile(r"(?:^|[.!?\u3002\uff1f\uff01:;\n\u00b7])[\s\"'(\u201c]*$")
_MAKES_A_NOUN: Final = frozenset("机器员者师室库仪板卡码费率表包")  # behind a verb: 打印机, 导入器
_BEFORE, _BEHIND = frozenset("的了是在把被给吗"), frozenset("的了是吗呢吧啊有在着过要会将已")
_COUNTED = re.compile(
    "^(?:[一二两三四五六七八九十几哪\\d]+[个条件只位次种些张本块台辆艘份篇首部间套支把双对遍回趟场顿番年月天周日颗座]|"
    "[个条件只位次种些颗座块根把双台])"
)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A stretch of the text that names something (TR-07)."""

    kind: AnchorKind
    text: str
    start: int
    end: int
    worldly: bool = False  # everybody's: a language, a planet
    proper: bool = False  # a name or an identifier, not a word of the dictionary


def is_known(word: str) -> bool:
    """A name of the world, nobody's in particular."""
    return word.lower().removesuffix("'s") in english_words.WORLD_NAMES


def latin_anchors(rest: str) -> Iterator[Anchor]:
    """Runs of neighbouring words that are not common ones. What stands where a verb stands is no anchor."""
    shouted = rest.upper() == rest
    run: list[re.Match[str]] = []
    kinds: list[AnchorKind | None] = []
    before, end = "", 0
    for match in LATIN_WORD.finditer(rest):
        word = match.group().lower()
        kind = _kind_of(match, word, before, rest, shouted=shouted)
        beside = bool(run) and not rest[end : match.start()].strip(" ")
        if kind is None and beside and (stem(word) in english_words.KIND_OF or word in english_words.NAMED_KINDS):
            kind = english_words.KIND_OF.get(stem(word), AnchorKind.THING)  # "field test": a common word that is named here
        if run and (kind is None or not beside):
            yield _run(rest, run, kinds)
            run, kinds = [], []
        if kind is not None:
            run.append(match)
            kinds.append(kind)
        if word not in english_words.ADVERBS:
            before = word
        if rest[match.end() : match.end() + 1] in {".", "?", "!", ",", ";"}:
            before = ""
        end = match.end()
    if run:
        yield _run(rest, run, kinds)


def _kind_of(match: re.Match[str], word: str, before: str, rest: str, *, shouted: bool) -> AnchorKind | None:
    """What a word names, as its place tells; None for a common word and for one that does the work of a verb here."""
    base = word.removesuffix("'s").strip("'-")
    if before in english_words.ARTICLES and base in english_words.THINGS_BY_PLACE:
        return AnchorKind.THING
    if len(base) < _SHORTEST_NAME or base in english_words.COMMON:
        return None
    root = stem(base)
    kind = english_words.KIND_OF.get(root)
    capital = match.group()[0].isupper() and not shouted
    if capital and not is_known(base) and not _SENTENCE_START.search(rest[max(0, match.start() - 4) : match.start()]):
        return kind if kind is AnchorKind.PERSON else AnchorKind.NAME
    verb = (before in english_words.PRONOUNS and kind is None) or (before in _PASSIVE and base.endswith(("ed", "en")))
    return None if verb or _is_common(base, root) else kind or AnchorKind.THING


_PASSIVE: Final = frozenset({"be", "been", "being", "get", "gets", "got"})


def _is_common(base: str, root: str) -> bool:
    doubled = root[:-1] if root[-1:] == root[-2:-1] else root  # "cancelled"
    adverb = base.endswith("ly") and len(base) >= _SHORTEST_ADVERB
    return adverb or not english_words.COMMON_STEMS.isdisjoint((root, doubled))


def _run(rest: str, run: Sequence[re.Match[str]], kinds: Sequence[AnchorKind | None]) -> Anchor:
    start, end = run[0].start(), run[-1].end()
    kind = AnchorKind.NAME if AnchorKind.NAME in kinds else kinds[-1] or AnchorKind.THING
    return Anchor(
        kind, rest[start:end].removesuffix("'s"), start, end, all(is_known(one.group()) for one in run), AnchorKind.NAME in kinds
    )


def han_anchors(rest: str) -> Iterator[Anchor]:
    """What is left of a run of characters without the common words; single characters only if they are things by themselves."""
    for match in HAN_RUN.finditer(rest):
        start = place = match.start()
        while place < match.end():
            length = common_word(rest, place, match.end())
            if length:
                yield from _han_piece(rest, start, place)
                start = place + length
            place += length or 1
        yield from _han_piece(rest, start, match.end())


def common_word(rest: str, place: int, end: int) -> int:
    """Length of the longest common word of two or more characters here; 0 for none."""
    for length in range(min(_LONGEST_WORD, end - place), 1, -1):
        stop = place + length
        if rest[place:stop] in chinese_words.COMMON and not (stop < end and rest[stop] in _MAKES_A_NOUN):
            return length
    return 0


def _han_piece(rest: str, start: int, end: int) -> Iterator[Anchor]:
    piece = rest[start:end]
    if counted := _COUNTED.match(piece):
        start, piece = start + counted.end(), piece[counted.end() :]
    if all(character in PARTICLES for character in piece):
        return
    while len(piece) > _SHORTEST_NAME and piece[0] in _BEFORE:
        start, piece = start + 1, piece[1:]
    while len(piece) > _SHORTEST_NAME and piece[-1] in _BEHIND:
        end, piece = end - 1, piece[:-1]
    if len(piece) == _SHORTEST_NAME and _one_thing(piece):
        first = piece[0] in chinese_words.SHORT_NOUNS
        start, end, piece = (start, end - 1, piece[0]) if first else (start + 1, end, piece[1])
    if len(piece) > 1 or piece in chinese_words.SHORT_NOUNS:
        kind = next((kind for kind, pattern in chinese_words.KIND_AT_END if pattern.search(piece)), AnchorKind.THING)
        yield Anchor(kind, piece, start, end)


def _one_thing(pair: str) -> bool:
    """A thing of one character with a particle at either side."""
    particles = [character in PARTICLES for character in pair]
    things = [character in chinese_words.SHORT_NOUNS for character in pair]
    return (particles[0] and things[1]) or (things[0] and particles[1])
