"""What the words of all state machines mean to somebody looking at a list: fine, under way, waiting for a person, wrong, over."""

from __future__ import annotations

from enum import StrEnum


class Tone(StrEnum):
    """Names the icon and the colour; the word beside them is the state's own."""

    GOOD = "good"
    MOVING = "moving"
    WAITING = "waiting"
    WRONG = "wrong"
    OVER = "over"


_TONES: dict[Tone, tuple[str, ...]] = {
    Tone.GOOD: (
        "active",
        "committed",
        "completed",
        "done",
        "ok",
        "cleared",
        "resolved",
        "available",
        "yes",
        "supported",
        "packed",
        "answered",
        "RETRIEVE",
        "ADD",
        "SUPERSEDE",
        "INSERT_HISTORY",
        "ATTACH_EVIDENCE",
        "REVISE",
        "CONFIRM",
    ),
    Tone.MOVING: ("accepted", "received", "queued", "running", "pending", "retry_wait", "provisional", "inferred"),
    Tone.WAITING: (
        "pending_review",
        "needs_review",
        "open",
        "conflict",
        "CONFLICT",
        "blocked",
        "blocked_by_retention",
        "contested",
    ),
    Tone.WRONG: (
        "dead",
        "failed",
        "failed_requires_action",
        "rejected",
        "REJECT",
        "refused",
        "refuted",
        "suspended",
        "revoked",
        "unavailable",
    ),
}
_BY_WORD = {word: tone for tone, listed in _TONES.items() for word in listed}


def tone_of(state: str) -> Tone:
    """The tone of a state; what is not listed is over: superseded, withdrawn, archived, erased, discarded."""
    return _BY_WORD.get(state, Tone.OVER)
