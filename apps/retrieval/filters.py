"""Hard filters and what is said about a record that passed them (design/04 stages 4-6, Modes, Evidence labels).

A hard filter removes; it never lowers a score (RP-26, C1). Everything is decided at `as_of`, half-open: a record holds from
`valid_from` until just before `valid_to`. The words of a note depend on the moment of asking, the choice of records does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.retrieval.context import Warned
from apps.retrieval.vocabulary import Applicability, EvidenceLabel, Lane, Mode, Reason, Section, WarningCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from apps.retrieval.context import Candidate, QueryContext

_GONE = {"withdrawn": Reason.WITHDRAWN, "archived": Reason.ARCHIVED}
# What rights decide is decided before any text is looked at.
WITHOUT_TEXT = frozenset({Reason.OUT_OF_SCOPE_PROJECT, Reason.REVOKED, Reason.POLICY_RESTRICTED, Reason.CONTROL_PLANE})
_STRUCTURED = frozenset({Lane.EXACT, Lane.NAMED})


def hard_filter(context: QueryContext, candidate: Candidate) -> Reason | None:
    """Why the record may not be in this answer at all; None when it may.

    Rights come first, so that a reason never tells more than the caller may know about a record.
    """
    return (
        _forbidden(context, candidate)
        or _left_out_by_state(context, candidate)
        or (Reason.TYPE_NOT_REQUESTED if context.types and candidate.memory_type not in context.types else None)
        or _outside_its_time(context, candidate)
    )


def _forbidden(context: QueryContext, candidate: Candidate) -> Reason | None:
    if candidate.namespace_id not in context.namespaces:
        return Reason.OUT_OF_SCOPE_PROJECT
    if candidate.state == "revoked":
        return Reason.REVOKED
    if not candidate.permitted:
        return Reason.POLICY_RESTRICTED
    if candidate.control_plane:
        return Reason.CONTROL_PLANE
    if candidate.retrieval_policy == "never":
        return Reason.POLICY_NEVER
    return None if candidate.labels_valid else Reason.LABEL_INVALID


def _left_out_by_state(context: QueryContext, candidate: Candidate) -> Reason | None:
    if candidate.state == "pending_review":
        return Reason.PENDING_REVIEW
    if context.mode is Mode.HISTORY:
        return None
    if candidate.state in _GONE:
        return _GONE[candidate.state]
    # Superseded without a date never counts as current; with one, only from then on (a change may be planned).
    if candidate.successor is not None:
        return None  # here as a predecessor; it stands or falls with its successor
    undated = candidate.state == "superseded" and candidate.superseded_at is None and candidate.valid_to is None
    return Reason.SUPERSEDED if undated else None


def _outside_its_time(context: QueryContext, candidate: Candidate) -> Reason | None:
    if candidate.valid_from is not None and context.as_of < candidate.valid_from:
        return Reason.NOT_YET_VALID
    if candidate.successor is not None:
        return None
    if candidate.superseded_at is not None and context.as_of >= candidate.superseded_at:
        return Reason.SUPERSEDED
    if candidate.valid_to is not None and context.as_of >= candidate.valid_to:
        return Reason.SUPERSEDED if candidate.superseded_by else Reason.EXPIRED
    return None


def unfit(context: QueryContext, applicability: Applicability) -> Reason | None:
    """Why a class of applicability keeps a record out in this mode (AP-04, AP-07, C13); None when it may be given.

    Re-validation asks for exactly what cannot be confirmed, history for what was held: there only a contradiction excludes.
    """
    if applicability is Applicability.INCOMPATIBLE:
        return Reason.ENVIRONMENT_INCOMPATIBLE
    if context.mode is not Mode.CURRENT:
        return None
    if applicability is Applicability.NEEDS_REVALIDATION:
        return Reason.NEEDS_REVALIDATION
    return Reason.APPLICABILITY_UNKNOWN if applicability is Applicability.UNKNOWN else None


def needs_revalidation(candidate: Candidate) -> bool:
    """Its evidence is gone or somebody has to look at it again (LN-12, AP-03)."""
    return candidate.state == "needs_review" or not candidate.evidence_available


def is_past(context: QueryContext, candidate: Candidate) -> bool:
    """No longer current: in history mode by the moment of asking, otherwise only as the predecessor of a decision.

    In current mode `as_of` is the present, and what comes after it is not known yet.
    """
    if candidate.successor is not None:
        return True
    if context.mode is not Mode.HISTORY:
        return False
    ends = [end for end in (candidate.valid_to, candidate.superseded_at) if end is not None]
    return (
        candidate.state in _GONE or any(end <= context.asked_at for end in ends) or (candidate.state == "superseded" and not ends)
    )


def section_of(context: QueryContext, candidate: Candidate, applicability: Applicability, *, disputed: bool = False) -> Section:
    """Where the record stands (RP-16, RP-21, RP-22). Only what is settled, current and confirmed is called supported.

    `disputed`: another record beside it denies it, so neither may stand as supported (PK-07).
    """
    if is_past(context, candidate):
        return Section.HISTORY
    if disputed or candidate.conflict_id is not None:
        return Section.CONFLICT
    if candidate.verdict == "refuted":
        return Section.EXCLUDED_PATH
    if candidate.memory_type == "constraint":
        return Section.CONSTRAINT
    unsettled = candidate.verdict in {"contested", "provisional"}
    unconfirmed = applicability in {Applicability.NEEDS_REVALIDATION, Applicability.UNKNOWN}
    return Section.CONTESTED if unsettled or unconfirmed else Section.SUPPORTED


def checkpoint_passed(candidate: Candidate, as_of: datetime) -> bool:
    """The date to look again is over and nobody has confirmed the record since (TM-09). A hint; nothing follows from it."""
    due = candidate.expected_resolution_at
    if due is None or as_of <= due:
        return False
    confirmed = candidate.last_confirmed_at
    return confirmed is None or confirmed < due or confirmed > as_of


def evidence_labels(context: QueryContext, candidate: Candidate, *, disputed: bool = False) -> tuple[EvidenceLabel, ...]:
    """What the record rests on (RK-40..44); how it was worded in the question adds nothing (RK-33)."""
    sourced = bool(candidate.source_refs) or candidate.authority == "git"
    structured = bool(
        _STRUCTURED & candidate.recall.lanes.keys()
        or candidate.topics.intersection(context.topics)
        or candidate.entities.intersection(context.entities)
        or candidate.memory_type in {"decision", "state"}
    )
    labels = [
        (EvidenceLabel.PROVENANCE_SUPPORTED, sourced),
        (EvidenceLabel.STRUCTURED_CONTEXT, structured),
        (EvidenceLabel.LEXICAL_ONLY, not sourced and not structured),
        (EvidenceLabel.CHECKPOINT_PASSED, checkpoint_passed(candidate, context.as_of)),
        (EvidenceLabel.CONFLICTING_OR_SUPERSEDED, disputed or candidate.conflict_id is not None or is_past(context, candidate)),
    ]
    return tuple(label for label, holds in labels if holds)


def historical_note(context: QueryContext, candidate: Candidate) -> str | None:
    """One fixed sentence with dates and ids for what is not current; in history mode also for what still is (RP-27, SP-03)."""
    if candidate.successor is not None:
        return f"Earlier decision, replaced by {_successor(candidate)}{_since(candidate.superseded_at or candidate.valid_to)}."
    if context.mode is not Mode.HISTORY:
        return None
    held = f"Held at {_instant(context.as_of)}"
    if candidate.superseded_at is not None and candidate.superseded_at <= context.asked_at:
        return f"{held}; replaced by {_successor(candidate)}{_since(candidate.superseded_at)}."
    if candidate.valid_to is not None and candidate.valid_to <= context.asked_at:
        return f"{held}; ended at {_instant(candidate.valid_to)}."
    if candidate.state in _GONE:
        return f"{held}; {candidate.state} since."
    return f"{held}; still current."


def _successor(candidate: Candidate) -> str:
    if candidate.superseded_by:
        return candidate.superseded_by
    return candidate.successor[0] if candidate.successor else "a later version"


def _since(moment: datetime | None) -> str:
    return f" from {_instant(moment)}" if moment is not None else ""


def _instant(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def item_hints(context: QueryContext, candidate: Candidate, applicability: Applicability) -> Iterator[Warned]:
    """Warnings that a record in the packet carries."""
    memory_id = candidate.public_id
    if checkpoint_passed(candidate, context.as_of) and candidate.expected_resolution_at is not None:
        due = _instant(candidate.expected_resolution_at)
        yield Warned(
            code=WarningCode.CHECKPOINT_PASSED,
            detail=f"Expected to be settled by {due}; nobody has confirmed it since.",
            memory_id=memory_id,
        )
    if not candidate.evidence_available:
        yield Warned(
            code=WarningCode.EVIDENCE_UNAVAILABLE,
            detail="Its evidence cannot be read any more; that does not make it wrong.",
            memory_id=memory_id,
        )
    if applicability in {Applicability.NEEDS_REVALIDATION, Applicability.UNKNOWN}:
        yield Warned(
            code=WarningCode.NEEDS_REVALIDATION,
            detail="Whether it applies now could not be confirmed.",
            memory_id=memory_id,
        )
    if is_past(context, candidate) and candidate.successor is None:
        yield Warned(
            code=WarningCode.HISTORICAL_RESULT,
            detail=f"Shown as it held at {_instant(context.as_of)}; it is not current.",
            memory_id=memory_id,
        )


def interval_hint(candidate: Candidate) -> Warned | None:
    """A record whose start and end are the same instant is never current; the caller is told once (C2)."""
    if candidate.valid_from is None or candidate.valid_from != candidate.valid_to:
        return None
    return Warned(
        code=WarningCode.EMPTY_VALIDITY_INTERVAL,
        detail="Its validity begins and ends at the same instant; it is never current.",
        memory_id=candidate.public_id,
    )
