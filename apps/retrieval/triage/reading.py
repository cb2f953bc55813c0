"""What a text holds on to and what it only points at: anchors and references, in English, Chinese and both at once."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from apps.retrieval.scripts import IGNORED
from apps.retrieval.triage import chinese, chinese_words, english, english_words
from apps.retrieval.triage.anchors import (
    HAN_RUN,
    LATIN_WORD,
    PARTICLES,
    Anchor,
    common_word,
    han_anchors,
    is_known,
    latin_anchors,
)
from apps.retrieval.triage.references import Reference, references
from apps.retrieval.triage.vocabulary import AnchorKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LOOKED_AT = 2_000  # code points of a text; what a request is about stands at its beginning

_TAKEN = "\x00"  # stands where something has been read already
_OPEN, _CLOSE = '\u201c\u300c\u300e\u300a"`', '\u201d\u300d\u300f\u300b"`'
_QUOTED = re.compile(
    rf"[{_OPEN}]([^{_OPEN}{_CLOSE}\n]{{1,80}})[{_CLOSE}]|(?<!\w)['\u2018]([^'\u2018\u2019\n]{{2,80}})['\u2019](?!\w)"
)
_IDENTIFIER = re.compile(
    r"https?://\S+|(?<![\w%])(?:#\d+|[A-Za-z_]\w*(?:[._/@#:]\w+)+|\w+-\w*[\dA-Z]\w*(?:-\w+)*|[A-Za-z_]+\d\w*(?:[-._]\w+)*|"
    r"\d+[A-Za-z_]\w*|[a-z]+[A-Z]\w*|[A-Z]{2,}s?|\w+_\w+)(?![\w%])"
)
_UNITS = re.compile(r"\d+(?:st|nd|rd|th|am|pm|px|k?m|cm|mm|kg|g|mb|gb|h|s|ms|min|k|x)", re.IGNORECASE)
_ROMAN = re.compile("[IVX]+")
_OTHER_SCRIPT = re.compile("[\u0370-\u1dff\u3040-\u30ff\uac00-\ud7ff\u0e00-\u0eff]")
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田"
    "任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
)
_CALLED = re.compile(
    f"[小老阿][{_SURNAMES}](?!时|说|学)|[{_SURNAMES}](?:老师|总(?!结|是|共|之)|经理|医生|先生|女士|小姐|队长|主任|教授|工(?!作|程|具|人))"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as triage sees it.

    ``latin``, ``han``: which writing is in it. ``chinese``: the answer to its writer is in Chinese. ``readable``: there are
    rules for it here.
    """

    text: str
    anchors: tuple[Anchor, ...]
    references: tuple[Reference, ...]
    latin: bool
    han: bool
    chinese: bool
    readable: bool

    def says(self, in_english: re.Pattern[str], in_chinese: re.Pattern[str]) -> bool:
        """Whether a pattern of a language that the text is (partly) written in is found in it."""
        return bool((self.latin and in_english.search(self.text)) or (self.han and in_chinese.search(self.text)))

    @property
    def has_words(self) -> bool:
        return any(character.isalnum() for character in self.text)


def plain(text: str) -> str:
    """The beginning of a text in the form in which it is read: compatibility forms folded, invisible signs gone, case kept."""
    cut = text[:LOOKED_AT]
    if not cut.isascii():
        cut = unicodedata.normalize("NFKC", IGNORED.sub("", cut))
    return cut.replace("\u2019", "'").replace(_TAKEN, " ").strip()


