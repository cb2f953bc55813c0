"""Other extractors for the time of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from apps.evidence import registries
from apps.memories import extractors
from apps.memories.outside import recipe
from apps.memories.rests import RESTS


@contextmanager
def reading_with(*readers: Any) -> Iterator[None]:
    """These read new events, in this order, as if a deployment had chosen them."""
    known, chosen = dict(extractors._REGISTRY), list(extractors._CHOSEN)
    extractors._REGISTRY.update({reader.name: reader for reader in readers})
    extractors.choose([reader.name for reader in readers])
    try:
        with registries.replaced(extraction=recipe(readers[0])):
            yield
    finally:
        extractors._REGISTRY.clear()
        extractors._REGISTRY.update(known)
        extractors.choose(chosen)
        for reader in readers:
            RESTS.end(reader.name)
