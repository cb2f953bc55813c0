"""What the closed vocabularies of candidates are called on pages: decisions, reasons, and the seven checks of admission."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from apps.memories.models import Decision
from apps.memories.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django_stubs_ext import StrOrPromise

# Decisions as what happened to the fact. (A version that replaced another one is not itself superseded.)
DECISIONS: list[tuple[str, StrOrPromise]] = [
    (Decision.ADD.value, _("added")),
    (Decision.NO_OP.value, _("nothing new")),
    (Decision.ATTACH_EVIDENCE.value, _("evidence attached")),
    (Decision.SUPERSEDE.value, _("replaced the former value")),
    (Decision.INSERT_HISTORY.value, _("inserted into history")),
    (Decision.CONFLICT.value, _("conflict")),
    (Decision.REJECT.value, _("rejected")),
]
# What a version says of itself besides them: how people and agents change one, and reviewers settle it.
BY_HAND: list[tuple[str, StrOrPromise]] = [
    ("REVISE", _("revised")),
    ("CONFIRM", _("confirmed")),
    ("WITHDRAW", _("withdrawn")),
    ("RESOLVE", _("settled by a reviewer")),
    ("VALIDATE", _("validated by reviewers")),
]

REASONS: Mapping[str, StrOrPromise] = {
    Reason.TASK_SCOPED: _("holds for the task at hand only"),
    Reason.NO_SOURCE: _("names no source that can be traced"),
    Reason.EVIDENCE_UNAVAILABLE: _("its evidence cannot be looked at any more"),
    Reason.UNTRUSTED_INSTRUCTION: _("an order found in foreign material"),
    Reason.FORBIDDEN_MATERIAL: _("holds what may not be stored: a key, a password, hidden reasoning"),
    Reason.REVOKED: _("covered by a deletion"),
    Reason.REJECTED_BY_REVIEW: _("a reviewer said no"),
    Reason.NEEDS_EVIDENCE: _("claims a result without showing it"),
    Reason.NOT_AUTHORISED: _("whoever proposed it may not write this"),
    Reason.ORGANIZATION_SCOPE: _("would hold for everybody, so somebody has to agree"),
    Reason.GIT_AUTHORITY: _("belongs to Git and becomes true by a merge there"),
    Reason.HIDDEN_CHARACTERS: _("holds characters that cannot be seen"),
    Reason.VALIDATION_NOT_ACCEPTED: _("called itself validated, which only a review can do"),
    Reason.INFERENCE_NOT_SUPPORTED: _("an inference, so provisional at most"),
    Reason.SAME_SOURCE: _("the same source has said it before"),
    Reason.EQUAL_TIME: _("two values for the same instant"),
    Reason.NO_EFFECTIVE_TIME: _("nobody said since when it holds"),
    Reason.OTHER_SUBJECT: _("somebody else's statement about the same fact"),
    Reason.WEAKER_FIDELITY: _("the later word rests on weaker ground"),
    Reason.OPEN_CONFLICT: _("the fact is in dispute already"),
}


def reason_words(code: str) -> StrOrPromise:
    """A reason in words; a code that has none stands for itself."""
    return REASONS.get(code, code)


@dataclass(frozen=True, slots=True)
class Check:
    """One of the checks of admission (design/03), with the codes by which it refuses, keeps waiting, or only remarks."""

    key: str
    title: StrOrPromise
    question: StrOrPromise
    refuses: frozenset[str] = frozenset()
    holds_back: frozenset[str] = frozenset()
    remarks: frozenset[str] = frozenset()

    @property
    def codes(self) -> frozenset[str]:
        return self.refuses | self.holds_back | self.remarks


def _codes(*reasons: Reason) -> frozenset[str]:
    return frozenset(reason.value for reason in reasons)


CHECKS: tuple[Check, ...] = (
    Check("future_value", _("Future value"), _("Is it of use beyond the task at hand?"), refuses=_codes(Reason.TASK_SCOPED)),
    Check(
        "source",
        _("Traceable source"),
        _("Does it name a source that can be looked at and believed?"),
        refuses=_codes(Reason.NO_SOURCE, Reason.EVIDENCE_UNAVAILABLE, Reason.UNTRUSTED_INSTRUCTION),
    ),
    Check(
        "fact_or_inference",
        _("Fact or inference"),
        _("Does it claim no more than it can show?"),
        holds_back=_codes(Reason.NEEDS_EVIDENCE),
        remarks=_codes(Reason.VALIDATION_NOT_ACCEPTED, Reason.INFERENCE_NOT_SUPPORTED),
    ),
    Check(
        "scope",
        _("Authorised scope"),
        _("May the one who proposed it write it there?"),
        refuses=_codes(Reason.REJECTED_BY_REVIEW),
        holds_back=_codes(Reason.NOT_AUTHORISED, Reason.ORGANIZATION_SCOPE, Reason.GIT_AUTHORITY),
    ),
    Check(
        "storable",
        _("Forbidden information"),
        _("Is it free of what may not be stored or seen?"),
        refuses=_codes(Reason.FORBIDDEN_MATERIAL),
        holds_back=_codes(Reason.HIDDEN_CHARACTERS),
    ),
    Check("barrier", _("Deletion barrier"), _("Is it outside of everything that was deleted?"), refuses=_codes(Reason.REVOKED)),
    Check("equivalent", _("Equivalent content"), _("What stands under the same key, and does time tell which one holds?")),
)