def read(text: str, names: Iterable[str] = (), *, part: bool = False) -> Reading:
    """Anchors and references of a text that went through `plain`; ``names`` are labels and keys known to occur in it.

    ``part``: of the text that they occur in; one that is not found as it is spelled stands somewhere else.
    """
    latin, han = bool(LATIN_WORD.search(text)), bool(HAN_RUN.search(text))
    anchors: list[Anchor] = []
    rest = text
    for name, pattern in _named(names):
        found = len(anchors)
        rest = pattern.sub(partial(_keep, anchors, AnchorKind.LABEL, text), rest)
        if len(anchors) == found and not part:  # spelled in another form of its words
            anchors.append(Anchor(AnchorKind.LABEL, name, 0, 0))
    rest = _QUOTED.sub(partial(_keep, anchors, AnchorKind.QUOTE, text), rest)
    if latin:
        rest = english.EXPLETIVE.sub(_blank, rest)
    rest = english.DATE.sub(partial(_keep, anchors, AnchorKind.DATE, text), rest)
    if han:
        rest = chinese.DATE.sub(partial(_keep, anchors, AnchorKind.DATE, text), rest)
        rest = _CALLED.sub(partial(_keep, anchors, AnchorKind.PERSON, text), rest)
    for habit in (english.HABIT, chinese.HABIT):
        rest = habit.sub(partial(_keep, anchors, AnchorKind.OWN, text), rest)
    if latin:
        rest = _IDENTIFIER.sub(partial(_identifier, anchors, text), rest)
        anchors += latin_anchors(rest)
    if han:
        anchors += han_anchors(rest)
    anchors += _own(text, anchors)
    anchors.sort(key=lambda one: one.start)
    return Reading(
        text=text,
        anchors=tuple(anchors),
        references=tuple(references(rest, anchors, latin=latin, han=han)),
        latin=latin,
        han=han,
        chinese=han and _is_chinese(text),
        readable=not _OTHER_SCRIPT.search(text),
    )


def _own(text: str, anchors: Sequence[Anchor]) -> Iterator[Anchor]:
    """Things of the asker ("my tasks", "我的计划"): a common word is enough to look for where it says whose."""
    for pattern in (english.OWN_NOUN, chinese.OWN_NOUN):
        for match in pattern.finditer(text):
            if all(one.end <= match.start() or match.end() <= one.start for one in anchors):
                yield Anchor(AnchorKind.OWN, match.group(), *match.span())


def _named(names: Iterable[str]) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name in names:
        edge = r"(?<![^\W_])" if name[:1].isascii() else ""
        yield name, re.compile(f"{edge}{re.escape(name)}(?![a-z0-9])" if edge else re.escape(name), re.IGNORECASE)


def _blank(match: re.Match[str]) -> str:
    return _TAKEN * len(match.group())


def _keep(anchors: list[Anchor], kind: AnchorKind, text: str, match: re.Match[str]) -> str:
    group = next((number for number in range(1, match.re.groups + 1) if match.group(number) is not None), 0)
    start, end = match.span(group)
    if text[start:end].strip():
        anchors.append(Anchor(kind, text[start:end], start, end))
    return _TAKEN * len(match.group())


_NAMED_KINDS: Final = frozenset(chinese_words.NAMED_KINDS.split("|"))  # "那个 PR" names no PR


def _identifier(anchors: list[Anchor], text: str, match: re.Match[str]) -> str:
    word = match.group()
    if _UNITS.fullmatch(word) or word.lower() in {"and/or", "either/or", "ok", "i", "am", "pm"}:
        return word
    if word.lower() in _NAMED_KINDS or _ROMAN.fullmatch(word):
        return word
    anchors.append(
        Anchor(AnchorKind.ARTEFACT, text[match.start() : match.end()], *match.span(), worldly=is_known(word), proper=True)
    )
    return _TAKEN * len(word)


def _is_chinese(text: str) -> bool:
    """Chinese grammar makes the sentence Chinese, whatever names stand in it."""
    common = sum(1 for word in LATIN_WORD.findall(text) if word.lower() in english_words.COMMON)
    return not common or _spoken(text) > common


def _spoken(text: str) -> int:
    """How many characters of common Chinese words there are."""
    found = place = 0
    while place < len(text):
        length = common_word(text, place, len(text)) or int(text[place] in PARTICLES)
        found += length
        place += length or 1
    return found
