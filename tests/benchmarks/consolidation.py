"""How fast one worker turns events into memories, against bare INSERT statements of the same rows; and writers at one moment."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from django.db import connection

from apps.core.errors import DomainError, VersionConflict
from apps.core.ids import new_id
from apps.core.isolation import system_context
from apps.evidence.drafts import Draft
from apps.evidence.ingestion import accept_events
from apps.jobs.runner import drain
from apps.memories.candidates import propose, propose_all
from apps.memories.models import Candidate, EpistemicStatus, Memory, MemoryType, MemoryVersion
from apps.memories.proposals import Proposal
from apps.memories.revision import Change, revise_memory
from apps.tenants.authentication import authenticate

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID


_AT_ONCE = 500
_IN_ONE_COMMIT = 50  # as many events as the worker takes at once
WRITERS = 32
# What one event leaves behind, parents first, and how its rows are known.
_WRITTEN = (
    ("evidence_content", "c.id IN (SELECT content_id FROM memories_memoryversion WHERE memory_id = ANY(%(memories)s))"),
    ("memories_memory", "c.id = ANY(%(memories)s)"),
    ("memories_memoryversion", "c.memory_id = ANY(%(memories)s)"),
    ("memories_candidate", "c.memory_id = ANY(%(memories)s)"),
    ("memories_evidencelink", "c.memory_id = ANY(%(memories)s)"),
    (
        "evidence_evidence",
        "c.id IN (SELECT evidence_id FROM memories_evidencelink WHERE memory_id = ANY(%(memories)s))",
    ),
    ("retrieval_posting", "c.memory_id = ANY(%(memories)s)"),
    ("jobs_outbox", "c.object_id = ANY(%(memories)s)"),
)


@dataclass(frozen=True, slots=True)
class Rate:
    """Candidates that were committed, in how much time, and of how much processor time of this process."""

    candidates: int
    seconds: float
    cpu: float

    @property
    def per_second(self) -> float:
        return self.candidates / self.seconds


@dataclass(frozen=True, slots=True)
class Race:
    """Writers that began at one moment: how long until the last one was through, and how often one had to read again."""

    writes: int
    seconds: float
    retries: int

    @property
    def per_second(self) -> float:
        return self.writes / self.seconds


def worker(token: str, events: int) -> tuple[Rate, list[UUID]]:
    """Send events that say one new thing each, and time one worker on them; also the memories that came of it."""
    access, run = authenticate(token), new_id().hex
    drain(kinds={"extract"})
    for start in range(0, events, _AT_ONCE):
        drafts = [
            Draft(
                event_id=f"bench-{run}-{number}",
                scope="user",
                source_type="user_message",
                occurred_at=datetime.now(UTC),
                content=f"I like {_thing(run, number)}.",
            )
            for number in range(start, min(start + _AT_ONCE, events))
        ]
        refused = [one for one in accept_events(access, drafts) if isinstance(one, DomainError)]
        assert not refused, refused[:1]
    begun, cpu = time.perf_counter(), time.process_time()
    drain(kinds={"extract"})
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    with system_context():
        made = Candidate.objects.filter(event__event_id__startswith=f"bench-{run}-", status=Candidate.Status.COMMITTED)
        memories = list(made.order_by("id").values_list("memory_id", flat=True))
    assert len(memories) == events, (len(memories), events)
    return Rate(events, seconds, cpu), [key for key in memories if key is not None]


def requests(token: str, count: int, *, together: int) -> Rate:
    """The same in the request: proposals one by one, or some in one call."""
    access, run = authenticate(token), new_id().hex
    said = [_proposal(run, number, f"{run}.{number}") for number in range(count)]
    begun, cpu = time.perf_counter(), time.process_time()
    for start in range(0, count, together):
        done = propose_all(access, said[start : start + together])
        assert not [one for one in done if isinstance(one, DomainError) or one.outcome.status != "committed"]
    return Rate(count, time.perf_counter() - begun, time.process_time() - cpu)


def bare_inserts(memories: list[UUID]) -> float:
    """Seconds for INSERT of the same rows into copies of the tables with the same indexes, one commit for as many memories."""
    groups = [memories[start : start + _IN_ONE_COMMIT] for start in range(0, len(memories), _IN_ONE_COMMIT)]
    with system_context(), connection.cursor() as cursor:
        kept = []
        for group in groups:
            rows = []
            for table, whose in _WRITTEN:
                cursor.execute(
                    f"SELECT coalesce(json_agg(c), '[]'::json)::text FROM {table} c WHERE {whose}", {"memories": group}
                )
                rows.append(cursor.fetchone()[0])
            kept.append(rows)
        for table, _ in _WRITTEN:
            cursor.execute(f"DROP TABLE IF EXISTS bench_{table}")
            cursor.execute(f"CREATE TABLE bench_{table} (LIKE {table} INCLUDING DEFAULTS INCLUDING INDEXES)")
    begun = time.perf_counter()
    for rows in kept:
        with system_context(), connection.cursor() as cursor:
            for (table, _), given in zip(_WRITTEN, rows, strict=True):
                cursor.execute(
                    f"INSERT INTO bench_{table} SELECT * FROM json_populate_recordset(NULL::bench_{table}, %s::json)", [given]
                )
    seconds = time.perf_counter() - begun
    with system_context(), connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {', '.join(f'bench_{table}' for table, _ in _WRITTEN)}")
    return seconds


def patches_of_one(token: str) -> Race:
    """Writers revise one memory; who comes late reads the version he is told and tries again, until each has his own."""
    access, run = authenticate(token), new_id().hex
    made = propose(access, _proposal(run, 0, run)).outcome.memory_id
    assert made is not None

    def patiently(number: int) -> int:
        version, late = 1, 0
        while True:
            try:
                change = Change(content=f"Bench {run} {number}")
                revise_memory(access, made, expected_version=version, change=change, reason="bench")
            except VersionConflict as refused:
                version, late = refused.current_version, late + 1
            else:
                return late
            finally:
                connection.close()

    seconds, retries = _together([lambda n=n: patiently(n) for n in range(WRITERS)])  # type: ignore[misc]
    with system_context():
        memory = Memory.objects.get(fact_key=f"bench.{run}")
        assert (memory.version, MemoryVersion.objects.filter(memory=memory).count()) == (WRITERS + 1, WRITERS + 1)
    return Race(WRITERS, seconds, sum(retries))


def writers_of_one_key(token: str) -> Race:
    """Writers state one new fact, each since another day: one line comes of it, and nobody has to try again."""
    access, run = authenticate(token), new_id().hex

    def state(number: int) -> int:
        try:
            assert propose(access, _proposal(run, number, run)).outcome.status == "committed"
        finally:
            connection.close()
        return 0

    seconds, retries = _together([lambda n=n: state(n) for n in range(WRITERS)])  # type: ignore[misc]
    with system_context():
        memory = Memory.objects.get(fact_key=f"bench.{run}")
        assert MemoryVersion.objects.filter(memory=memory).count() == WRITERS
    return Race(WRITERS, seconds, sum(retries))


def _together(actions: list[Callable[[], int]]) -> tuple[float, list[int]]:
    start = threading.Barrier(len(actions) + 1)

    def run(action: Callable[[], int]) -> int:
        start.wait(30)
        return action()

    with ThreadPoolExecutor(len(actions)) as pool:
        waiting = [pool.submit(run, action) for action in actions]
        start.wait(30)
        begun = time.perf_counter()
        done = [one.result(120) for one in waiting]
    return time.perf_counter() - begun, done


def _proposal(run: str, number: int, key: str) -> Proposal:
    return Proposal(
        candidate_id=f"bench-{run}-{number}",
        scope="user",
        memory_type=MemoryType.FACT,
        fact_key=f"bench.{key}",
        content=f"Bench {run} says {_thing(run, number)}.",
        epistemic_status=EpistemicStatus.EXPLICIT,
        valid_from=datetime(2026, 1, 1 + number % 28, number // 28 % 24, tzinfo=UTC),
    )


def _thing(run: str, number: int) -> str:
    """Something that nobody has said anything of yet, in letters only."""
    return "".join(chr(ord("a") + int(digit, 16)) for digit in f"{run[-12:]}{number:05x}")
