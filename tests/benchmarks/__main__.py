"""``make bench``: prints the table of docs/benchmarks.md. ``ARGS='--scope 10000 --foreign 0'`` makes it quick."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
HOME = ROOT / "var" / "bench"

PROVISION = """
tenants:
  - key: bench
    projects: [{key: wide, name: Wide}, {key: other, name: Other}]
    subjects: [{key: reader, projects: [wide]}, {key: writer, projects: [wide]}, {key: LEAVER, projects: []}]
    agents:
      - key: agent
        credentials:
          - {name: reader, subject: reader, projects: [wide], operations: ["memory:read", "traces:read"]}
          - {name: writer, subject: writer, projects: [wide], operations: ["events:write", "candidates:write", "memory:read", "memory:write"]}
          - {name: LEAVER, subject: LEAVER, operations: ["memory:read", "memory:write", "memory:delete"]}
"""
LEAVER = f"leaver-{int(time.time())}"  # somebody new in each run: what was erased leaves its ids behind


@dataclass
class Table:
    """Rows of what was measured, its bound, and the ratio to the honest other side."""

    rows: list[tuple[str, str, str, str]] = field(default_factory=list)

    def add(self, what: str, figure: str, bound: str = "", ratio: str = "") -> None:
        self.rows.append((what, figure, bound, ratio))
        sys.stdout.write(f"{what:<58} {figure:<36} {bound:<22} {ratio}\n")
        sys.stdout.flush()

    def markdown(self) -> str:
        lines = ["| what | measured | bound | ratio in the same run |", "| --- | --- | --- | --- |"]
        return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in self.rows)])


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description="Benchmarks of whole processes over real HTTP.")
    parser.add_argument("--scope", type=int, default=50_000, help="memories in the caller's own scope")
    parser.add_argument("--foreign", type=int, default=1_000_000, help="memories that are added in a namespace out of reach")
    parser.add_argument(
        "--events", type=int, default=10_000, help="events of the person who is forgotten, with a fifth as many memories"
    )
    parser.add_argument("--many-events", type=int, default=100_000, help="events of one who is forgotten while others ask")
    parser.add_argument("--candidates", type=int, default=2_000, help="events that one worker turns into memories")
    parser.add_argument("--calls", type=int, default=600, help="queries per figure")
    parser.add_argument("--markdown", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    os.environ["MEMORY_PLATFORM_HOME"] = str(HOME)
    os.environ["DJANGO_SETTINGS_MODULE"] = "memory_platform.settings"
    table = Table()
    with ExitStack() as stack:
        from memory_platform.commands import database_running

        stack.enter_context(database_running())
        import django

        django.setup()
        _run(options, table)
    if options.markdown:
        options.markdown.write_text(table.markdown() + "\n", encoding="utf-8")


def _run(options: argparse.Namespace, table: Table) -> None:
    from apps.tenants.provisioning import provision
    from memory_platform.schema import ensure_schema
    from tests.benchmarks import world

    table.add("yardstick of this machine: ten million additions in Python", f"{_yardstick():.2f} s")
    ensure_schema()
    tokens = _tokens(provision(PROVISION.replace("LEAVER", LEAVER)))
    if renewed := world.renew("bench"):
        table.add("index rebuilt, made by another text analysis", f"{renewed} namespaces")
    own = world.place_of("bench", "user", "reader")
    begun = time.perf_counter()
    texts = world.fill(own, options.scope, seed=1)
    world.analyse()
    table.add("data maker", f"{options.scope:,} memories in {time.perf_counter() - begun:.1f} s")
    _start_up(table)
    before = _queries(options, table, tokens["reader"], texts, own.tenant_id, f"{options.scope:,} in scope")
    _ingest(table, tokens["writer"], world.place_of("bench", "project", "wide"))
    _consolidation(options, table, tokens["writer"])
    _erasure(options, table, tokens, texts)
    if options.foreign:
        begun = time.perf_counter()
        world.fill(world.place_of("bench", "project", "other"), options.foreign, seed=2)
        world.analyse()
        table.add("data maker, foreign", f"{options.foreign:,} memories in {time.perf_counter() - begun:.1f} s")
        after = _queries(options, table, tokens["reader"], texts, own.tenant_id, f"and {options.foreign:,} foreign")
        table.add("foreign memories change the query's p50 by", f"{after / before:.2f} ×", "≤ 1.2 ×")


def _yardstick() -> float:
    """Seconds of processor time for a fixed piece of plain Python, to compare machines and busy hours with."""
    best = float("inf")
    for _ in range(3):
        start, total = time.process_time(), 0
        for number in range(10_000_000):
            total += number
        best = min(best, time.process_time() - start)
    return best


def _tokens(result: Any) -> dict[str, str]:
    """Secrets of the two callers: printed once by provisioning, so they are kept beside the data they belong to."""
    kept = HOME / "tokens.json"
    made = result["bench"].credentials
    found: dict[str, str] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    if made:
        found |= {name.rpartition("/")[2]: secret for name, secret in made.items()}
        kept.touch(mode=0o600)
        kept.write_text(json.dumps(found), encoding="utf-8")
    return found


def _start_up(table: Table) -> None:
    from tests.benchmarks.processes import memory_of, served

    with served(HOME) as copy:
        table.add("start-up to ready (database already up)", f"{copy.seconds:.1f} s", "≤ 15 s")
        time.sleep(5)
        table.add("web process at rest", f"{memory_of(copy.pid, 'gunicorn'):.0f} MiB", "≤ 250 MiB")
        table.add("worker at rest", f"{memory_of(copy.pid, 'manage.py worker'):.0f} MiB", "≤ 250 MiB")


def _queries(options: argparse.Namespace, table: Table, token: str, texts: list[str], tenant_id: Any, name: str) -> float:
    from tests.benchmarks import bare
    from tests.benchmarks.client import Caller, timed, together
    from tests.benchmarks.processes import served
    from tests.benchmarks.words import Speaker

    speaker = Speaker(7)
    chooser = random.Random(7)
    bodies = [{"question": speaker.question(chooser.choice(texts))} for _ in range(options.calls)]
    with served(HOME, "--no-worker") as copy:
        caller = Caller(copy.address, token)
        for body in bodies[:50]:
            caller.post("/memory-query", body)
        one = timed([lambda body=body: caller.post("/memory-query", body) for body in bodies])
        groups = _recorded(token, bodies[:100])
        lanes = bare.replayed(tenant_id, [bare.lanes_of(group) for group in groups] * 3)
        reads = bare.replayed(tenant_id, [bare.reads_of(group) for group in groups] * 3)
        table.add(
            f"query, 1 client, {name}",
            f"p50 {one.p50:.1f} p95 {one.p95:.1f} p99 {one.p99:.1f} ms",
            "p50 ≤ 15 ms, ≤ 3 × lanes",
            f"{one.p50 / lanes.p50:.1f} × its lanes ({lanes.p50:.1f} ms), {one.p50 / reads.p50:.1f} × all its reads ({reads.p50:.1f} ms)",
        )
        for clients in (4, 16):
            many = together([Caller(copy.address, token) for _ in range(clients)], "/memory-query", bodies)
            table.add(
                f"query, {clients} clients, {name}",
                f"p50 {many.p50:.1f} p95 {many.p95:.1f} p99 {many.p99:.1f} ms, {many.per_second:.0f}/s",
            )
    return one.p50


def _recorded(token: str, bodies: list[dict[str, Any]]) -> list[list[tuple[str, Any]]]:
    """The statements of each query, caught while it runs in this process."""
    from apps.retrieval.api.bodies import QueryIn
    from apps.retrieval.pipeline import answer_query
    from apps.tenants.authentication import authenticate
    from tests.benchmarks.bare import recorded

    access = authenticate(token)
    groups = []
    for body in bodies:
        with recorded() as statements:
            answer_query(access, QueryIn.of(body).question_asked())
        groups.append(statements)
    return groups


def _ingest(table: Table, token: str, place: Any) -> None:
    from apps.core.canonical import sha256_hex
    from apps.core.ids import new_id
    from tests.benchmarks.bare import copied_events
    from tests.benchmarks.client import Caller, timed
    from tests.benchmarks.processes import served
    from tests.benchmarks.words import Speaker

    speaker = Speaker(11)
    at = "2026-01-01T10:00:00Z"

    def event() -> dict[str, Any]:
        return {
            "event_id": f"bench-{new_id()}",
            "scope": "user",
            "source_type": "user_message",
            "occurred_at": at,
            "content": speaker.text(),
        }

    with served(HOME, "--no-worker") as copy:
        caller = Caller(copy.address, token)
        for _ in range(20):
            caller.post("/memory-events", event())
        single = timed([lambda: caller.post("/memory-events", event())] * 300)
        batches = [[event() for _ in range(500)] for _ in range(12)]
        caller.post("/memory-events/batch", {"events": [event() for _ in range(500)]})
        batch = timed([lambda b=b: caller.post("/memory-events/batch", {"events": b}) for b in batches])
    rows = [
        [
            {
                "id": new_id(),
                "tenant": place.tenant_id,
                "namespace": place.namespace_id,
                "text": one["content"],
                "sha256": sha256_hex(one["content"]),
                "event_id": one["event_id"],
                "at": at,
            }
            for one in events
        ]
        for events in batches
    ]
    alone = copied_events([[row] for row in rows[0][:200]])
    copied = copied_events(rows[1:])
    table.add(
        "single event",
        f"p50 {single.p50:.1f} p95 {single.p95:.1f} p99 {single.p99:.1f} ms",
        "p50 ≤ 8 ms",
        f"{single.p50 / alone.p50:.1f} × COPY of text and envelope with its own commit ({alone.p50:.1f} ms)",
    )
    table.add(
        "batch ingest, 500 events a batch",
        f"{500 * batch.per_second:.0f} events/s",
        "≥ 1 000 events/s",
        f"{batch.p50 / copied.p50:.1f} × COPY of text and envelope ({500 * copied.per_second:.0f}/s)",
    )


def _consolidation(options: argparse.Namespace, table: Table, token: str) -> None:
    from tests.benchmarks import consolidation

    rate, memories = consolidation.worker(token, options.candidates)
    bare = rate.candidates / consolidation.bare_inserts(memories)
    table.add(
        "consolidation, one worker, events to memories",
        f"{rate.per_second:.0f} candidates/s, {1000 * rate.cpu / rate.candidates:.1f} ms of processor each",
        "≥ 300 candidates/s",
        f"{bare / rate.per_second:.1f} × INSERT of the same rows ({bare:.0f}/s)",
    )
    for together in (1, 20):
        asked = consolidation.requests(token, min(options.candidates, 400), together=together)
        table.add(
            f"consolidation in the request, {together} a call",
            f"{asked.per_second:.0f} candidates/s, {1000 * asked.cpu / asked.candidates:.1f} ms of processor each",
        )
    for name, race in (
        ("threads revise one memory until each has its version", consolidation.patches_of_one(token)),
        ("threads state one new key, no two since the same day", consolidation.writers_of_one_key(token)),
    ):
        table.add(
            f"{race.writes} {name}",
            f"{race.seconds:.1f} s, {race.per_second:.0f} writes/s, {race.retries} read again",
            "none lost",
        )


def _erasure(options: argparse.Namespace, table: Table, tokens: dict[str, str], texts: list[str]) -> None:
    from tests.benchmarks import erasure, world
    from tests.benchmarks.client import Caller
    from tests.benchmarks.processes import served
    from tests.benchmarks.words import Speaker

    place = world.place_of("bench", "user", LEAVER)

    def fill(events: int) -> None:
        erasure.fill_events(place, events)
        world.fill(place, events // 5, seed=3)
        world.analyse()

    if options.events:
        fill(options.events)
        bare = erasure.bare_deletes(place)
        accepted, asked, done = erasure.forget(tokens[LEAVER], LEAVER)
        name = f"a subject with {options.events:,} events and {options.events // 5:,} memories"
        table.add(f"{name}: completed", f"{done:.1f} s", "≤ 30 s, ≤ 5 × bare", f"{done / bare:.1f} × bare deletes ({bare:.1f} s)")
        table.add(
            "accepted, and the next query, which finds nothing",
            f"{1000 * accepted:.0f} and {1000 * asked:.0f} ms",
            "the next query",
        )
    if options.many_events:
        fill(options.many_events)
        speaker, chooser = Speaker(7), random.Random(7)
        bodies = [{"question": speaker.question(chooser.choice(texts))} for _ in range(options.calls // 2)]
        with served(HOME, "--no-worker") as copy:
            caller = Caller(copy.address, tokens["reader"])
            alone, during = erasure.beside(caller, bodies, lambda: erasure.forget(tokens[LEAVER], LEAVER))
        table.add(
            f"query of others while {options.many_events:,} events are forgotten",
            f"p95 {during.p95:.1f} ms, {alone.p95:.1f} ms alone",
            "p95 ≤ 1.5 ×",
            f"{during.p95 / alone.p95:.2f} ×",
        )


if __name__ == "__main__":
    main()
