"""What the database says after some steps of the machine in test_write_protocol.py, and what must be true of it at any time."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from apps.memories.proposals import conditions_hash
from tests.memories.arrivals import gathered
from tests.memories.lines_model import joined
from tests.memories.protocol_model import Model, Place
from tests.tenants.world import World

SEASONS = {conditions_hash({}): "", conditions_hash({"season": "summer"}): "summer"}
HEADS = ("active", "needs_review")


class MemoryRow(NamedTuple):
    id: UUID
    namespace_id: UUID
    fact_key: str
    conditions_hash: str
    state: str
    version: int
    last_version: int
    conflict_set_id: UUID | None
    head_id: UUID | None
    created_for_id: UUID | None


class VersionRow(NamedTuple):
    id: UUID
    memory_id: UUID
    version: int
    text: str | None
    valid_from: datetime
    valid_to: datetime | None
    effective: bool
    retired_revision: int | None
    count: int
    revision: int
    digest: str  # of all that never changes


class JobRow(NamedTuple):
    event: str
    state: str
    attempts: int


_MEMORIES = """SELECT id, namespace_id, fact_key, conditions_hash, state, version, last_version, conflict_set_id, head_id,
    created_for_id FROM memories_memory WHERE tenant_id = %s ORDER BY id"""
_VERSIONS = """SELECT v.id, v.memory_id, v.version, c.text, v.valid_from, v.valid_to, v.effective, v.retired_revision,
    v.independent_evidence_count, v.revision, md5((to_jsonb(v) - '{valid_to,retired_revision,independent_evidence_count}'::text[])::text)
    FROM memories_memoryversion v LEFT JOIN evidence_content c ON c.id = v.content_id WHERE v.tenant_id = %s
    ORDER BY v.memory_id, v.version"""
_LINKS = """SELECT l.version_id, l.memory_id, coalesce(e.event_id, e.id) FROM memories_evidencelink l
    JOIN evidence_evidence e ON e.id = l.evidence_id WHERE l.tenant_id = %s"""
_SETS = "SELECT id FROM memories_conflictset WHERE tenant_id = %s AND status = 'open'"
_POSTINGS = "SELECT DISTINCT memory_id, version, layer & 1 FROM retrieval_posting WHERE tenant_id = %s"
_JOBS = """SELECT e.event_id, j.state, j.attempts FROM jobs_processingjob j JOIN evidence_sourceevent e
    ON e.tenant_id = j.tenant_id AND e.id = (j.payload->>'event')::uuid WHERE j.tenant_id = %s AND j.kind = 'extract'"""
_FOUND = """SELECT e.event_id, count(*) FROM memories_candidate c JOIN evidence_sourceevent e ON e.id = c.event_id
    WHERE c.tenant_id = %s GROUP BY e.event_id"""
_WAITING = """SELECT DISTINCT e.event_id FROM memories_candidate c JOIN evidence_sourceevent e ON e.id = ANY(c.source_events)
    WHERE c.tenant_id = %s AND c.status = 'pending_review'"""
_REVISION = "SELECT revision FROM tenants_tenant WHERE id = %s"


@dataclass
class Rows:
    """One look at everything that a tenant remembers."""

    memories: dict[UUID, MemoryRow]
    versions: dict[UUID, list[VersionRow]]
    links: dict[UUID, list[UUID]]
    open_sets: set[UUID]
    postings: dict[UUID, dict[int, set[int]]]
    jobs: dict[str, JobRow]
    found: dict[str, int]
    waiting: set[str]

    def live(self, memory: MemoryRow) -> list[VersionRow]:
        kept = [one for one in self.versions[memory.id] if one.text is not None and not is_corrected(memory, one)]
        return sorted(kept, key=lambda one: (one.valid_from, one.version))


def is_corrected(memory: MemoryRow, version: VersionRow) -> bool:
    return version.version != memory.version and version.valid_to == version.valid_from


def value_of(text: str | None) -> str:
    """What a statement of the machine says: its last word, however it is spelled."""
    return str(text).strip().rsplit(" ", 1)[-1].strip(".").lower()


def ask(world: World, statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, [world.tenant_id])
        return cursor.fetchall()


def revision(world: World) -> int:
    with world.inside():
        return int(ask(world, _REVISION)[0][0])


def memories(world: World) -> list[MemoryRow]:
    with world.inside():
        return [MemoryRow(*row) for row in ask(world, _MEMORIES)]


def events_of(world: World, memory_id: UUID) -> set[UUID]:
    with world.inside():
        return {row[2] for row in ask(world, _LINKS) if row[1] == memory_id}


def jobs(world: World) -> dict[str, JobRow]:
    with world.inside():
        return {row[0]: JobRow(*row) for row in ask(world, _JOBS)}


def read(world: World) -> Rows:
    with world.inside():
        versions = defaultdict(list)
        for row in ask(world, _VERSIONS):
            versions[row[1]].append(VersionRow(*row))
        links = defaultdict(list)
        for version_id, _, source in ask(world, _LINKS):
            links[version_id].append(source)
        postings: dict[UUID, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        for memory_id, version, era in ask(world, _POSTINGS):
            postings[memory_id][version].add(era)
        return Rows(
            {row[0]: MemoryRow(*row) for row in ask(world, _MEMORIES)},
            versions,
            links,
            {row[0] for row in ask(world, _SETS)},
            postings,
            {row[0]: JobRow(*row) for row in ask(world, _JOBS)},
            dict(ask(world, _FOUND)),
            {row[0] for row in ask(world, _WAITING)},
        )


@dataclass
class Watch:
    """Compares each look with the one before, and with the model."""

    world: World
    model: Model
    spaces: dict[UUID, str]
    settled: bool = True  # no deletion waits to be worked off
    _seen: dict[UUID, VersionRow] = field(default_factory=dict)

    def look(self) -> None:
        rows = read(self.world)
        self.one_head(rows)
        self.numbers(rows)
        self.append_only(rows)
        self.evidence(rows)
        self.index(rows)
        self.work(rows)
        self.patches(rows)
        self.statements(rows)

    def one_head(self, rows: Rows) -> None:
        """At most one exclusive current value per key and conditions; several are one open conflict."""
        heads: dict[tuple[UUID, str, str], list[MemoryRow]] = defaultdict(list)
        for memory in rows.memories.values():
            if memory.state in HEADS:
                heads[memory.namespace_id, memory.fact_key, memory.conditions_hash].append(memory)
            else:
                assert memory.conflict_set_id is None, memory
        members: Counter[UUID] = Counter()
        for place, found in heads.items():
            sets = {one.conflict_set_id for one in found}
            assert len(sets) == 1, (place, found)
            (only,) = sets
            assert (only is None) == (len(found) == 1), (place, found)
            if only is not None:
                members[only] += len(found)
        assert set(members) == rows.open_sets

    def numbers(self, rows: Rows) -> None:
        """Versions are numbered without a gap; the head is one of them; one line has one value at a time."""
        for memory in rows.memories.values():
            versions = rows.versions[memory.id]
            assert [one.version for one in versions] == list(range(1, memory.last_version + 1)), memory
            if memory.state == "revoked":
                continue
            head = next(one for one in versions if one.version == memory.version)
            assert memory.head_id == head.id
            assert head.text is not None, memory
            live = rows.live(memory)
            for before, after in pairwise(live):
                assert before.valid_to is not None, (memory, before, after)
                assert before.valid_to <= after.valid_from, (memory, before, after)
            for one in versions:
                retired = one.version != memory.version
                if one.text is not None and retired:
                    assert one.retired_revision is not None, (memory, one)

    def append_only(self, rows: Rows) -> None:
        """Nothing in a written version changes but its end and what is counted; a deletion takes the text and leaves the row."""
        now = {one.id: one for versions in rows.versions.values() for one in versions}
        assert self._seen.keys() <= now.keys()
        for key, before in self._seen.items():
            after = now[key]
            if after.text is None and before.text is not None:
                assert self.model.deletions, after
                continue
            assert (before.digest, before.text) == (after.digest, after.text) or after.text is None, (before, after)
            assert before.valid_to is None or after.valid_to is not None, (before, after)
            assert before.retired_revision in (None, after.retired_revision), (before, after)
        self._seen = now

    def evidence(self, rows: Rows) -> None:
        """Nothing that may be read rests on what is gone, and independent origins are counted once."""
        names = {one.key: one for one in self.model.happenings.values()}
        for memory in rows.memories.values():
            if memory.state == "revoked":
                continue
            for version in rows.versions[memory.id]:
                linked = [names[key] for key in rows.links[version.id]]
                assert not [one for one in linked if one.gone], (memory, version)
                if version.text is None:
                    assert not linked, version
                    continue
                origins = {root for one in linked for root in self.model.origins(one.name)}
                assert version.count == len(origins), (memory, version, origins)
        assert not [name for name in rows.waiting if self.model.happenings[name].gone]

    def index(self, rows: Rows) -> None:
        """The postings are those of the versions that hold or held, the head among the current ones."""
        for memory in rows.memories.values():
            indexed = rows.postings.get(memory.id, {})
            if memory.state == "revoked":
                assert not (self.settled and indexed), memory
                continue
            assert set(indexed) == {one.version for one in rows.live(memory)}, (memory, indexed)
            for number, eras in indexed.items():
                assert len(eras) == 1
                if memory.state not in HEADS:
                    assert eras == {1}
                elif number == memory.version:
                    assert eras == {0}

    def work(self, rows: Rows) -> None:
        """Attempts are counted before the work, and the effect of a job that is done is there once."""
        for name, job in rows.jobs.items():
            one = self.model.happenings[name]
            assert job.attempts == one.crashes + (job.state == "done"), (job, one)
            there = rows.found.get(name, 0)
            if one.gone:
                assert there in (0, one.says)
            else:
                assert there == (one.says if job.state == "done" else 0), (job, one, there)

    def patches(self, rows: Rows) -> None:
        """Every accepted change is a version, with what it said."""
        texts = {(str(memory), one.version): one.text for memory, found in rows.versions.items() for one in found}
        for place, said in self.model.patches.items():
            assert texts[place] in (said, None), place

    def statements(self, rows: Rows) -> None:
        """Where nothing but statements happened, all follows from them, whatever came first."""
        names = {one.key: one.name for one in self.model.happenings.values()}
        found: dict[Place, list[MemoryRow]] = defaultdict(list)
        for memory in rows.memories.values():
            if memory.state not in ("revoked", "withdrawn"):
                place = Place(self.spaces[memory.namespace_id], memory.fact_key, SEASONS.get(memory.conditions_hash, "?"))
                found[place].append(memory)
        for place, book in self.model.books.items():
            if not book.plain:
                if place not in found:
                    self.model.begin_anew(place)
                continue
            parts: dict[str, list[Any]] = defaultdict(list)
            roots: dict[str, list[Any]] = defaultdict(list)
            for memory in found[place]:
                for version in rows.live(memory):
                    value = value_of(version.text)
                    start = version.valid_from if version.effective else None
                    own = {root for key in rows.links[version.id] for root in self.model.origins(names[key])}
                    parts[value].append((start, version.valid_to))
                    roots[value].append((start, frozenset(self.model.happenings[root].key for root in own)))
            spans = {value: joined(pieces) for value, pieces in parts.items()}
            assert spans == book.spans, (place, spans, book)
            said: dict[str, list[Any]] = defaultdict(list)
            for claim in book.claims:
                said[claim.proposition].append((claim.effective_at, claim.roots))
            assert gathered(spans, roots) == gathered(spans, said), (place, book)
            heads = [memory for memory in found[place] if memory.state in HEADS]
            current = {
                value_of(one.text) for memory in heads for one in rows.versions[memory.id] if one.version == memory.version
            }
            assert current == book.current, (place, current, book)
