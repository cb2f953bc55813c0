"""Nouns of floor 6."""

from apps.memories.models.candidates import Candidate
from apps.memories.models.conflicts import ConflictSet
from apps.memories.models.labels import Label
from apps.memories.models.links import EvidenceLink, Relation
from apps.memories.models.memories import Memory, MemoryVersion
from apps.memories.models.reviews import OPEN, ReviewKind, ReviewPolicy, ReviewRequest, ReviewVote
from apps.memories.models.vocabulary import (
    Authority,
    Decision,
    EpistemicStatus,
    MemoryType,
    RetrievalPolicy,
    Verdict,
)

__all__ = [
    "OPEN",
    "Authority",
    "Candidate",
    "ConflictSet",
    "Decision",
    "EpistemicStatus",
    "EvidenceLink",
    "Label",
    "Memory",
    "MemoryType",
    "MemoryVersion",
    "Relation",
    "RetrievalPolicy",
    "ReviewKind",
    "ReviewPolicy",
    "ReviewRequest",
    "ReviewVote",
    "Verdict",
]
