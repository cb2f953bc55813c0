"""Admission: the seven checks that a proposal passes before it is compared with anything (design/03 step 3, CA-01..08).

Pure: what the server knows beyond the words comes in as :class:`Known`. The checks run in their fixed order and the first
refusal ends them; a check that only wants somebody to look keeps the proposal waiting, and a later refusal still wins over it.
Equivalent content, the seventh check, is the merge decision itself (consolidation.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from apps.core.text import hidden_characters
from apps.evidence.redaction import find_forbidden
from apps.memories.models.vocabulary import Authority, EpistemicStatus, MemoryType, Verdict
from apps.memories.reasons import Reason
from apps.tenants.models.namespaces import Scope

if TYPE_CHECKING:
    from apps.memories.proposals import Proposal

_MARKER = re.compile(r"\[redacted:[a-z_]+\]")  # what ingestion puts in the place of forbidden material


class Result(StrEnum):
    ADMITTED = "admitted"
    WAITS = "waits"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Known:
    """What the server knows about a proposal beyond its words.

    ``source_fault``: why its sources do not count (no_source, revoked, evidence_unavailable), or None. ``suppressed``: a deletion
    asked that this fact never come back. ``answered``: reasons for waiting to which a review has said yes.
    """

    scope: str
    may_write: bool
    has_source: bool
    source_fault: Reason | None = None
    suppressed: bool = False
    answered: frozenset[Reason] = frozenset()


@dataclass(frozen=True, slots=True)
class Admission:
    """The outcome of the checks, and the standing the record may claim."""

    result: Result
    reasons: tuple[Reason, ...]
    epistemic_status: EpistemicStatus
    verdict: Verdict | None
    forbidden: bool = False
    hidden: bool = False

    @property
    def keeps_text(self) -> bool:
        """Whether the text of the proposal may be stored with the candidate at all."""
        return not self.forbidden and Reason.REVOKED not in self.reasons


@dataclass(slots=True)
class _Notes:
    forbidden: bool
    hidden: bool
    refused: list[Reason] = field(default_factory=list)
    waits: list[Reason] = field(default_factory=list)


def admit(proposal: Proposal, known: Known) -> Admission:
    """Run the checks in order (CA-01). Raises nothing; the answer is always definite."""
    notes = _Notes(holds_forbidden(proposal), any(hidden_characters(text) for text in proposal.texts))
    for check in CHECKS:
        check(proposal, known, notes)
        if notes.refused:
            break
    notes.waits = [reason for reason in notes.waits if reason not in known.answered]
    epistemic_status, verdict, remarks = honest_standing(proposal)
    if notes.forbidden and Reason.FORBIDDEN_MATERIAL not in notes.refused:
        notes.refused.append(Reason.FORBIDDEN_MATERIAL)  # whatever came first, the text must not be kept
    if notes.refused:
        result, reasons = Result.REFUSED, notes.refused
    elif notes.waits:
        result, reasons = Result.WAITS, notes.waits
    else:
        result, reasons = Result.ADMITTED, remarks
    return Admission(result, tuple(reasons), epistemic_status, verdict, notes.forbidden, notes.hidden)


def _future_value(proposal: Proposal, known: Known, notes: _Notes) -> None:  # noqa: ARG001 - every check has one shape
    if Reason.TASK_SCOPED in proposal.marks:
        notes.refused.append(Reason.TASK_SCOPED)


def _traceable_source(proposal: Proposal, known: Known, notes: _Notes) -> None:
    # Only the subject's own explicit word stands without a source (CA-16, VH-04).
    own_word = proposal.epistemic_status is EpistemicStatus.EXPLICIT and known.scope == Scope.USER
    if known.source_fault is not None:
        if known.source_fault is not Reason.REVOKED:  # the barrier speaks later
            notes.refused.append(known.source_fault)
    elif not known.has_source and not own_word:
        notes.refused.append(Reason.NO_SOURCE)
    elif Reason.UNTRUSTED_INSTRUCTION in proposal.marks:
        notes.refused.append(Reason.UNTRUSTED_INSTRUCTION)


def _fact_or_inference(proposal: Proposal, known: Known, notes: _Notes) -> None:  # noqa: ARG001
    if Reason.NEEDS_EVIDENCE in proposal.marks:
        notes.waits.append(Reason.NEEDS_EVIDENCE)


def _authorised_scope(proposal: Proposal, known: Known, notes: _Notes) -> None:
    if not known.may_write:
        notes.waits.append(Reason.NOT_AUTHORISED)
    if known.scope == Scope.ORGANIZATION:
        notes.waits.append(Reason.ORGANIZATION_SCOPE)
    if proposal.authority is Authority.GIT:
        notes.waits.append(Reason.GIT_AUTHORITY)


def _storable(proposal: Proposal, known: Known, notes: _Notes) -> None:  # noqa: ARG001
    if Reason.FORBIDDEN_MATERIAL in proposal.marks or notes.forbidden:
        notes.refused.append(Reason.FORBIDDEN_MATERIAL)
    elif notes.hidden:
        notes.waits.append(Reason.HIDDEN_CHARACTERS)


def _no_barrier(proposal: Proposal, known: Known, notes: _Notes) -> None:  # noqa: ARG001
    if known.suppressed or known.source_fault is Reason.REVOKED:
        notes.refused.append(Reason.REVOKED)


CHECKS: tuple[Callable[[Proposal, Known, _Notes], None], ...] = (
    _future_value,
    _traceable_source,
    _fact_or_inference,
    _authorised_scope,
    _storable,
    _no_barrier,
)


def honest_standing(proposal: Proposal) -> tuple[EpistemicStatus, Verdict | None, list[Reason]]:
    """Epistemic status and verdict that the record may have (CA-04, CA-13, CA-15, VH-03).

    Validation comes from a review, never from a claim; an inference is at most provisional; a constraint has no verdict.
    """
    status, verdict, remarks = proposal.epistemic_status, proposal.verdict, []
    if status is EpistemicStatus.VALIDATED:
        status = EpistemicStatus.INFERRED
        remarks.append(Reason.VALIDATION_NOT_ACCEPTED)
    if status is EpistemicStatus.INFERRED and verdict is Verdict.SUPPORTED:
        verdict = Verdict.PROVISIONAL
        remarks.append(Reason.INFERENCE_NOT_SUPPORTED)
    if proposal.memory_type is MemoryType.CONSTRAINT:
        verdict = Verdict.NOT_APPLICABLE
    return status, verdict, remarks


def holds_forbidden(proposal: Proposal) -> bool:
    """Whether a text, key or condition of a proposal holds forbidden material, or the mark of some that was taken out."""
    return is_forbidden(*proposal.texts, proposal.fact_key, *condition_texts(proposal.conditions))


def is_forbidden(*texts: str) -> bool:
    """Whether one of the texts holds what may not be stored (EV-09, CA-06)."""
    return any(_MARKER.search(text) or find_forbidden(text) for text in texts)


def condition_texts(value: object) -> list[str]:
    """Every string inside conditions, each behind its name: a password may be known by its name alone."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [f"{name}: {found}" for name, inner in value.items() for found in condition_texts(inner)]
    if isinstance(value, (list, tuple)):
        return [found for inner in value for found in condition_texts(inner)]
    return []
