"""Names: what a memory is called, and whether a question calls it (design/04 lane `named`; RK-35, LB-02).

A memory is called by the last part of its fact key, by its aliases and by its labels. It is called when one of these stands in
the question whole and in order: words on their boundaries, inflected or not (the stems of the lexical lane), joined by any sign
or none. Han and hiragana have no boundaries to stand on, so two characters are the least there; Katakana is taken by the run,
and a Hangul name begins where a word begins.

One typing slip is forgiven in one Latin word of five or more letters: a letter too many, too few, wrong, or two of them
swapped, never among the first two, where another word is likelier than a slip, and only in a word that nobody in scope wrote.
Short codes, numbers and all other scripts are taken as they stand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from apps.retrieval.analysis import FUNCTION_PAIRS, PARTICLES
from apps.retrieval.scripts import HANGUL, KATAKANA, LATIN, MARKS, PAIRED, fold
from apps.retrieval.stemming import FUNCTION_WORDS, stem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

LONGEST = 24  # tokens of a name
SLIP_LETTERS = 5  # of a word in which a slip is forgiven
KEPT_LETTERS = 2  # at its beginning, which must be right
_SLIPPED_LETTERS = SLIP_LETTERS - 1  # of the same word with one letter missing
_SLIP_WORDS = 4  # a longer name is hardly typed from memory; it is taken as it stands
_TOKENS_LOOKED_AT = 600  # of a question
_SLIPS_LOOKED_AT = 12  # words of a question that may be slips

_TOKEN = re.compile(
    rf"(?P<latin>[{LATIN}]+(?:\+\+|\#)?)(?:['\u2019](?:s|t|re|ve|ll|d|m)(?![{LATIN}]))?"
    rf"|(?P<run>[{KATAKANA}]+)|(?P<pair>[{PAIRED}])|(?P<hangul>[{HANGUL}]+)|(?P<other>(?:[^\W_{PAIRED}{HANGUL}]|[{MARKS}])+)"
    rf"|(?P<stop>[\n。、…]|[.!?;:,](?=\s|$|[{PAIRED}{HANGUL}]))",
)
_WORD_BEGINS = "^"


@dataclass(frozen=True, slots=True)
class Token:
    """One word (or character) as written, and as it is compared."""

    raw: str
    form: str

    @property
    def forgiving(self) -> bool:
        """May a name hold this word and still be meant when it is typed with a slip?"""
        return len(self.raw) >= SLIP_LETTERS and self.raw.isascii() and self.raw.isalpha()

    @property
    def perhaps_a_slip(self) -> bool:
        """May this word of a question be such a slip?"""
        return len(self.raw) >= _SLIPPED_LETTERS and self.raw.isascii() and self.raw.isalpha() and self.raw not in FUNCTION_WORDS


Name = tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Called:
    """The words of a question, runs of neighbours apart, and which of them nobody in scope ever wrote."""

    runs: tuple[Name, ...] = ()
    unknown: frozenset[str] = frozenset()
    _forms: dict[int, frozenset[str]] = field(default_factory=dict, init=False, compare=False, repr=False)
    _slipped: dict[int, tuple[Name, ...]] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def words(self) -> int:
        """How many words the question has; two characters of an unspaced script are counted as one."""
        return -(-sum(2 if len(token.raw) > 1 or token.raw.isascii() else 1 for run in self.runs for token in run) // 2)

    def windows(self, length: int) -> Iterator[Name]:
        """Every stretch of so many neighbouring words."""
        for run in self.runs:
            for start in range(len(run) - length + 1):
                yield run[start : start + length]

    def holds(self, name: Name) -> bool:
        """Does the name stand in the question whole and in order?"""
        found = self._forms.get(len(name))
        if found is None:
            found = self._forms[len(name)] = frozenset(_spelled(window) for window in self.windows(len(name)))
        return _spelled(name) in found

    def nearly_holds(self, name: Name) -> bool:
        """Does it stand there with one slip?"""
        if not self.unknown or len(name) > _SLIP_WORDS or not any(token.forgiving for token in name):
            return False
        return any(_with_one_slip(name, window, self.unknown) for window in self._suspects(len(name)))

    def _suspects(self, length: int) -> tuple[Name, ...]:
        """The stretches that hold an unknown word: no other can be a name with a slip."""
        found = self._slipped.get(length)
        if found is None:
            suspects = (window for window in self.windows(length) if any(token.raw in self.unknown for token in window))
            found = self._slipped[length] = tuple(suspects)
        return found


def called(text: str) -> Called:
    """What a question may call memories by; nothing in it counts as unknown yet."""
    runs: list[list[Token]] = [[]]
    for number, token in enumerate(_tokens(fold(text))):
        if number >= _TOKENS_LOOKED_AT:
            break
        if token is None:
            runs.append([])
        else:
            runs[-1].append(token)
    return Called(tuple(tuple(run) for run in runs if run))


def slips(query: Called) -> dict[str, str]:
    """The words of a question that may be slips, as written, with the term under which the index knows them."""
    found = {token.raw: token.form for run in query.runs for token in run if token.perhaps_a_slip}
    return dict(list(found.items())[:_SLIPS_LOOKED_AT])


def names_of(fact_key: str | None, aliases: Iterable[str]) -> tuple[Name, ...]:
    """The names of a memory; what is too slight to call anything by is left out."""
    return names_in(((fact_key or "").rpartition(".")[2], *aliases))


def names_in(texts: Iterable[str]) -> tuple[Name, ...]:
    """Each of these texts as a name."""
    return tuple(dict.fromkeys(name for text in texts if (name := _name(text))))


def labels_in(query: Called, spellings: Mapping[str, str]) -> tuple[str, ...]:
    """The labels of which a spelling stands in the question; ``spellings`` maps each to its canonical key."""
    return tuple(dict.fromkeys(key for text, key in spellings.items() if (name := _name(text)) and query.holds(name)))


def strength(query: Called, names: Iterable[Name]) -> int:
    """How well the question calls one of these names: 0 not at all, then with a slip, then whole; more words count more."""
    best = 0
    for name in names:
        if query.holds(name):
            best = max(best, _WHOLE + len(name))
        elif best < _WHOLE and query.nearly_holds(name):
            best = max(best, len(name))
    return best


def index_keys(names: Iterable[Name]) -> set[str]:
    """What a memory of these names is found under: each name, and what it shares with itself typed with a slip."""
    found: set[str] = set()
    for name in names:
        found.add(_key(_EXACT, _spelled(name)))
        if len(name) <= _SLIP_WORDS:
            found |= {_key(_SLIP, text) for place, token in enumerate(name) if token.forgiving for text in _slipped(name, place)}
    return found


def name_key(name: Name) -> str:
    """What a memory of this name is found under when the name is typed as it stands."""
    return _key(_EXACT, _spelled(name))


def label_key(kind: str, label: str) -> str:
    """What memories with a label are found under."""
    return _key(_LABEL, f"{kind} {label}")


def question_keys(query: Called, lengths: int) -> set[str]:
    """What the question looks up: stretches of its words as long as names in scope are, those with an unknown word also as slips.

    `lengths` has bit n set where a name of n words may be.
    """
    found: set[str] = set()
    for length in range(1, LONGEST + 1):
        if not lengths >> length & 1:
            continue
        for window in query.windows(length):
            found.add(_key(_EXACT, _spelled(window)))
            if length <= _SLIP_WORDS:
                found |= {
                    _key(_SLIP, text)
                    for place, token in enumerate(window)
                    if token.raw in query.unknown
                    for text in _slipped(window, place)
                }
    return found


def lengths_of(names: Iterable[Name], *, labelled: bool) -> int:
    """Bits for `question_keys`; the first says that there are labels, whatever their length."""
    bits = int(labelled)
    for name in names:
        bits |= 1 << len(name)
    return bits


def within_one_slip(word: str, typed: str) -> bool:
    """Is `typed` the word with one letter added, left out, replaced, or two neighbours swapped, after its first two?"""
    if word[:KEPT_LETTERS] != typed[:KEPT_LETTERS] or abs(len(word) - len(typed)) > 1:
        return False
    start = next((place for place, (one, other) in enumerate(zip(word, typed, strict=False)) if one != other), None)
    if start is None:
        return True
    rest, other = word[start:], typed[start:]
    if len(rest) == len(other):
        return rest[1:] == other[1:] or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
    return rest[1:] == other or rest == other[1:]


_WHOLE = 1_000
_EXACT, _SLIP, _LABEL = "=", "~", "#"


def _key(kind: str, text: str) -> str:
    return f"{kind}{text}"


def _spelled(name: Sequence[Token]) -> str:
    return " ".join([token.form for token in name])


def _slipped(name: Name, place: int) -> set[str]:
    """Spellings that the name shares with itself typed with a slip in the word at this place.

    Among other words its first letters are telling enough; a word that stands alone needs the forms with a later letter left out,
    of which one slip leaves at least one the same.
    """
    raw = name[place].raw
    if len(name) == 1:
        return {raw, *(raw[:at] + raw[at + 1 :] for at in range(KEPT_LETTERS, len(raw)))}
    before, after = ([token.form for token in part] for part in (name[:place], name[place + 1 :]))
    return {" ".join((*before, f"{_SLIP}{raw[:KEPT_LETTERS]}", *after))}


def _with_one_slip(name: Name, window: Name, unknown: Collection[str]) -> bool:
    differing = [place for place, token in enumerate(name) if token.form != window[place].form]
    if len(differing) != 1:
        return False
    token, typed = name[differing[0]], window[differing[0]]
    return token.forgiving and typed.raw in unknown and within_one_slip(token.raw, typed.raw)


@lru_cache(maxsize=8192)
def _name(text: str) -> Name:
    """The words of a name; empty where it is too slight, too long, or only words of grammar."""
    name = tuple(token for token in _tokens(fold(text)) if token is not None)
    letters = sum(len(token.raw) for token in name)
    if letters < _LEAST_LETTERS or len(name) > LONGEST or all(_says_nothing(token.raw) for token in name):
        return ()
    return name if "".join(token.raw for token in name) not in FUNCTION_PAIRS else ()


_LEAST_LETTERS = 2


def _says_nothing(word: str) -> bool:
    return word in FUNCTION_WORDS or word in PARTICLES


def _tokens(folded: str) -> Iterator[Token | None]:
    """Words in order; None where the neighbourhood ends."""
    for match in _TOKEN.finditer(folded):
        kind, text = match.lastgroup, match.group(match.lastgroup or 0)
        if kind == "stop":
            yield None
        elif kind == "latin":
            yield Token(text, stem(text) if text.isalpha() else text)
        elif kind == "hangul":
            for place, character in enumerate(text):
                yield Token(character, character if place else _WORD_BEGINS + character)
        else:
            yield Token(text, text)
