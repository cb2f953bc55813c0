"""Fact keys: relation and subject, stable, the same in every language where the concept is known (CA-26, C29).

`progress.chapter` and `assistant.reply_language` name concepts. For open sentences the subject is spelled from its own
words; where a spelling had to drop something, a short hash of all words keeps different statements apart.
"""

from __future__ import annotations

import re

from apps.core.canonical import proposition, sha256_hex
from apps.core.text import fold_key

LONGEST_SUBJECT = 60
_LONGEST_KEY = 200
_HASH = 8

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_IDLE = frozenset(
    (
        *(
            "a",
            "an",
            "the",
            "my",
            "our",
            "your",
            "his",
            "her",
            "their",
            "this",
            "that",
            "these",
            "those",
            "some",
            "any",
            "please",
        ),
        *("really", "very", "just", "also", "to", "of", "的", "了", "一个", "一些", "我的", "我们的"),
    )
)
_SPELLED_SIGNS = {"c++": "cpp", "c#": "csharp", "f#": "fsharp", ".net": "dotnet", "node.js": "nodejs", "vue.js": "vuejs"}
_SIGNED = re.compile("|".join(rf"(?<![\w]){re.escape(sign)}(?![\w])" for sign in _SPELLED_SIGNS))
_SIGNIFICANT = re.compile(r"[^\w\s.,;:!?\"'’‘“”()，。；：！？、（）《》「」—–-]")


def slug(text: str) -> str:
    """Words joined by hyphens, idle words left out; ends in a hash if it does not hold all that was said."""
    folded = fold_key(text)
    folded = _SIGNED.sub(lambda sign: _SPELLED_SIGNS[sign[0]], folded)
    words = spelled(folded)
    lost = _SIGNIFICANT.search(folded) is not None or not words
    if len(words) > LONGEST_SUBJECT:
        cut = words.rfind("-", 0, LONGEST_SUBJECT)
        words, lost = words[: cut if cut > 0 else LONGEST_SUBJECT], True
    return f"{words}-{digest(text)}".strip("-") if lost else words


def spelled(text: str) -> str:
    """The words that carry meaning, joined; empty if there are none."""
    words = [word for word in _WORD.findall(fold_key(text)) if word not in _IDLE]
    return "-".join(words).replace("’", "").replace("'", "")


def digest(text: str) -> str:
    """A short hash of the statement, the same for every way of spacing and capitalising it."""
    return sha256_hex(proposition(text))[:_HASH]


def fact_key(relation: str, subject: str) -> str:
    """`relation.subject` with the subject spelled as a slug."""
    return f"{relation}.{slug(subject)}"[:_LONGEST_KEY]


def statement_key(relation: str, subject: str) -> str:
    """For a subject that is a whole statement: always with a hash, since a few words of it may be those of another."""
    return f"{relation}.{slug(subject).removesuffix(f'-{digest(subject)}')}-{digest(subject)}"[:_LONGEST_KEY]
