"""Light English stemming and function words (design/04 lexical).

The first steps of Porter's algorithm only: plural and verb endings, and the silent e that they hide. Derivational endings stay
(-ation, -ful, -ness), so that words of different meaning do not meet: "memo" is not "memory", "rus" not "rust". A short table
holds the commonest irregular forms, which no rule of endings reaches.
"""

from __future__ import annotations

import re
from functools import lru_cache


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as text."""
    return frozenset(text.split())


# Words that carry grammar and no subject. They are neither indexed nor searched, and no phrase begins or ends with one.
# "may" is left out: it is also a month. "use" is in: it stands in half of all notes about tools and tells none of them apart.
FUNCTION_WORDS = words(
    """
    a about above after again against all also am an and any are as at be because been before being below between both but
    by can could did do does doing done down during each else ever every few for from further get gets getting got had has
    have having he hello her here hers herself hey hi him himself his how however i if in into is it its itself just let
    lets maybe me might more most much must my myself no nor not now of off oh ok okay on once only onto or other others
    ought our ours ourselves out over own per perhaps please quite rather really same shall she should since so some such
    than that the their theirs them themselves then there these they this those though through thus to too toward towards
    under until up upon us use used uses using very was we were what whatever when whenever where wherever whether which
    while who whoever whom whose why will with within without would yes yet you your yours yourself yourselves
    """
)

IRREGULAR = {
    form: base
    for base, forms in {
        "become": "became",
        "begin": "began begun",
        "break": "broke broken",
        "bring": "brought",
        "build": "built",
        "buy": "bought",
        "catch": "caught",
        "child": "children",
        "choose": "chose chosen",
        "come": "came",
        "die": "dying",
        "draw": "drew drawn",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "feel": "felt",
        "fight": "fought",
        "find": "found",
        "fly": "flew flown",
        "forget": "forgot forgotten",
        "give": "gave given",
        "go": "went gone goes",
        "grow": "grew grown",
        "hear": "heard",
        "hold": "held",
        "keep": "kept",
        "know": "knew known",
        "leave": "left",
        "lose": "lost",
        "make": "made",
        "man": "men",
        "mean": "meant",
        "meet": "met",
        "mouse": "mice",
        "pay": "paid",
        "person": "people",
        "ride": "rode ridden",
        "run": "ran",
        "say": "said",
        "see": "saw seen",
        "sell": "sold",
        "send": "sent",
        "sing": "sang sung",
        "sit": "sat",
        "sleep": "slept",
        "speak": "spoke spoken",
        "spend": "spent",
        "swim": "swam swum",
        "take": "took taken",
        "teach": "taught",
        "tell": "told",
        "think": "thought",
        "throw": "threw thrown",
        "tooth": "teeth",
        "understand": "understood",
        "wear": "wore worn",
        "win": "won",
        "woman": "women",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}

_VOWEL = re.compile("[aeiouy]")
_SHORT = re.compile("[^aeiou][aeiouy][^aeiouwxy]$")
_MEASURE = re.compile("[aeiouy]+[^aeiouy]+")
_SHORTEST = 4
_LONGEST = 40  # no English word is longer; what is longer is an identifier and stays as it is


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """The index form of one lower-case Latin word; equal to the word where no rule applies."""
    if word in IRREGULAR:
        word = IRREGULAR[word]
    if not _SHORTEST <= len(word) <= _LONGEST or not word.isascii() or not word.isalpha():
        return word
    return _final_e(_final_y(_verb_ending(_plural(word))))


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + ("y" if len(word) > _SHORTEST else "ie")
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _verb_ending(word: str) -> str:
    if word.endswith("eed"):
        return word
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) > 1 and _VOWEL.search(base):
            return _restored(base)
    return word


def _restored(base: str) -> str:
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if base[-1] == base[-2] and base[-1] not in "lsz":
        return base[:-1]
    if len(_MEASURE.findall(base)) == 1 and _SHORT.search(base):
        return base + "e"
    return base


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _VOWEL.search(word[:-1]) else word


def _final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    base = word[:-1]
    measure = len(_MEASURE.findall(base))
    return base if measure > 1 or (measure == 1 and not _SHORT.search(base)) else word
