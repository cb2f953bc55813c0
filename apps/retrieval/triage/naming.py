"""Every way in which a text may spell a label or a key: runs of whole words, and runs of characters where there are no spaces."""

from __future__ import annotations

import re
from typing import Final

from apps.core.text import fold_key
from apps.retrieval.scripts import HAN
from apps.retrieval.triage.reading import LOOKED_AT

WORDS: Final = 4  # of a name
CHARACTERS: Final = 8
MOST: Final = 600
_WORD = re.compile(r"[^\W_]+(?:[._'-][^\W_]+)*|_+")
_HAN_RUN = re.compile(f"[{HAN}]+")
_JOINS = ("_", "-", ".", "")


def spellings(text: str) -> dict[str, str]:
    """Folded spelling → the words of the text. At most MOST of them; what comes later in a long text is not looked at."""
    found: dict[str, str] = {}
    folded = fold_key(text[:LOOKED_AT])
    for run in _HAN_RUN.findall(folded):
        for length in range(2, CHARACTERS + 1):
            for start in range(len(run) - length + 1):
                found.setdefault(run[start : start + length], run[start : start + length])
    words = list(_WORD.finditer(folded))
    for place, first in enumerate(words):
        for last in words[place : place + WORDS]:
            span = folded[first.start() : last.end()]
            if len(span) > 1:
                found.setdefault(span, span)
                for join in _JOINS if last is not first else ():
                    found.setdefault(join.join(one.group() for one in words[place : words.index(last) + 1]), span)
    return dict(list(found.items())[:MOST])
