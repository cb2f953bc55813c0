"""What votes amount to under a rule. Pure.

Only votes about the present state of the subject count; an edit changes the hash, and so voids every earlier vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

APPROVE, REQUEST_CHANGES, REJECT = "approve", "request_changes", "reject"


class Outcome(StrEnum):
    WAITING = "waiting"
    CHANGES_REQUESTED = "changes_requested"
    REJECTED = "rejected"
    APPROVED = "approved"


@dataclass(frozen=True, slots=True)
class Rule:
    """So many approvals, by people of so many different roles."""

    approvals: int
    distinct_groups: int = 1
    author_barred: bool = True


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote: whose, which verdict, about which state, and the roles that the reviewer held."""

    reviewer: UUID
    verdict: str
    subject_hash: str
    roles: frozenset[str]


@dataclass(frozen=True, slots=True)
class Tally:
    """Where a review stands."""

    outcome: Outcome
    approvals: int
    needed: int
    groups: int


def tally(ballots: Iterable[Ballot], subject_hash: str, rule: Rule) -> Tally:
    """One rejection decides, one request for changes holds back, and enough approvals from enough roles carry."""
    valid = [one for one in ballots if one.subject_hash == subject_hash]
    verdicts = {one.verdict for one in valid}
    approving = [one for one in valid if one.verdict == APPROVE]
    groups = distinct_groups([one.roles for one in approving])
    if REJECT in verdicts:
        outcome = Outcome.REJECTED
    elif REQUEST_CHANGES in verdicts:
        outcome = Outcome.CHANGES_REQUESTED
    elif len(approving) >= rule.approvals and groups >= rule.distinct_groups:
        outcome = Outcome.APPROVED
    else:
        outcome = Outcome.WAITING
    return Tally(outcome, len(approving), rule.approvals, groups)


def distinct_groups(held: Sequence[frozenset[str]]) -> int:
    """For how many different roles there is somebody of their own: who holds two roles stands for one of them only."""
    taken: dict[str, int] = {}

    def place(person: int, tried: set[str]) -> bool:
        for role in sorted(held[person] - tried):
            tried.add(role)
            if role not in taken or place(taken[role], tried):
                taken[role] = person
                return True
        return False

    return sum(place(person, set()) for person in range(len(held)))
