"""What the closed vocabularies of retrieval are called on pages; a test holds every one of them complete in both languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from apps.retrieval.comparing import Change, Verdict
from apps.retrieval.explaining import Basis, Finding, Step
from apps.retrieval.triage.vocabulary import Asked, Decision, Divergence, Ground, ParseStatus, TaskType, TimeView
from apps.retrieval.vocabulary import (
    Applicability,
    BudgetUnit,
    Fate,
    Lane,
    Mode,
    Outcome,
    Profile,
    Reason,
    Stage,
    Style,
    Trigger,
    WarningCode,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum

    from django_stubs_ext import StrOrPromise

Words = dict[str, "StrOrPromise"]

STAGES: Words = {
    Stage.TRIAGE: _("Is memory needed?"),
    Stage.SCOPE: _("Namespaces"),
    Stage.RECALL: _("Found, and about the question"),
    Stage.AUTHORITY: _("Rights, state and time"),
    Stage.APPLICABILITY: _("Holds in this environment"),
    Stage.RELATIONS: _("Relations"),
    Stage.RANKING: _("Order"),
    Stage.PACKING: _("Room in the packet"),
}
LANES: Words = {
    Lane.EXACT: _("asked by key"),
    Lane.NAMED: _("named"),
    Lane.ALWAYS: _("standing rule"),
    Lane.LEXICAL: _("words"),
    Lane.PHRASE: _("phrase"),
    Lane.SEMANTIC: _("meaning"),
    Lane.CONCLUSION: _("key conclusion"),
}
REASONS: Words = {
    Reason.OUT_OF_SCOPE_PROJECT: _("lies outside the namespaces of the query"),
    Reason.POLICY_NEVER: _("is never given to agents"),
    Reason.SUPERSEDED: _("another value had replaced it"),
    Reason.WITHDRAWN: _("was withdrawn"),
    Reason.ARCHIVED: _("was archived"),
    Reason.REVOKED: _("was deleted"),
    Reason.PENDING_REVIEW: _("waits for review"),
    Reason.EXPIRED: _("did not hold any more"),
    Reason.NOT_YET_VALID: _("did not hold yet"),
    Reason.POLICY_RESTRICTED: _("the agent may not read it"),
    Reason.TYPE_NOT_REQUESTED: _("is of a type that was not asked for"),
    Reason.ENVIRONMENT_INCOMPATIBLE: _("holds in another environment"),
    Reason.NEEDS_REVALIDATION: _("has to be confirmed again first"),
    Reason.APPLICABILITY_UNKNOWN: _("nobody knows whether it holds in this environment"),
    Reason.DUPLICATE_OF_CANONICAL: _("repeats another record"),
    Reason.SAME_LINEAGE: _("tells what another one tells from the same origin"),
    Reason.SUCCESSOR_NOT_SELECTED: _("goes with a later decision, which was not given"),
    Reason.PREDECESSOR_OVER_BUDGET: _("an earlier decision for which there was no room"),
    Reason.OVER_BUDGET: _("no room in the budget"),
    Reason.BELOW_ITEM_CAP: _("others came before it, up to the number asked for"),
    Reason.BELOW_RELEVANCE: _("shares too little with the question"),
    Reason.AUTHORITY_UNAVAILABLE: _("could not be read"),
    Reason.LABEL_INVALID: _("carries a label that is none"),
    Reason.CONTROL_PLANE: _("is about the upkeep of memory itself"),
}
OUTCOMES: Words = {
    Outcome.ANSWERED: _("answered"),
    Outcome.NO_MATCH: _("nothing about it"),
    Outcome.FILTERED_BY_SCOPE: _("only in another project"),
    Outcome.APPLICABILITY_UNKNOWN: _("nothing that surely applies"),
    Outcome.CONFLICT: _("in dispute"),
    Outcome.SKIPPED: _("skipped"),
    Outcome.CLARIFICATION_NEEDED: _("asked back"),
    Outcome.UNAVAILABLE: _("could not be read"),
}
DECISIONS: Words = {
    Decision.RETRIEVE: _("look into memory"),
    Decision.ASK: _("ask back first"),
    Decision.SKIP: _("no memory needed"),
}
ASKED: Words = {Asked.AUTO: _("triage decides"), Asked.RETRIEVE: _("the agent decided")}
MODES: Words = {
    Mode.CURRENT: _("what holds"),
    Mode.HISTORY: _("what held then"),
    Mode.REVALIDATION: _("what has to be confirmed"),
}
TRIGGERS: Words = {
    Trigger.QUERY: _("a question"),
    Trigger.SESSION_START: _("a session begins"),
    Trigger.COMPACTION: _("a conversation is summarised"),
    Trigger.TASK_SWITCH: _("the task changes"),
}
DIVERGENCES: Words = {
    Divergence.ASK_SUPPRESSED: _("triage would have asked back"),
    Divergence.SKIP_SUPPRESSED: _("triage would have skipped it"),
}
GROUNDS: Words = {
    Ground.EXPLICIT: _("keys or labels say what is meant"),
    Ground.ANCHORED: _("it names something"),
    Ground.BOUND: _("the conversation says what is meant"),
    Ground.UNREADABLE: _("in a language without rules here"),
    Ground.BLANK: _("nothing was asked"),
    Ground.NO_ANCHOR: _("it does not say what it is about"),
    Ground.NO_TEXT: _("work on a text that is not there"),
    Ground.SMALL_TALK: _("small talk"),
    Ground.COMPUTATION: _("a computation"),
    Ground.GIVEN_TEXT: _("work on a text that is there"),
    Ground.COMPOSITION: _("a text to be written"),
    Ground.GENERAL_KNOWLEDGE: _("general knowledge"),
    Ground.PRESENT_MOMENT: _("the present moment, which no memory knows"),
    Ground.HOT_CONTEXT: _("what was said a moment ago"),
    Ground.ANSWERED: _("answered in the conversation already"),
}
PARSES: Words = {ParseStatus.PARSED: _("understood by rules"), ParseStatus.FALLBACK: _("not understood by rules")}
TASKS: Words = {
    TaskType.LOOKUP: _("look something up"),
    TaskType.REASON: _("a reason"),
    TaskType.PROCEDURE: _("a procedure"),
    TaskType.CHECK: _("a check"),
    TaskType.CONTINUATION: _("go on with something"),
    TaskType.OVERVIEW: _("an overview"),
    TaskType.COMPOSITION: _("write something"),
    TaskType.TRANSFORMATION: _("change a text"),
    TaskType.COMPUTATION: _("compute something"),
    TaskType.SMALL_TALK: _("small talk"),
}
TIMES: Words = {TimeView.CURRENT: _("the present"), TimeView.PAST: _("the past"), TimeView.FUTURE: _("the future")}
WARNINGS: Words = {
    WarningCode.UNKNOWN_LABEL: _("a label that is none"),
    WarningCode.CHECKPOINT_PASSED: _("a date by which something should be settled has passed"),
    WarningCode.EMPTY_VALIDITY_INTERVAL: _("a record that never holds"),
    WarningCode.EVIDENCE_UNAVAILABLE: _("evidence that cannot be read any more"),
    WarningCode.NEEDS_REVALIDATION: _("a record that has to be confirmed again"),
    WarningCode.INDEX_FALLBACK: _("the index could not be used"),
    WarningCode.TOKENIZER_ESTIMATED: _("the budget was kept with an estimate"),
    WarningCode.HISTORICAL_RESULT: _("a record that is past"),
    WarningCode.UNBOUND_REFERENCE: _("something pointed at, and nothing says what"),
    WarningCode.CONTAINS_HIDDEN_CHARACTERS: _("characters that cannot be seen"),
}
APPLICABILITY: Words = {
    Applicability.APPLICABLE: _("applies"),
    Applicability.CONDITIONAL: _("applies under conditions"),
    Applicability.NEEDS_REVALIDATION: _("to be confirmed again"),
    Applicability.INCOMPATIBLE: _("does not apply"),
    Applicability.UNKNOWN: _("unknown"),
}
FATES: Words = {
    Fate.NOT_PACKED: _("found, not given"),
    Fate.PACKED: _("given, use not reported"),
    Fate.NOT_USED: _("given, not used"),
    Fate.USED: _("given and used"),
}
PROFILES: Words = {Profile.IDF: _("by rarity"), Profile.OVERLAP: _("each word the same")}
UNITS: Words = {BudgetUnit.TOKENS: _("tokens"), BudgetUnit.CODEPOINTS: _("characters")}
STYLES: Words = {Style.SECTIONS: _("in sections"), Style.SLOTS: _("one line each")}

# -- asking again, and asking why

VERDICTS: Words = {
    Verdict.SAME: _("The same packet, for the same reasons."),
    Verdict.SAME_PACKET: _("The same packet; what was left out differs."),
    Verdict.CHANGED: _("The packet would be another one now."),
    Verdict.WORDS_GONE: _("The words of the question are gone, so it cannot be asked again."),
    Verdict.UNREADABLE: _("Deletions cannot be checked at the moment, so nothing is read."),
}
CHANGES: Words = {
    Change.NEW: _("was not found then"),
    Change.NOT_FOUND: _("is not found now"),
    Change.DELETED: _("was deleted"),
    Change.OUT_OF_REACH: _("the agent may not read it any more"),
    Change.VERSION_MOVED: _("another version holds for that time"),
    Change.RANK_MOVED: _("another place in the order"),
    Change.NOW_GIVEN: _("would be given now"),
    Change.NOT_GIVEN: _("would not be given now"),
    Change.REASON_CHANGED: _("left out for another reason"),
}
CIRCUMSTANCES: Words = {
    "decision": _("Decision"),
    "outcome": _("Outcome"),
    "budget_used": _("Room taken"),
    "rule_version": _("Version of the rules"),
    "revision": _("Revision of the tenant"),
    "namespaces": _("Namespaces within the agent's reach"),
    "index": _("Index"),
    "profile": _("Weight of words"),
    "relevance_share": _("Share of the question that a record must hold"),
}
INDEX: Words = {"read": _("read"), "fallback": _("not used; the newest memories were read")}
FINDINGS: Words = {
    Finding.GIVEN: _("It was given."),
    Finding.LEFT_OUT: _("It was found and left out."),
    Finding.NOT_RETRIEVED: _("No memory was looked at."),
    Finding.UNAVAILABLE: _("No memory could be read."),
    Finding.WRITTEN_LATER: _("It was written after the query."),
    Finding.OUT_OF_SCOPE: _("The query could not reach it."),
    Finding.NOT_FOUND: _("Nothing in the question leads to it."),
    Finding.OUTWEIGHED: _("It shares words with the question, and enough others share more."),
    Finding.CANNOT_TELL: _("It can no longer be told."),
    Finding.NOTHING: _("There is nothing to say about that."),
}
# The same where it was worked out a moment ago: what it would come to, not what it came to.
FINDINGS_NOW: Words = {
    Finding.GIVEN: _("It was no candidate then; it would be given now."),
    Finding.LEFT_OUT: _("It was no candidate then; now it would be left out."),
}
BASES: Words = {Basis.RECORDED: _("as the trace holds it"), Basis.NOW: _("worked out just now")}
STEPS: Words = {
    Step.PASSED: _("passed"),
    Step.LOST: _("lost here"),
    Step.NOT_REACHED: _("not reached"),
    Step.UNKNOWN: _("not known"),
}

VOCABULARIES: tuple[tuple[type[StrEnum], Mapping[str, StrOrPromise]], ...] = (
    (Stage, STAGES),
    (Lane, LANES),
    (Reason, REASONS),
    (Outcome, OUTCOMES),
    (Decision, DECISIONS),
    (Asked, ASKED),
    (Mode, MODES),
    (Trigger, TRIGGERS),
    (Divergence, DIVERGENCES),
    (Ground, GROUNDS),
    (ParseStatus, PARSES),
    (TaskType, TASKS),
    (TimeView, TIMES),
    (WarningCode, WARNINGS),
    (Applicability, APPLICABILITY),
    (Fate, FATES),
    (Profile, PROFILES),
    (BudgetUnit, UNITS),
    (Style, STYLES),
    (Verdict, VERDICTS),
    (Change, CHANGES),
    (Finding, FINDINGS),
    (Basis, BASES),
    (Step, STEPS),
)


def said(words: Mapping[str, StrOrPromise], code: object) -> StrOrPromise:
    """A code in words; one that has none stands for itself."""
    return words.get(str(code), str(code))
