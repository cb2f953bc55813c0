"""``make check``: every text of the console has a translation, and the compiled catalogues are those of the sources.

Needs no gettext tools; ``python -m tests.messages`` brings the catalogues up to date and compiles them.
"""

from __future__ import annotations

import ast
import gettext
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PLACEHOLDER = re.compile(r"%\(\w+\)s|%[sd]|\{\w*\}")
LOCALE = Path(__file__).resolve().parent.parent / "locale"


@dataclass(slots=True)
class Entry:
    """One message of a .po file; plural forms are kept in order."""

    line: int
    fuzzy: bool = False
    context: str = ""
    source: str = ""
    plural: str = ""
    translations: tuple[str, ...] = ()

    def add(self, field: str, piece: str) -> None:
        """A message is written in pieces, one a line."""
        if field == "msgid":
            self.source += piece
        elif field == "msgid_plural":
            self.plural += piece
        elif field == "msgctxt":
            self.context += piece
        elif field.startswith("msgstr"):
            self.translations = (*self.translations[:-1], self.translations[-1] + piece)


def entries(text: str) -> Iterator[Entry]:
    """The messages of a .po file without its head."""
    for number, block in _blocks(text):
        entry = Entry(number)
        field = ""
        for line in block:
            if line.startswith("#"):
                entry.fuzzy |= line.startswith("#,") and "fuzzy" in line
                continue
            keyword, _, quoted = line.partition(" ") if line.startswith("msg") else ("", "", line)
            field = keyword or field
            if keyword.startswith("msgstr"):
                entry.translations += ("",)
            entry.add(field, ast.literal_eval(quoted))
        if entry.source:
            yield entry


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.strip() and not line.startswith("#~"):
            block.append(line.strip())
        elif block:
            yield number - len(block), block
            block = []


def problems(source: Path) -> Iterator[str]:
    """What is wrong with one .po file and the .mo file beside it."""
    compiled = source.with_suffix(".mo")
    if not compiled.exists():
        yield f"{compiled} is missing: run python -m tests.messages"
        return
    with compiled.open("rb") as file:
        catalogue = gettext.GNUTranslations(file)
    for entry in entries(source.read_text(encoding="utf-8")):
        where = f"{source}:{entry.line}"
        if entry.fuzzy or not all(entry.translations):
            yield f"{where}: no translation for {entry.source!r}"
            continue
        wanted = set(_PLACEHOLDER.findall(entry.source + entry.plural))
        if any(set(_PLACEHOLDER.findall(text)) != wanted for text in entry.translations):
            yield f"{where}: other placeholders than {entry.source!r}"
        known = catalogue.pgettext(entry.context, entry.source) if entry.context else catalogue.gettext(entry.source)
        if known not in entry.translations and len(entry.translations) == 1:
            yield f"{where}: the compiled catalogue differs for {entry.source!r}: run python -m tests.messages"


def unknown() -> Iterator[str]:
    """Texts of the sources that the catalogue does not have, and texts of the catalogue that no source has."""
    from tests.messages import CATALOGUE, messages

    wanted = {message.source: place for message, place in messages().items()}
    known = {entry.source for entry in entries(CATALOGUE.read_text(encoding="utf-8"))}
    for source in sorted(set(wanted) - known):
        yield f"{wanted[source]}: {source!r} is not in the catalogue: run python -m tests.messages"
    for source in sorted(known - set(wanted)):
        yield f"{CATALOGUE}: nothing says {source!r} any more: run python -m tests.messages"


def main() -> int:
    found = [*unknown(), *(problem for source in sorted(LOCALE.rglob("*.po")) for problem in problems(source))]
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
