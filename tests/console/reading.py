"""Reading pages as a browser would: what they load, what they would run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

_HANDLER = re.compile(r"on[a-z]+")
_ELSEWHERE = re.compile(r"([a-z]+:)?//")
_ADDRESSES = {"src", "href", "action", "formaction", "poster", "srcset"}
_REFUSED = {"style", "iframe", "object", "embed", "base"}


@dataclass
class Page:
    """What a page loads, and everything in it that a strict policy would refuse."""

    assets: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: (value or "").strip() for name, value in attrs}
        self.page.refused += [f"<{tag} {name}={value!r}>" for name, value in found.items() if _would_run(name, value)]
        if tag in _REFUSED or (tag == "script" and not found.get("src")):
            self.page.refused.append(f"<{tag}>")
        for name in _ADDRESSES & found.keys():
            if _ELSEWHERE.match(found[name]):
                self.page.refused.append(f"<{tag} {name}={found[name]!r}> leads elsewhere")
            elif name != "action" and tag not in {"a", "area"} and not found[name].startswith("#"):
                self.page.assets.append(found[name])


def _would_run(name: str, value: str) -> bool:
    return name == "style" or _HANDLER.fullmatch(name) is not None or value.lower().startswith(("javascript:", "data:text"))


def read(text: str) -> Page:
    reader = _Reader()
    reader.feed(text)
    return reader.page


def words(text: str) -> str:
    """The text of a page without its tags, in one line."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))
