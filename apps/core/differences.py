"""What changed from one text to another, word by word, in every writing system.

Where words are written apart, a word is compared whole. Where they are not (Chinese, Japanese, Thai and their neighbours),
characters are compared, and one that is left standing alone beside a change goes with it: it is a rest of a word, not a word that
stayed. So a change reads as whole words in both kinds of text, without a dictionary, and the same for everybody.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Thai, Lao, Myanmar, Khmer; all of CJK with kana and bopomofo.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_TOKEN = re.compile(rf"[{_UNSPACED}]|\s+|(?:(?![{_UNSPACED}])\w)+|.", re.DOTALL)
_JOINERS = ("\u200c", "\u200d")
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")

MOST_PAIRS = 1_000_000  # of words that are compared; longer texts are compared sentence by sentence, or shown as wholes
_SENTENCE = re.compile(r"[^\n.!?。！？]*(?:[.!?。！？]+|\n+|\Z)\s*", re.DOTALL)


class Change(StrEnum):
    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the texts: in both of them, only in the first, or only in the second."""

    change: Change
    text: str


@dataclass(frozen=True, slots=True)
class _Step:
    """Tokens of the first text and what stands in their place in the second; ``same`` when they are equal."""

    same: bool
    before: tuple[str, ...]
    after: tuple[str, ...]


def compare(before: str, after: str) -> list[Piece]:
    """The pieces of both texts in reading order; what was removed stands in front of what took its place.

    Joining all but the added pieces gives the first text, all but the removed ones the second.
    """
    old, new = words(before), words(after)
    if len(old) * len(new) > MOST_PAIRS:
        old, new = sentences(before), sentences(after)
    if len(old) * len(new) > MOST_PAIRS:
        old, new = [before], [after]
    steps = _whole_words(_steps(old, new))
    pieces = []
    for step in steps:
        if step.same:
            pieces.append(Piece(Change.SAME, "".join(step.before)))
            continue
        pieces += [Piece(Change.REMOVED, "".join(step.before))] if step.before else []
        pieces += [Piece(Change.ADDED, "".join(step.after))] if step.after else []
    return pieces


def words(text: str) -> list[str]:
    """The tokens of a text; joined they are the text. Marks and joiners belong to the character in front of them."""
    tokens: list[str] = []
    glued = False  # the word goes on behind a mark, as it does in Hindi
    for token in _TOKEN.findall(text):
        mark = unicodedata.category(token[0])[0] == "M" or token in _JOINERS
        if tokens and not tokens[-1].isspace() and (mark or (glued and token[0].isalnum() and not _is_letter(token))):
            tokens[-1] += token
        else:
            tokens.append(token)
        glued = mark and not _is_letter(tokens[-1])
    return tokens


def sentences(text: str) -> list[str]:
    """The sentences of a text with their signs and spaces; joined they are the text."""
    return [sentence for sentence in _SENTENCE.findall(text) if sentence]


def _steps(old: Sequence[str], new: Sequence[str]) -> list[_Step]:
    """Equal beginnings and ends are set aside first: most changes are small, and comparing the rest is the expensive part."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    found = [
        _Step(tag == "equal", tuple(middle_old[i1:i2]), tuple(middle_new[j1:j2]))
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_opcodes()
    ]
    begins, ends = tuple(old[:head]), tuple(old[len(old) - tail :])
    return [step for step in (_Step(True, begins, begins), *found, _Step(True, ends, ends)) if step.before or step.after]


def _whole_words(steps: list[_Step]) -> list[_Step]:
    """Steps in which no rest of a word, and no bare space, is left between changes."""
    kept = []
    for place, step in enumerate(steps):
        left = steps[place - 1] if place else None
        right = steps[place + 1] if place + 1 < len(steps) else None
        kept += _without_rests(step, left, right) if step.same else [step]
    merged = []
    for same, group in groupby(kept, key=lambda step: step.same):
        members = list(group)
        merged.append(_Step(same, _joined(step.before for step in members), _joined(step.after for step in members)))
    return merged


def _without_rests(step: _Step, left: _Step | None, right: _Step | None) -> list[_Step]:
    """An equal step beside changes; what of it is only the rest of a changed word becomes part of the change."""
    tokens = step.before
    between = left is not None and right is not None
    if between and all(token.isspace() for token in tokens):
        return [_Step(False, tokens, tokens)]
    alone = between and len(tokens) == 1
    begins = 1 if (alone or _replaces(left)) and _is_rest(tokens, 0, 1) else 0
    ends = 1 if _replaces(right) and len(tokens) > begins and _is_rest(tokens, -1, -2) else 0
    parts = ((False, tokens[:begins]), (True, tokens[begins : len(tokens) - ends]), (False, tokens[len(tokens) - ends :]))
    return [_Step(same, part, part) for same, part in parts if part]


def _replaces(step: _Step | None) -> bool:
    """Something took the place of something: where text was only put in or left out, the words beside it are whole."""
    return step is not None and bool(step.before and step.after)


def _is_rest(tokens: tuple[str, ...], at: int, beside: int) -> bool:
    """Is the token next to a change a single letter of an unspaced script, with no other one behind it?"""
    return _is_letter(tokens[at]) and (len(tokens) == 1 or not _is_letter(tokens[beside]))


def _is_letter(token: str) -> bool:
    return _UNSPACED_CHARACTER.match(token) is not None and token[0].isalnum()


def _joined(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(token for part in parts for token in part)
