"""What the write protocol promises, small enough to be seen whole: no database, no versions, no locks.

Events with their origins, what is gone of them, and what was said under each key. The machine in test_write_protocol.py does the
same things to this and to the product, and compares.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from apps.memories.consolidation import Claim
from tests.memories.lines_model import ALICE, BOB, Spans, current_values, spans

AUTHORS = {"alice": ALICE, "bob": BOB}
STRONG, WEAK = "user_message", "web_page"
PLAIN = ("gate", "door", "wall")  # keys to which nothing but statements and deletions happens


@dataclass(frozen=True)
class Place:
    """One key in one namespace under one set of conditions."""

    space: str  # a project, or "" for what is alice's own
    key: str
    season: str = ""

    @property
    def fact(self) -> tuple[str, str]:
        return self.space, self.key


@dataclass
class Happening:
    """An event, or a document that no event stands for; whose it is and what it retells."""

    name: str
    key: UUID
    space: str
    who: str
    ground: str = STRONG
    occurred_at: datetime | None = None
    parents: tuple[str, ...] = ()
    says: int = 0  # how many candidates a reader finds in it
    gone: bool = False
    came_covered: bool = False  # it happened before a deletion that was accepted before it came
    crashes: int = 0  # how often a worker died over it


@dataclass
class Book:
    """What was said at a place. ``plain``: nothing but statements happened to it, so all of it follows from them."""

    claims: list[Claim] = field(default_factory=list)
    plain: bool = True

    def said(self, claim: Claim) -> None:
        if claim not in self.claims:
            self.claims.append(claim)

    @property
    def spans(self) -> Spans:
        return spans(self.claims)

    @property
    def current(self) -> frozenset[str]:
        return frozenset(current_values(self.claims))


@dataclass
class Model:
    happenings: dict[str, Happening] = field(default_factory=dict)
    books: dict[Place, Book] = field(default_factory=dict)
    restricted: set[tuple[tuple[str, str], str]] = field(default_factory=set)  # (fact, origin): may not state it again
    suppressed: set[tuple[str, str]] = field(default_factory=set)
    shut: dict[str, datetime] = field(default_factory=dict)  # subject → what happened up to then is covered
    patches: dict[tuple[str, int], str] = field(default_factory=dict)  # (memory, version) → its text
    deletions: int = 0

    def book(self, place: Place) -> Book:
        return self.books.setdefault(place, Book(plain=place.key in PLAIN))

    def origins(self, name: str) -> frozenset[str]:
        """The furthest ancestors: a retelling is no further origin."""
        one = self.happenings[name]
        if not one.parents:
            return frozenset({name})
        return frozenset(root for parent in one.parents for root in self.origins(parent))

    def happen(self, one: Happening) -> None:
        one.gone = one.came_covered = self.is_shut(one.who, one.occurred_at)
        self.happenings[one.name] = one

    def is_shut(self, who: str, occurred_at: datetime | None) -> bool:
        until = self.shut.get(who)
        return until is not None and occurred_at is not None and occurred_at <= until

    def may_state(self, place: Place, sources: tuple[str, ...]) -> bool:
        """Whether these sources may state this fact at all."""
        if place.fact in self.suppressed or any(self.happenings[name].gone for name in sources):
            return False
        behind = {root for name in sources for root in self.origins(name)}
        return not behind or not all((place.fact, root) in self.restricted for root in behind)

    # -- deletions

    def lose(self, names: set[str]) -> set[str]:
        """Events are gone, and what was made from nothing else; returns all of them."""
        lost = {name for name in names if not self.happenings[name].gone}
        for name in lost:
            self.happenings[name].gone = True
        while True:
            along = {
                one.name
                for one in self.happenings.values()
                if not one.gone and one.parents and all(self.happenings[parent].gone for parent in one.parents)
            }
            if not along:
                return lost
            for name in along:
                self.happenings[name].gone = True
            lost |= along

    def disturb(self, place: Place) -> None:
        """From now on more than its statements decides what stands there."""
        self.books[place] = replace(self.book(place), plain=False)

    def disturb_all(self) -> None:
        for place in list(self.books):
            self.disturb(place)

    def begin_anew(self, place: Place) -> None:
        """Nothing is left of what was said there."""
        self.books[place] = Book(plain=place.key in PLAIN)
