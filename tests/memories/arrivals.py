"""Statements for the merge table in two languages, saying them through the verbs, and the state that they leave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from typing import Any
from uuid import UUID

from apps.core.errors import DomainError
from apps.core.ids import new_id, public_id
from apps.evidence.models import Evidence, SourceEvent
from apps.memories.candidates import CandidateOutcome, propose, propose_all
from apps.memories.lines import is_corrected, load
from apps.memories.models import ConflictSet, Memory
from apps.memories.proposals import Proposal
from apps.memories.sources import roots_of
from tests.memories.lines_model import DAY_ZERO, Spans, joined
from tests.memories.sayings import Memories, proposal

LANGUAGES = ("en", "zh")
VALUES = {
    "eight": {"en": "The gate opens at eight.", "zh": "大门八点开。"},
    "nine": {"en": "The gate opens at nine.", "zh": "大门九点开。"},
    "ten": {"en": "The gate opens at ten.", "zh": "大门十点开。"},
    "noon": {"en": "The gate opens at noon.", "zh": "大门中午开。"},
}
# Another spelling of the same proposition.
RESPELLED = {"en": lambda text: f"  {text.upper()} ".replace(" AT ", "  at "), "zh": lambda text: f" {text} "}
STRONG, WEAK = "user_message", "web_page"


@dataclass(frozen=True)
class Said:
    """One statement: a value from a day on (None: nobody says since when), by whom and on what ground.

    ``source`` numbers independent origins; statements with one number rest on the same one. ``retold``: on a retelling of it.
    """

    value: str
    day: int | None
    source: int
    who: str = "alice"
    ground: str = STRONG
    respelled: bool = False
    retold: bool = False
    conditions: tuple[tuple[str, str], ...] = ()
    until: int | None = None


def instant(number: int) -> datetime:
    return DAY_ZERO + timedelta(days=number)


class Speaker:
    """Says statements about one key in a shared project, each in one language."""

    def __init__(self, memories: Memories, language: str, key: str) -> None:
        self.memories = memories
        self.language = language
        self.key = key
        self._sources: dict[Any, str] = {}
        self.roots: dict[int, UUID] = {}

    def say(self, said: Said) -> CandidateOutcome:
        return propose(self.memories.world.access(said.who), self._proposal(said)).outcome

    def say_together(self, many: Sequence[Said]) -> None:
        """What one subject says in a row goes in one request, and is compared with itself there."""
        for who, said in groupby(many, key=lambda one: one.who):
            done = propose_all(self.memories.world.access(who), [self._proposal(one) for one in said])
            assert not [one for one in done if isinstance(one, DomainError)]

    def _proposal(self, said: Said) -> Proposal:
        text = VALUES[said.value][self.language]
        return proposal(
            RESPELLED[self.language](text) if said.respelled else text,
            project="kiosk",
            fact_key=self.key,
            conditions=dict(said.conditions),
            valid_from=None if said.day is None else instant(said.day),
            valid_to=None if said.until is None else instant(said.until),
            **self._named(said),
        )

    def _named(self, said: Said) -> dict[str, Any]:
        if said.day is None:  # whatever has a time would give it one
            return {"source_event_ids": (), "evidence_refs": (self._document(said.source),)}
        return {"source_event_ids": (self._event(said),)}

    def _document(self, source: int) -> str:
        if source not in self._sources:
            with self.memories.world.inside():
                row = Evidence.objects.create(
                    id=new_id(),
                    tenant_id=self.memories.world.tenant_id,
                    namespace_id=self.memories.world.namespace("project", "kiosk").id,
                    kind=Evidence.Kind.DOCUMENT,
                    fidelity=Evidence.Fidelity.VISIBLE_TRANSCRIPT,
                )
            self._sources[source] = public_id("evd", row.id)
            self.roots[source] = row.id
        return self._sources[source]

    def _event(self, said: Said) -> str:
        if said.source not in self._sources:
            self._sources[said.source] = self.memories.event(project="kiosk", who=said.who, source_type=said.ground)
            with self.memories.world.inside():
                self.roots[said.source] = SourceEvent.objects.get(event_id=self._sources[said.source]).id
        first = self._sources[said.source]
        if not said.retold:
            return first
        return self.memories.event(project="kiosk", who=said.who, source_type="assistant_message", derived_from=(first,))


@dataclass(frozen=True)
class State:
    """What stands under a key: when each value holds, on which independent origins, and which values are current."""

    spans: Spans
    roots: dict[tuple[str, datetime | None], frozenset[UUID]]
    current: frozenset[str]
    disputed: bool


def state_of(memories: Memories, speaker: Speaker, *, conditions_hash: str | None = None) -> State:
    """Read from the rows, and what has to be true of them in any case asserted on the way."""
    back = {RESPELLED[speaker.language](text[speaker.language]): value for value, text in VALUES.items()}
    back |= {text[speaker.language]: value for value, text in VALUES.items()}
    world = memories.world
    with world.inside():
        rows = Memory.objects.filter(fact_key=speaker.key)
        if conditions_hash is not None:
            rows = rows.filter(conditions_hash=conditions_hash)
        rivals = load(world.tenant_id, list(rows.order_by("id")))
        parts: dict[str, list] = defaultdict(list)
        roots: dict[str, list] = defaultdict(list)
        for rival in rivals:
            check_line(rival)
            for version in rival.versions.values():
                if is_corrected(rival.memory, version):
                    continue
                value = back[version.content.text]
                start = version.valid_from if version.effective else None
                parts[value].append((start, version.valid_to))
                roots[value].append((start, roots_of(rival.links[version.version])))
        heads = [rival for rival in rivals if rival.memory.state == Memory.State.ACTIVE]
        open_sets = ConflictSet.objects.filter(fact_key=speaker.key, status="open").count()
        current = frozenset(back[rival.head.content.text] for rival in heads)
        if conditions_hash is not None:
            disputed = len(heads) > 1
            assert open_sets == disputed
            assert all((rival.memory.conflict_set_id is not None) == disputed for rival in heads)
    held = {value: joined(found) for value, found in parts.items()}
    return State(held, gathered(held, roots), current, len(current) > 1)


def check_line(rival: Any) -> None:
    """One value at a time, and every version knows how many independent origins it has."""
    live = rival.live
    for before, after in pairwise(live):
        assert before.valid_to is not None, (before.version, after.version)
        assert before.valid_to <= after.valid_from
    assert live[-1].version == rival.memory.version
    for number, version in rival.versions.items():
        assert version.independent_evidence_count == len(roots_of(rival.links[number]))


def gathered(held: Spans, roots: dict[str, Iterable[tuple[datetime | None, frozenset[UUID]]]]) -> dict[Any, frozenset[UUID]]:
    """The origins of each value by the interval in which they speak."""
    found: dict[tuple[str, datetime | None], frozenset[UUID]] = defaultdict(frozenset)
    for value, pieces in roots.items():
        for start, own in pieces:
            place = next(
                first
                for first, last in held[value]
                if (first is None and start is None)
                or (first is not None and start is not None and first <= start and (last is None or start <= last))
            )
            found[value, place] |= own
    return dict(found)
