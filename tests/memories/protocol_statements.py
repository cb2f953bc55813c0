"""The first half of the machine in test_write_protocol.py: a world, its time, its events and what is stated in it."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from apps.core import clock
from apps.core.errors import Revoked
from apps.core.ids import new_id, public_id
from apps.evidence.drafts import Draft
from apps.evidence.ingestion import accept_event
from apps.evidence.models import Evidence, SourceEvent
from apps.memories.candidates import propose
from apps.memories.consolidation import Claim
from apps.memories.models import EpistemicStatus, MemoryType
from apps.memories.proposals import Proposal
from tests.memories import protocol_rows
from tests.memories.lines_model import DAY_ZERO
from tests.memories.protocol_model import AUTHORS, PLAIN, STRONG, WEAK, Happening, Model, Place
from tests.memories.protocol_rows import Watch
from tests.tenants.world import World

PROJECT = "kiosk"
# Every value is one subject's word on one kind of ground, with a time or without: so what is said alone decides what holds.
VALUES = {
    "red": ("alice", STRONG, True),
    "blue": ("alice", STRONG, True),
    "white": ("alice", STRONG, False),
    "grey": ("alice", WEAK, True),
    "green": ("bob", STRONG, True),
}
WILD = ("lamp", "stove")
SAYINGS = {"Please answer in French by default from now on.": 1, "以后默认用中文回答": 1, "Hm.": 0}

days = st.integers(0, 9)
many = st.integers(0, 10_000)

_worlds = count(1)


def day(number: int) -> datetime:
    return DAY_ZERO + timedelta(days=number)


class Statements(RuleBasedStateMachine):
    """Events come in and facts are stated, in a world and in the model of it."""

    def __init__(self) -> None:
        super().__init__()
        self.held = ExitStack()
        self.at = day(20)
        self.held.enter_context(clock.set_clock(lambda: self.at))
        self.world = World(f"orchard{next(_worlds)}")
        self.access = {who: self.world.access(who) for who in AUTHORS}
        self.model = Model()
        own, shared = self.world.namespace("user", "alice").id, self.world.namespace("project", PROJECT).id
        self.watch = Watch(self.world, self.model, {own: "", shared: PROJECT})
        self.namespaces = {"": own, PROJECT: shared}
        self.subjects = {access.subject_id: who for who, access in self.access.items()}
        self.revision = protocol_rows.revision(self.world)
        self.names = count(1)

    # -- time and events

    @rule(seconds=st.sampled_from([1, 200, 4000]))
    def time_goes_on(self, seconds: int) -> None:
        self.at += timedelta(seconds=seconds)

    @initialize(weak=st.booleans(), erases=st.integers(0, 3))
    def something_is_there(self, *, weak: bool, erases: int) -> None:
        """In most worlds deletions are only accepted, which is what the protocol is about; working them off takes its time."""
        self.erases = erases == 0
        self.deletions_left = 3 if self.erases else 12
        self.event(space=PROJECT, who="alice", ground=STRONG, on=1)
        self.event(space=PROJECT, who="bob", ground=WEAK if weak else STRONG, on=2)
        self.document()

    @rule(space=st.sampled_from([PROJECT, PROJECT, ""]), bob=st.booleans(), weak=st.booleans(), on=days)
    def an_event(self, *, space: str, bob: bool, weak: bool, on: int) -> None:
        self.event(space=space, who="bob" if bob and space else "alice", ground=WEAK if weak else STRONG, on=on)

    @rule(which=st.sampled_from(sorted(SAYINGS)), late=st.booleans())
    def a_saying(self, *, which: str, late: bool) -> None:
        """It is read in the background, by a worker that may die over it."""
        self.event(space="", who="alice", ground=STRONG, on=12 if late else 3, text=which, says=SAYINGS[which])

    @rule(which=many, bob=st.booleans(), on=days)
    def a_retelling(self, *, which: int, bob: bool, on: int) -> None:
        found = [one for one in self.living() if one.space == PROJECT]
        if found:
            parent = found[which % len(found)]
            self.event(
                space=PROJECT,
                who="bob" if bob else "alice",
                ground="assistant_message",
                on=on,
                parents=(parent.name,),
            )

    @rule(which=many)
    def an_event_again(self, *, which: int) -> None:
        found = [one for one in self.model.happenings.values() if one.occurred_at is not None and not one.came_covered]
        if not found:
            return
        one = found[which % len(found)]
        if one.gone:
            with pytest.raises(Revoked):
                accept_event(self.access[one.who], self.drafts[one.name])
        else:
            assert accept_event(self.access[one.who], self.drafts[one.name]).replayed

    @property
    def drafts(self) -> dict[str, Draft]:
        return self.__dict__.setdefault("_drafts", {})

    def event(
        self, *, space: str, who: str, ground: str, on: int, parents: tuple[str, ...] = (), text: str = "", says: int = 0
    ) -> None:
        name = f"evt-{next(self.names)}"
        self.drafts[name] = draft = Draft(
            event_id=name,
            scope="project" if space else "user",
            scope_id=space or None,
            source_type=ground,
            occurred_at=day(on),
            content=text or f"note {name}",
            derived_from=parents,
        )
        accept_event(self.access[who], draft)
        with self.world.inside():
            key = SourceEvent.objects.values_list("id", flat=True).get(event_id=name)
        self.model.happen(Happening(name, key, space, who, ground, day(on), parents, says))

    @rule()
    def document(self) -> None:
        """A piece of evidence that no event stands for."""
        name, key = f"doc-{next(self.names)}", new_id()
        with self.world.inside():
            Evidence.objects.create(
                id=key,
                tenant_id=self.world.tenant_id,
                namespace_id=self.namespaces[PROJECT],
                kind=Evidence.Kind.DOCUMENT,
                fidelity=Evidence.Fidelity.VISIBLE_TRANSCRIPT,
            )
        self.model.happen(Happening(name, key, PROJECT, "alice"))

    def living(self) -> list[Happening]:
        return [one for one in self.model.happenings.values() if not one.gone and one.occurred_at is not None]

    # -- statements

    @rule(
        key=st.sampled_from(PLAIN), own=st.booleans(), season=st.sampled_from(["", "", "summer"]), which=many, on=days, value=many
    )
    def a_statement(self, *, key: str, own: bool, season: str, which: int, on: int, value: int) -> None:
        place = Place("" if own else PROJECT, key, season)
        sources = [one for one in self.model.happenings.values() if one.space in (place.space, PROJECT)]
        source = sources[which % len(sources)]
        book, origins = self.model.book(place), self.model.origins(source.name)
        roots = frozenset(self.model.happenings[root].key for root in origins)
        if source.parents and not any(roots <= claim.roots for claim in book.claims):
            return  # what is retold comes first: its retelling brings less
        claim = next((one for one in book.claims if one.roots == roots), None)
        if claim is None:
            (origin,) = (self.model.happenings[root] for root in origins)
            fitting = [
                name
                for name, (who, ground, dated) in VALUES.items()
                if ground == origin.ground and dated == (origin.occurred_at is not None) and (who == "alice" or place.space)
            ]
            said = fitting[value % len(fitting)]
            who, ground, dated = VALUES[said]
            claim = Claim(
                proposition=said,
                roots=roots,
                effective_at=day(on) if dated else None,
                author=AUTHORS[who],
                strength=0 if ground == STRONG else 1,
            )
        if self.state(place, claim.proposition, VALUES[claim.proposition][0], claim.effective_at, (source.name,)):
            book.said(claim)

    @rule(
        key=st.sampled_from(WILD),
        own=st.booleans(),
        season=st.sampled_from(["", "summer"]),
        which=st.lists(many, min_size=1, max_size=2),
        on=st.none() | days,
        value=st.sampled_from(sorted(VALUES)),
        bob=st.booleans(),
    )
    def a_wild_statement(
        self, *, key: str, own: bool, season: str, which: list[int], on: int | None, value: str, bob: bool
    ) -> None:
        place = Place("" if own else PROJECT, key, season)
        sources = [one for one in self.model.happenings.values() if one.space in (place.space, PROJECT)]
        names = tuple(dict.fromkeys(sources[one % len(sources)].name for one in which))
        self.model.disturb(place)
        self.state(place, value, "bob" if bob and place.space else "alice", None if on is None else day(on), names)

    def state(self, place: Place, value: str, who: str, start: datetime | None, names: tuple[str, ...]) -> bool:
        allowed = self.model.may_state(place, names)
        respelled = next(self.names) % 3 == 0
        text = f"The {place.key} is {value}."
        documents = tuple(public_id("evd", self.model.happenings[name].key) for name in names if name.startswith("doc"))
        outcome = propose(
            self.access[who],
            Proposal(
                candidate_id=f"cand-{next(self.names)}",
                scope="project" if place.space else "user",
                scope_id=place.space or None,
                memory_type=MemoryType.FACT,
                fact_key=place.key,
                content=f" {text.upper()} " if respelled else text,
                conditions={"season": place.season} if place.season else {},
                epistemic_status=EpistemicStatus.EXPLICIT,
                source_event_ids=tuple(name for name in names if name.startswith("evt")),
                evidence_refs=documents,
                valid_from=start,
            ),
        ).outcome
        if not allowed:
            assert outcome.status == "rejected", (place, names, outcome)
            assert "revoked" in outcome.reasons, outcome
            self.expect_revision(moved=False)
            return False
        assert outcome.status in ("committed", "no_op", "conflict"), (place, names, outcome)
        self.expect_revision(moved=outcome.status != "no_op")
        return True

    def expect_revision(self, *, moved: bool | None) -> None:
        now = protocol_rows.revision(self.world)
        if moved is None:
            assert now >= self.revision
        else:
            assert (now > self.revision) == moved, (self.revision, now)
        self.revision = now
