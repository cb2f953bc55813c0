"""Extractors by name, and which of them this deployment has chosen.

`rules` is always there, `openai_compatible` when the operator has named it; others are added by the app that brings them, when it
starts. A deployment chooses by the setting EXTRACTORS: the first one reads every event, the others as well where they may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.memories.extractors.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.memories.extractors.base import Extractor

_REGISTRY: dict[str, Extractor] = {}
_CHOSEN: list[str] = [RULES.name]


def register(extractor: Extractor) -> None:
    """Make an extractor available under its name. A second one with the same name is a mistake: ValueError."""
    if extractor.name in _REGISTRY:
        msg = f"There is an extractor named {extractor.name} already."
        raise ValueError(msg)
    _REGISTRY[extractor.name] = extractor


def get(name: str) -> Extractor:
    """The extractor of that name; KeyError if there is none."""
    return _REGISTRY[name]


def choose(names: Sequence[str]) -> None:
    """Let these read new events, in this order; without a name it is the rules. The system checks refuse unknown ones."""
    _CHOSEN[:] = list(dict.fromkeys(names)) or [RULES.name]


def chosen() -> tuple[Extractor, ...]:
    """The extractors that read new events, the first one first; a name that nobody registered is left out."""
    return tuple(_REGISTRY[name] for name in _CHOSEN if name in _REGISTRY) or (RULES,)


def versions() -> dict[str, str]:
    """Name → version of every registered extractor, sorted by name."""
    return {name: _REGISTRY[name].version for name in sorted(_REGISTRY)}


def origin(extractor: Extractor) -> str:
    """How a candidate names where it comes from: `rules@1`."""
    return f"{extractor.name}@{extractor.version}"


register(RULES)
