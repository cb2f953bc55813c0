"""Extractors by name. `rules` is always there; others are added by the app that brings them, when it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.memories.extractors.rules import RULES

if TYPE_CHECKING:
    from apps.memories.extractors.base import Extractor

_REGISTRY: dict[str, Extractor] = {}


def register(extractor: Extractor) -> None:
    """Make an extractor available under its name. A second one with the same name is a mistake: ValueError."""
    if extractor.name in _REGISTRY:
        msg = f"There is an extractor named {extractor.name} already."
        raise ValueError(msg)
    _REGISTRY[extractor.name] = extractor


def get(name: str) -> Extractor:
    """The extractor of that name; KeyError if there is none."""
    return _REGISTRY[name]


def versions() -> dict[str, str]:
    """Name → version of every registered extractor, sorted by name."""
    return {name: _REGISTRY[name].version for name in sorted(_REGISTRY)}


def origin(extractor: Extractor) -> str:
    """How a candidate names where it comes from: `rules@1`."""
    return f"{extractor.name}@{extractor.version}"


register(RULES)
