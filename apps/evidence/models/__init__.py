"""Nouns of floor 5."""

from apps.evidence.models.content import Content
from apps.evidence.models.events import Derivation, SourceEvent, SourceType, Trust
from apps.evidence.models.evidence import Evidence

__all__ = ["Content", "Derivation", "Evidence", "SourceEvent", "SourceType", "Trust"]
