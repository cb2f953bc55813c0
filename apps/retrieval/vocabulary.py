"""Closed vocabularies of the query pipeline (design/04, design/06 Query).

These values are part of the public contract: an agent may branch on them and a trace is read years later with their help. A
value is added together with the rule that produces it and with RULE_VERSION, never renamed.
"""

from __future__ import annotations

from enum import StrEnum

# Goes into every trace and every item. Raise it when the same rows and the same question may give another packet.
RULE_VERSION = "r2"


class Stage(StrEnum):
    """Stages in the order in which they run; the last stage a candidate reached is where it was lost (RP-42)."""

    TRIAGE = "triage"
    SCOPE = "scope"
    RECALL = "recall"
    AUTHORITY = "authority"
    APPLICABILITY = "applicability"
    RELATIONS = "relations"
    RANKING = "ranking"
    PACKING = "packing"


class Lane(StrEnum):
    """Ways in which a memory may become a candidate. A lane gives ranks; scores of two lanes are never compared."""

    EXACT = "exact"
    NAMED = "named"
    ALWAYS = "always"
    LEXICAL = "lexical"
    PHRASE = "phrase"
    SEMANTIC = "semantic"
    CONCLUSION = "conclusion"


class Profile(StrEnum):
    """How the lexical lane weighs a shared term: by its rarity in scope, or each the same (RK-13, RK-14, C31)."""

    IDF = "idf"
    OVERLAP = "overlap"


class Mode(StrEnum):
    """What kind of answer is asked for."""

    CURRENT = "current"
    HISTORY = "history"
    REVALIDATION = "revalidation"


class Trigger(StrEnum):
    """The moment in an agent's life that asks."""

    QUERY = "query"
    SESSION_START = "session_start"
    COMPACTION = "compaction"
    TASK_SWITCH = "task_switch"


class PacketFormat(StrEnum):
    """Whether the packet also carries rendered text."""

    JSON = "json"
    TEXT = "text"


class Style(StrEnum):
    """Layout of the rendered text; the cost of an item is the cost of its block in this style."""

    SECTIONS = "sections"
    SLOTS = "slots"


class BudgetUnit(StrEnum):
    """What a budget counts. One never poses as the other (BU-08)."""

    TOKENS = "tokens"
    CODEPOINTS = "codepoints"


class Applicability(StrEnum):
    """Result of comparing a memory's conditions with the request's environment (AP-01..05)."""

    APPLICABLE = "applicable"
    CONDITIONAL = "conditional"
    NEEDS_REVALIDATION = "needs_revalidation"
    INCOMPATIBLE = "incompatible"
    UNKNOWN = "unknown"


class Section(StrEnum):
    """Where an item stands in the packet."""

    SUPPORTED = "supported"
    CONTESTED = "contested"
    EXCLUDED_PATH = "excluded_path"
    CONSTRAINT = "constraint"
    CONFLICT = "conflict"
    HISTORY = "history"


class EvidenceLabel(StrEnum):
    """What an item's presence in the packet rests on (RK-40..44)."""

    PROVENANCE_SUPPORTED = "provenance_supported"
    STRUCTURED_CONTEXT = "structured_context"
    LEXICAL_ONLY = "lexical_only"
    CHECKPOINT_PASSED = "checkpoint_passed"
    CONFLICTING_OR_SUPERSEDED = "conflicting_or_superseded"


class Reason(StrEnum):
    """Why a candidate is not in the packet; every candidate that is not chosen has exactly one (TC-08)."""

    OUT_OF_SCOPE_PROJECT = "out_of_scope_project"
    POLICY_NEVER = "policy_never"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    ARCHIVED = "archived"
    REVOKED = "revoked"
    PENDING_REVIEW = "pending_review"
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    POLICY_RESTRICTED = "policy_restricted"
    TYPE_NOT_REQUESTED = "type_not_requested"
    ENVIRONMENT_INCOMPATIBLE = "environment_incompatible"
    NEEDS_REVALIDATION = "needs_revalidation"
    APPLICABILITY_UNKNOWN = "applicability_unknown"
    DUPLICATE_OF_CANONICAL = "duplicate_of_canonical"
    SAME_LINEAGE = "same_lineage"
    SUCCESSOR_NOT_SELECTED = "successor_not_selected"
    PREDECESSOR_OVER_BUDGET = "predecessor_over_budget"
    OVER_BUDGET = "over_budget"
    BELOW_ITEM_CAP = "below_item_cap"
    BELOW_RELEVANCE = "below_relevance"
    AUTHORITY_UNAVAILABLE = "authority_unavailable"
    LABEL_INVALID = "label_invalid"
    CONTROL_PLANE = "control_plane"


class WarningCode(StrEnum):
    """Hints shown beside the items; none of them removes or rewrites a memory."""

    UNKNOWN_LABEL = "unknown_label"
    CHECKPOINT_PASSED = "checkpoint_passed"
    EMPTY_VALIDITY_INTERVAL = "empty_validity_interval"
    EVIDENCE_UNAVAILABLE = "evidence_unavailable"
    NEEDS_REVALIDATION = "needs_revalidation"
    INDEX_FALLBACK = "index_fallback"
    TOKENIZER_ESTIMATED = "tokenizer_estimated"
    HISTORICAL_RESULT = "historical_result"
    UNBOUND_REFERENCE = "unbound_reference"
    CONTAINS_HIDDEN_CHARACTERS = "contains_hidden_characters"


class Outcome(StrEnum):
    """What a packet as a whole says; `no_match` and `filtered_by_scope` are different answers (RP-19, C21)."""

    ANSWERED = "answered"
    NO_MATCH = "no_match"
    FILTERED_BY_SCOPE = "filtered_by_scope"
    APPLICABILITY_UNKNOWN = "applicability_unknown"
    CONFLICT = "conflict"
    SKIPPED = "skipped"
    CLARIFICATION_NEEDED = "clarification_needed"
    UNAVAILABLE = "unavailable"


class Fate(StrEnum):
    """How far a candidate of a trace came; what is no candidate was not found (AU-04)."""

    NOT_PACKED = "not_packed"
    PACKED = "packed"  # and nobody has said yet whether it was used
    NOT_USED = "not_used"
    USED = "used"
