"""Text → sentences, with what is not the speaker's own plain word marked or covered (design/03: sentence level, negation-
and quotation-aware).

Code blocks and block quotes are left out. Quoted speech and inline code are covered in `masked`, a copy of the same length in
which rules look for their words; what they capture is read from the original by its offsets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

COVER = "\u00a4"
LONGEST = 400  # characters of a sentence that rules look at; longer ones are no plain statements

_FENCE = re.compile(r"^[ \t]*(```+|~~~+)", re.MULTILINE)
_LINE = re.compile(r"[^\r\n\u2028\u2029]+")
_QUOTE_LINE = re.compile(r"\s*>")
_CODE_LINE = re.compile(r"(?:\t| {4,})(?![-*•\d])|\s*(?:\$|>>>|#!|//|/\*|<[/!?\w])\s?")
_BULLET = re.compile(r"\s*(?:[-*•·+]\s+|\(?\d{1,2}[.)、]\s*|\[[ xX]\]\s+|#{1,6}\s+)+")
_QUOTED = re.compile(
    r"“[^”\n]{0,300}(?:”|$)|「[^」\n]{0,300}(?:」|$)|『[^』\n]{0,300}(?:』|$)|\"[^\"\n]{1,300}\"|`[^`\n]{1,200}`"
    r"|(?<![\w’'])‘[^’\n]{1,200}’(?!\w)|(?<![\w'])'(?=\S)[^'\n]{2,200}(?<=\S)'(?!\w)"
)
# Where a sentence ends. A full stop counts only before white space, so that 4.2, e.g. and a.b.c stay whole.
_END = re.compile(r"[。！？；…]+[”’」』）)\"]*|[!?]+[”’)\"]*(?=\s|$|[\u4e00-\u9fff])|\.+[”’)\"]*(?=\s|$)|;(?=\s|$)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|st|no|approx|ca|jr|sr|prof|fig|al|inc|ltd|dept|est|ver|v|p|pp|[A-Za-z]))$",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？][”’」』）)\"\s]*$|(?:吗|呢|么|嘛)[。.!！~～\s]*$")
_SHORT_LINE = 60


@dataclass(frozen=True, slots=True)
class Sentence:
    """`start` is the offset of `text` in the source; `masked` has the same length as `text`."""

    text: str
    start: int
    masked: str
    spoken_at: datetime | None = None

    @property
    def is_question(self) -> bool:
        return _QUESTION.search(self.masked) is not None

    @property
    def is_covered(self) -> bool:
        """Nothing of it is the speaker's own word."""
        return not self.masked.replace(COVER, "").strip(" \t.,;:!?，。；：！？—-")

    def part(self, start: int, end: int) -> Sentence:
        """A stretch of it without the white space around."""
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        return Sentence(self.text[start:end], self.start + start, self.masked[start:end], self.spoken_at)


@dataclass(frozen=True, slots=True)
class Divided:
    """The sentences of a text and how many of its lines were code or quotation."""

    sentences: list[Sentence]
    left_out: int


def divide(text: str, spoken_at: datetime | None = None) -> Divided:
    """Split a text into sentences; linear in its length."""
    found: list[Sentence] = []
    left_out = 0
    for whole, start, end in _blocks(text):
        if not whole:
            left_out += 1
            continue
        for line_start, line_end in _joined_lines(text, start, end):
            line = text[line_start:line_end]
            if _QUOTE_LINE.match(line) or _CODE_LINE.match(line):
                left_out += 1
                continue
            found += _of_line(line, line_start, spoken_at)
    return Divided(found, left_out)


def _blocks(text: str) -> list[tuple[bool, int, int]]:
    """Stretches of text, each outside (True) or inside (False) a fenced code block; a block left open goes to the end."""
    blocks: list[tuple[bool, int, int]] = []
    begun, fence = 0, ""
    for match in _FENCE.finditer(text):
        if not fence:
            blocks.append((True, begun, match.start()))
            begun, fence = match.start(), match[1][:3]
        elif match[1].startswith(fence):
            line_end = text.find("\n", match.end())
            end = len(text) if line_end < 0 else line_end
            blocks.append((False, begun, end))
            begun, fence = end, ""
    blocks.append((not fence, begun, len(text)))
    return blocks


def _joined_lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Lines; one that was only wrapped (long, and the next begins with a small letter) goes on in the next."""
    lines: list[tuple[int, int]] = []
    for match in _LINE.finditer(text, start, end):
        if (
            lines
            and match.start() - lines[-1][1] == 1
            and text[match.start()].islower()
            and match.start() - lines[-1][0] > _SHORT_LINE
        ):
            lines[-1] = (lines[-1][0], match.end())
        else:
            lines.append(match.span())
    return lines


def _of_line(line: str, offset: int, spoken_at: datetime | None) -> list[Sentence]:
    masked = _QUOTED.sub(lambda quoted: COVER * len(quoted[0]), line) if _holds_quotes(line) else line
    whole = Sentence(line, offset, masked, spoken_at)
    bullet = _BULLET.match(masked)
    begun = bullet.end() if bullet else 0
    parts: list[Sentence] = []
    for match in _END.finditer(masked):
        if match.start() < begun or (match[0][0] == "." and _is_abbreviation(masked, begun, match)):
            continue
        parts.append(whole.part(begun, match.end()))
        begun = match.end()
    parts.append(whole.part(begun, len(line)))
    return [part for part in parts if any(character.isalnum() for character in part.text)]


def _is_abbreviation(line: str, begun: int, stop: re.Match[str]) -> bool:
    short = _ABBREVIATION.search(line, max(begun, stop.start() - 8), stop.start())
    # "etc." may stand at the end; what follows says so.
    return short is not None and not (short[0].lower() == "etc" and line[stop.end() : stop.end() + 2].strip().isupper())


def _holds_quotes(line: str) -> bool:
    return any(mark in line for mark in "\"'`“‘「『")
