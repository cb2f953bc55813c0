"""Nouns of floor 7."""

from apps.retrieval.models.index import IndexState, Posting, TermStat
from apps.retrieval.models.semantic import Vector
from apps.retrieval.models.traces import RetrievalTrace, TraceAdoption, TraceCandidate

__all__ = ["IndexState", "Posting", "RetrievalTrace", "TermStat", "TraceAdoption", "TraceCandidate", "Vector"]
