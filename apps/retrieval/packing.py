"""Whole items into a budget (design/04 stage 8; BU-01..21, C8, C9, SP-05).

An item costs its rendered block, the heading it opens, and the frame if it is the first. What does not fit is skipped and the
next is tried; nothing is ever cut. A unit is packed together or not at all: both sides of a contradiction, or one record, then
perhaps the decision it replaced directly behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from apps.retrieval.rendering import Block, frame, heading, render
from apps.retrieval.tokenizers import counter
from apps.retrieval.vocabulary import BudgetUnit, Reason, Section, Style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from apps.retrieval.context import Budget, Judged, Key


@dataclass(frozen=True, slots=True)
class Unit:
    """What stands or falls together, best first; `follower` is welcome directly behind, never alone."""

    members: tuple[Judged, ...]
    follower: Judged | None = None


@dataclass(frozen=True, slots=True)
class Packed:
    """What is in the packet, in order, and what is not, with the reason. `used` is the cost of `text`: 0 and "" for no items."""

    chosen: tuple[Judged, ...]
    left_out: tuple[tuple[Judged, Reason], ...]
    hidden: frozenset[Key]
    text: str
    used: int
    exact: bool

    @property
    def truncated(self) -> bool:
        """Did the budget, as opposed to the cap on items, keep something out?"""
        return any(reason in _BUDGET_REASONS for _, reason in self.left_out)


_BUDGET_REASONS = frozenset({Reason.OVER_BUDGET, Reason.PREDECESSOR_OVER_BUDGET})


def pack(units: Iterable[Unit], *, budget: Budget, max_items: int, style: Style, brief: bool = False) -> Packed:
    """Fill the budget with units in the order given; ``brief`` for the short entries of a summary.

    Each block is counted once. Costs of blocks add up (rendering says why); the finished text is counted again and rules.
    """
    measure, exact = _measure(budget)
    desk = _Desk(budget.limit, max_items, style, brief, measure, partial(_fixed_cost, budget.unit, budget.tokenizer))
    for unit in units:
        desk.take(unit)
    text = desk.text()
    used = measure(text)
    while used > budget.limit:  # only a tokenizer whose counts do not add up can get here
        desk.give_back()
        text = desk.text()
        used = measure(text)
    return Packed(tuple(desk.chosen), tuple(desk.left_out), frozenset(desk.hidden), text, used, exact)


@lru_cache(maxsize=64)
def _fixed_cost(unit: BudgetUnit, tokenizer: str, text: str) -> int:
    """The cost of a heading or frame: they are the same in every packet, and counting is most of the work of packing."""
    return len(text) if unit is BudgetUnit.CODEPOINTS else counter(tokenizer).count(text)


def _measure(budget: Budget) -> tuple[Callable[[str], int], bool]:
    if budget.unit is BudgetUnit.CODEPOINTS:
        return len, True
    tokens = counter(budget.tokenizer)
    return tokens.count, tokens.exact


@dataclass(slots=True)
class _Desk:
    """The packet while it is being filled."""

    limit: int
    max_items: int
    style: Style
    brief: bool
    measure: Callable[[str], int]
    fixed: Callable[[str], int]
    chosen: list[Judged] = field(default_factory=list)
    left_out: list[tuple[Judged, Reason]] = field(default_factory=list)
    hidden: set[Key] = field(default_factory=set)
    used: int = 0
    placed: list[tuple[Unit, list[_Placed]]] = field(default_factory=list)
    opened: set[Section] = field(default_factory=set)

    def take(self, unit: Unit) -> None:
        """Place the unit, or note why not."""
        if len(self.chosen) + len(unit.members) > self.max_items:
            self._leave(unit, Reason.BELOW_ITEM_CAP)
            return
        blocks = [render(member, self.style, brief=self.brief) for member in unit.members]
        sections = {member.section for member in unit.members}
        extra = [heading(self.style, section) for section in sections - self.opened]
        if not self.chosen:
            extra += frame(self.style)
        cost = sum(self.fixed(text) for text in extra) + sum(self.measure(block.text) for block in blocks)
        if self.used + cost > self.limit:
            self._leave(unit, Reason.OVER_BUDGET)
            return
        self.used += cost
        self.opened |= sections
        places = [self._put(member, block, member.section) for member, block in zip(unit.members, blocks, strict=True)]
        if unit.follower is not None:
            places += self._follow(unit.follower, places[-1].section)
        self.placed.append((unit, places))

    def _follow(self, follower: Judged, section: Section) -> list[_Placed]:
        block = render(follower, self.style, brief=self.brief)
        cost = self.measure(block.text)
        reason = None
        if len(self.chosen) >= self.max_items:
            reason = Reason.BELOW_ITEM_CAP
        elif self.used + cost > self.limit:
            reason = Reason.PREDECESSOR_OVER_BUDGET
        if reason is not None:
            self.left_out.append((follower, reason))
            return []
        self.used += cost
        return [self._put(follower, block, section)]

    def _put(self, item: Judged, block: Block, section: Section) -> _Placed:
        self.chosen.append(item)
        if block.hidden:
            self.hidden.add(item.key)
        return _Placed(section, block)

    def _leave(self, unit: Unit, reason: Reason) -> None:
        self.left_out += [(member, reason) for member in unit.members]
        if unit.follower is not None:
            self.left_out.append((unit.follower, Reason.SUCCESSOR_NOT_SELECTED))

    def give_back(self) -> None:
        """Take the last unit out again."""
        unit, places = self.placed.pop()
        del self.chosen[len(self.chosen) - len(places) :]
        self.left_out = [(item, reason) for item, reason in self.left_out if item is not unit.follower]
        self._leave(unit, Reason.OVER_BUDGET)

    def text(self) -> str:
        """Sections in their fixed order, items in packet order, a predecessor behind its successor whatever its own section."""
        if not self.placed:
            return ""
        opening, closing = frame(self.style)
        places = [place for _, placed in self.placed for place in placed]
        parts = [opening]
        if self.style is Style.SLOTS:
            parts += [place.block.text for place in places]
        else:
            for section in Section:
                blocks = [place.block.text for place in places if place.section is section]
                parts += [heading(self.style, section), *blocks] if blocks else []
        return "".join((*parts, closing))


@dataclass(frozen=True, slots=True)
class _Placed:
    """A block and the section it is printed in."""

    section: Section
    block: Block
