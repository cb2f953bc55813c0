"""What a text points at without naming it: pronouns, "that project", "那次", in either language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.retrieval.triage import chinese, chinese_words, english, english_words
from apps.retrieval.triage.anchors import LATIN_WORD
from apps.retrieval.triage.vocabulary import ReferenceKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from apps.retrieval.triage.anchors import Anchor

_NAMED_KIND = re.compile(
    r"\b(?:the|that|this|those|these|such|some|same|other)\s+(?:(?:other|same|last|whole|entire|big|little|very)\s+)?"
    rf"({'|'.join(sorted(english_words.NAMED_KINDS))})s?\b",
    re.IGNORECASE,
)
_NAMED_KIND_ZH = re.compile(
    "(?:那|这|该|此|上面的?|刚才的?|上次的?)(?:[个些件种款条项次份场位]|一[个件次])?\\s*"
    f"({chinese_words.NAMED_KINDS})(?!情?[\u4e00-\u9fff]?[题别]|上|内)",
    re.IGNORECASE,
)
_POINTING = (
    (ReferenceKind.PERSON, re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself|they|them|their|theirs)\b", re.IGNORECASE)),
    (ReferenceKind.TIME, english.UNPLACED),
    (
        ReferenceKind.PLACE,
        re.compile(
            r"\b(?:over there|down there|up there|that place|"
            r"(?<!are )(?<!is )(?<!was )(?<!were )there(?=\s*(?:[?.!,]|$|in the end|again|at all)))",
            re.IGNORECASE,
        ),
    ),
    (
        ReferenceKind.THING,
        re.compile(
            r"\b(?:(?:that|this|the other|the same|the first|the second|the latter|the former|the right|the wrong) ones?|"
            r"the (?:latter|former)|it|its|itself|these|those|this|that)\b",
            re.IGNORECASE,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A stretch of the text that points at something; ``noun`` is the kind that it names, if it names one."""

    kind: ReferenceKind
    text: str
    start: int
    end: int
    noun: str = ""


def references(rest: str, anchors: Sequence[Anchor], *, latin: bool, han: bool) -> list[Reference]:
    begins, ends = {one.start for one in anchors}, {one.end for one in anchors}
    found: list[Reference] = []
    for kind, match in _pointers(rest, latin=latin, han=han):
        noun = match.group(1) if kind is ReferenceKind.NAMED_KIND else ""
        # "that field test", "那个冰川事件": pointing at what it names; "the pump problem" is named as well
        behind = rest[match.end() :]
        names_it = match.end() + len(behind) - len(behind.lstrip(" 的")) in begins or (noun and match.start(1) in ends)
        free = all(match.end() <= one.start or one.end <= match.start() for one in found)
        if free and not names_it:
            found.append(Reference(kind, match.group(), match.start(), match.end(), noun))
    return sorted(found, key=lambda one: one.start)


def _pointers(rest: str, *, latin: bool, han: bool) -> Iterator[tuple[ReferenceKind, re.Match[str]]]:
    """Everything that may point at something; what names a kind comes first, it says more than a bare pronoun inside it."""
    if latin:
        yield from ((ReferenceKind.NAMED_KIND, match) for match in _NAMED_KIND.finditer(rest))
    if han:
        yield from ((ReferenceKind.NAMED_KIND, match) for match in _NAMED_KIND_ZH.finditer(rest))
        for name, pattern in chinese.REFERENCES:
            yield from ((ReferenceKind(name), match) for match in pattern.finditer(rest))
    if latin:
        for kind, pattern in _POINTING:
            yield from ((kind, match) for match in pattern.finditer(rest) if _pointing(match, rest))


_BEFORE_THAT = re.compile(
    r"(?:^|[.?!,;:]\s*|\b(?:did|does|do|was|is|are|were|has|had|will|would|could|should|can|isn't|wasn't|didn't|that's|whatever|"
    r"about|of|for|with|on|to|from|after|before|like|into|by|and|or|but|so|than|at|in|over|why|how|when|where|again|"
    r"remember|recall|mean|meant|say|said|know|done|solved?|fix(?:ed)?|drop(?:ped)?|decided?|became|becomes|made?|make|used?|"
    r"tr(?:y|ied)|get|got|see|saw|want(?:ed)?|liked?|call(?:ed)?)\s+)$",
    re.IGNORECASE,
)


def _pointing(match: re.Match[str], rest: str) -> bool:
    """Whether "that" or "this" points at something, and does not join two clauses or stand before what it means."""
    if match.group().lower() not in {"that", "this", "these", "those"}:
        return True
    if not _BEFORE_THAT.search(rest[max(0, match.start() - 24) : match.start()]):
        return False
    following = LATIN_WORD.match(rest[match.end() :].lstrip())
    return following is None or following.group().lower() in english_words.COMMON or following.group().lower().endswith("ed")
