"""Reading a rendered packet back, as a careful host would: the inverse of apps.retrieval.rendering."""

from __future__ import annotations

import re

_ENTRY = re.compile(r"- \[(mem_\w+) \| (\w+) \| (\w+)\]")
_CLAIM = re.compile(r"  (?:Claim|Path|Constraint): (.*)", re.DOTALL)
_SLOT = re.compile(r"\[(mem_\w+) ([^\[\]|]*) source=([^\[\]| ]*)\] (.*)", re.DOTALL)
_CONTINUED, _REMARK = "  | ", "  * "
_QUOTED_TAG = re.compile(r"\\<(?=\s*/?\s*quoted-memory)", re.IGNORECASE)


def read_back(text: str) -> list[tuple[str, str]]:
    """Id and content of every item, in the order of the text; raises AssertionError for anything that is no packet."""
    if not text:
        return []
    opening, *lines, closing = text.split("\n")
    assert (opening, closing) == ("<quoted-memory>", "</quoted-memory>")
    logical: list[str] = []
    for line in lines:
        if line.startswith(_CONTINUED):
            logical[-1] += "\n" + line.removeprefix(_CONTINUED)
        else:
            logical.append(line)
    found: list[tuple[str, str]] = []
    waiting = ""
    for line in logical:
        if entry := _ENTRY.fullmatch(line):
            assert not waiting
            waiting = entry[1]
        elif waiting and (claim := _CLAIM.fullmatch(line)):
            found.append((waiting, _unquoted(claim[1])))
            waiting = ""
        elif slot := _SLOT.fullmatch(line):
            found.append((slot[1], _unquoted(slot[4])))
        else:
            assert line.startswith(("## ", "### ", "  ", _REMARK)), line
    assert not waiting
    return found


def _unquoted(text: str) -> str:
    return _QUOTED_TAG.sub("<", text)
