"""Why something was decided as it was: the closed set of codes that candidates, conflicts and answers carry."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Codes are stable and never text of a caller (design/06 Conventions)."""

    # refused by admission
    TASK_SCOPED = "task_scoped"  # a parameter of the present task, no future value (CA-12)
    NO_SOURCE = "no_source"  # no traceable source (CA-03)
    EVIDENCE_UNAVAILABLE = "evidence_unavailable"  # a named evidence cannot be looked at any more (CA-23)
    UNTRUSTED_INSTRUCTION = "untrusted_instruction"  # an order found in foreign material (CA-14)
    FORBIDDEN_MATERIAL = "forbidden_material"  # keys, tokens, passwords, hidden reasoning (CA-06)
    REVOKED = "revoked"  # covered by a deletion (CA-07)

    REJECTED_BY_REVIEW = "rejected_by_review"  # a reviewer said no

    # kept waiting by admission
    NEEDS_EVIDENCE = "needs_evidence"  # a claim of success without its results (EV-16)
    NOT_AUTHORISED = "not_authorised"  # the caller may not write here (CA-05)
    ORGANIZATION_SCOPE = "organization_scope"  # what holds for everybody is reviewed (ID-17)
    GIT_AUTHORITY = "git_authority"  # Git knowledge becomes true by its merge (CA-19)
    HIDDEN_CHARACTERS = "hidden_characters"  # text that does not read as it looks (ID-31)

    # said about what was taken up
    VALIDATION_NOT_ACCEPTED = "validation_not_accepted"  # nobody validates himself (VH-03)
    INFERENCE_NOT_SUPPORTED = "inference_not_supported"  # an inference is at most provisional (CA-04)

    # merge
    SAME_SOURCE = "same_source"  # the same lineage said it already (MG-03)
    EQUAL_TIME = "equal_time"  # two values from the same instant
    NO_EFFECTIVE_TIME = "no_effective_time"  # nobody said since when
    OTHER_SUBJECT = "other_subject"  # another subject's record (C14)
    WEAKER_FIDELITY = "weaker_fidelity"  # the later word rests on weaker ground (LN-23)
    OPEN_CONFLICT = "open_conflict"  # the key is in dispute already
