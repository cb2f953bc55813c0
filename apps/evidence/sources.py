"""What follows from where something came from, and never from what it says (design/02 trust, LN-19)."""

from __future__ import annotations

from typing import Final

from apps.evidence.models import Evidence, SourceType, Trust

TRUST: Final[dict[str, Trust]] = {
    SourceType.USER_MESSAGE: Trust.SUBJECT,
    SourceType.ASSISTANT_MESSAGE: Trust.GENERATED,
    SourceType.TOOL_RESULT: Trust.TOOL,
    SourceType.WEB_PAGE: Trust.UNTRUSTED,
    SourceType.DOCUMENT: Trust.RECORD,
    SourceType.DECISION_LOG: Trust.RECORD,
    SourceType.IMPORT: Trust.RECORD,
    SourceType.SYSTEM: Trust.RECORD,
}

_FIDELITY: Final[dict[str, Evidence.Fidelity]] = {
    SourceType.USER_MESSAGE: Evidence.Fidelity.VISIBLE_TRANSCRIPT,
    SourceType.ASSISTANT_MESSAGE: Evidence.Fidelity.VISIBLE_TRANSCRIPT,
    SourceType.WEB_PAGE: Evidence.Fidelity.TRANSCRIPT_SNAPSHOT,
    SourceType.DOCUMENT: Evidence.Fidelity.TRANSCRIPT_SNAPSHOT,
    SourceType.IMPORT: Evidence.Fidelity.TRANSCRIPT_SNAPSHOT,
    SourceType.DECISION_LOG: Evidence.Fidelity.HYBRID,
    SourceType.TOOL_RESULT: Evidence.Fidelity.HYBRID,
    SourceType.SYSTEM: Evidence.Fidelity.HYBRID,
}


def fidelity_of(source_type: str, *, derived: bool) -> Evidence.Fidelity:
    """How close an event is to what was really said; whatever was made from another event is a summary, not the original."""
    return Evidence.Fidelity.SUMMARY if derived else _FIDELITY[source_type]
