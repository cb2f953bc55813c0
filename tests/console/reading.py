"""Reading pages as a browser would: what they load, what they would run, where they lead."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

_HANDLER = re.compile(r"on[a-z]+")


@dataclass
class Page:
    """What a page refers to, and everything in it that a strict policy would refuse."""

    links: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        for name, value in attrs:
            if (
                name == "style"
                or _HANDLER.fullmatch(name)
                or (value or "").strip().lower().startswith(("javascript:", "data:text"))
            ):
                self.page.refused.append(f"<{tag} {name}={value!r}>")
        if tag == "style" or (tag == "script" and not found.get("src")):
            self.page.refused.append(f"<{tag}>")
        if tag in ("iframe", "object", "embed", "base"):
            self.page.refused.append(f"<{tag}>")
        for name in ("src", "href", "action", "formaction", "poster", "srcset"):
            value = found.get(name)
            if value is None:
                continue
            if re.match(r"([a-z]+:)?//", value):
                self.page.refused.append(f"<{tag} {name}={value!r}> leads elsewhere")
            elif name == "action":
                self.page.forms.append(value)
            elif tag in ("a", "area"):
                self.page.links.append(value)
            elif not value.startswith("#"):
                self.page.assets.append(value)


def read(text: str) -> Page:
    reader = _Reader()
    reader.feed(text)
    return reader.page


def words(text: str) -> str:
    """The text of a page without its tags, in one line."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))
