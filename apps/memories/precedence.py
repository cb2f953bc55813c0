"""What speaks for each of several contradicting values, in the order of LN-23. Shown to whoever settles them, never applied.

Pure. The four rules are asked one after the other; each looks only at the values that the ones before it left in question.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID


class Rule(StrEnum):
    """The order of LN-23."""

    PRIMARY_SOURCE = "primary_source"  # direct dialogue, or a kept record
    NEWER_CORRECTION = "newer_correction"  # the newest explicit word that says since when
    DATED_EVENT = "dated_event"  # something that has a time
    HIGHER_FIDELITY = "higher_fidelity"  # the record nearest to what happened


EXPLANATIONS = {
    Rule.PRIMARY_SOURCE: "Direct dialogue or a primary source goes before what was retold.",
    Rule.NEWER_CORRECTION: "Among explicit statements that say since when they hold, the newest goes first.",
    Rule.DATED_EVENT: "A value with a date goes before one without.",
    Rule.HIGHER_FIDELITY: "A record of higher fidelity goes before a weaker one.",
}


@dataclass(frozen=True, slots=True)
class Ground:
    """What one value rests on. ``fidelity_rank``: 0 is best."""

    memory: UUID
    primary: bool
    explicit: bool
    dated_at: datetime | None
    fidelity_rank: int


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule says: the values it favours among those in question; empty when it does not tell them apart."""

    rule: Rule
    favoured: tuple[UUID, ...]


def weigh(grounds: Sequence[Ground]) -> tuple[list[Finding], UUID | None]:
    """What each rule says, and the value that they favour together, if it is one."""
    left = list(grounds)
    findings = []
    for rule, chosen in _RULES.items():
        best = chosen(left) if len(left) > 1 else []
        tells = 0 < len(best) < len(left)
        findings.append(Finding(rule, tuple(one.memory for one in best) if tells else ()))
        left = best if tells else left
    return findings, left[0].memory if len(left) == 1 and len(grounds) > 1 else None


def _primary(left: list[Ground]) -> list[Ground]:
    return [one for one in left if one.primary]


def _newest(left: list[Ground]) -> list[Ground]:
    stated = [(one.dated_at, one) for one in left if one.explicit and one.dated_at is not None]
    latest = max((at for at, _ in stated), default=None)
    return [one for at, one in stated if at == latest]


def _dated(left: list[Ground]) -> list[Ground]:
    return [one for one in left if one.dated_at is not None]


def _faithful(left: list[Ground]) -> list[Ground]:
    best = min(one.fidelity_rank for one in left)
    return [one for one in left if one.fidelity_rank == best]


_RULES: dict[Rule, Callable[[list[Ground]], list[Ground]]] = {
    Rule.PRIMARY_SOURCE: _primary,
    Rule.NEWER_CORRECTION: _newest,
    Rule.DATED_EVENT: _dated,
    Rule.HIGHER_FIDELITY: _faithful,
}
