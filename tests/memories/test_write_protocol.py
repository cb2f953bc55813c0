"""The write protocol under anything that may happen in any order: events, statements, revisions, deletions, dying workers.

A machine draws what happens next, does it to the product on a real database and to a small model of the design, and looks that
both agree and that what must always be true is true. ``MEMORY_PROTOCOL_STEPS`` makes it longer.
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import ExitStack, suppress
from datetime import timedelta
from itertools import count
from unittest.mock import patch
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from apps.core.errors import Conflict, ValidationFailed, VersionConflict
from apps.core.ids import public_id
from apps.jobs import claims, registry, runner, runs
from apps.jobs.models import ProcessingJob
from apps.memories import jobs as memory_jobs
from apps.memories.proposals import conditions_hash
from apps.memories.revision import Change, confirm_memory, revise_memory, withdraw_memory
from apps.retention import layers
from apps.retention.deletion import DeletionRequest, request_deletion
from tests.memories import protocol_rows
from tests.memories.protocol_model import PLAIN, Happening, Model, Place
from tests.memories.protocol_rows import HEADS, MemoryRow, Rows, VersionRow, Watch
from tests.memories.protocol_statements import PROJECT, WILD, Statements, day, days, many
from tests.tenants.world import World

STEPS = int(os.environ.get("MEMORY_PROTOCOL_STEPS", "2000"))
STEPS_OF_ONE, STEPS_USUAL = 100, 95  # of one world: at most, and on average
LOOK_EVERY, SAY_EVERY = 5, 1000


class _Died(BaseException):
    """A worker is gone, and does nothing more."""


class Protocol(Statements):
    """Beside what is stated: what is revised and deleted, and workers that die over it."""

    steps = 0
    begun = 0.0

    # -- revisions

    def memories(self, *, plain: bool = False) -> list[MemoryRow]:
        return [
            one for one in protocol_rows.memories(self.world) if one.state != "revoked" and (plain or one.fact_key not in PLAIN)
        ]

    def who_wrote(self, memory: MemoryRow) -> str:
        return "alice" if self.watch.spaces[memory.namespace_id] == "" else self.subjects[memory.created_for_id]

    def disturb(self, memory: MemoryRow) -> None:
        season = protocol_rows.SEASONS.get(memory.conditions_hash, "?")
        self.model.disturb(Place(self.watch.spaces[memory.namespace_id], memory.fact_key, season))

    @rule(which=many, stale=st.integers(0, 3), on=st.none() | days, source=st.none() | many, same=st.booleans())
    def a_revision(self, *, which: int, stale: int, on: int | None, source: int | None, same: bool) -> None:
        found = self.memories()
        if not found:
            return
        memory = found[which % len(found)]
        text = None if same else f"Revised {next(self.names)} {memory.fact_key}"
        sources = [one for one in self.living() if one.space in (self.watch.spaces[memory.namespace_id], PROJECT)]
        names = (sources[source % len(sources)].name,) if source is not None and sources else ()
        change = Change(content=text, valid_from=None if on is None else day(on), source_event_ids=names)
        expected = memory.version + (1 if stale == 0 else 0)
        self.disturb(memory)
        try:
            done = revise_memory(
                self.access[self.who_wrote(memory)],
                public_id("mem", memory.id),
                expected_version=expected,
                change=change,
                reason="seen",
            )
        except VersionConflict as refused:
            there = refused.current_version
            assert there == memory.version != expected
            self.expect_revision(moved=False)
            return
        except Conflict:
            assert memory.state not in HEADS
            return
        except ValidationFailed as refused:
            pointers = {error.pointer for error in refused.errors}
            assert pointers <= {"/valid_from", "/source_event_ids"}
            self.expect_revision(moved=False)
            return
        assert expected == memory.version
        self.expect_revision(moved=done.status == "committed")
        if done.status == "committed":
            assert done.version == memory.last_version + 1
            if text is not None:
                self.model.patches[str(memory.id), done.version] = text

    @rule(which=many, later=st.integers(0, 30), stale=st.booleans())
    def a_confirmation(self, *, which: int, later: int, stale: bool) -> None:
        found = [one for one in self.memories() if one.state in HEADS]
        if not found:
            return
        memory = found[which % len(found)]
        self.disturb(memory)
        expected = memory.version + 1 if stale else None
        observed = day(later)
        try:
            done = confirm_memory(
                self.access[self.who_wrote(memory)], public_id("mem", memory.id), observed_at=observed, expected_version=expected
            )
        except VersionConflict as refused:
            there = refused.current_version
            assert stale
            assert there == memory.version
            return
        except ValidationFailed:
            assert memory.fact_key not in WILD  # what was read in an event was observed then
            return
        assert not stale
        assert done.version == memory.last_version + 1 if done.status == "committed" else done.version == memory.version
        self.expect_revision(moved=done.status == "committed")

    @rule(which=many, often=st.integers(0, 2))
    def a_withdrawal(self, *, which: int, often: int) -> None:
        found = [one for one in self.memories() if one.state in HEADS]
        if not found or often:
            return
        memory = found[which % len(found)]
        self.disturb(memory)
        done = withdraw_memory(
            self.access[self.who_wrote(memory)], public_id("mem", memory.id), expected_version=memory.version, reason="over"
        )
        assert (done.status, done.version) == ("committed", memory.last_version + 1)
        self.expect_revision(moved=True)

    # -- deletions

    @rule(which=many, cover=st.booleans(), suppress=st.integers(0, 9))
    @precondition(lambda self: self.deletions_left)
    def a_deletion_of_a_memory(self, *, which: int, cover: bool, suppress: int) -> None:
        found = self.memories(plain=True)
        if not found or which % 3:
            return
        memory = found[which % len(found)]
        who = self.who_wrote(memory)
        events = protocol_rows.events_of(self.world, memory.id)
        place = Place(self.watch.spaces[memory.namespace_id], memory.fact_key)
        self.delete(who, "memory", public_id("mem", memory.id), cover_sources=cover, suppress_future=suppress == 0)
        self.disturb(memory)
        linked = [one for one in self.model.happenings.values() if one.key in events and not one.gone and one.occurred_at]
        erased = {one.name for one in linked if cover and (one.who == who or (one.space == "" and who == "alice"))}
        self.model.restricted |= {(place.fact, root) for one in linked for root in self.model.origins(one.name)}
        if suppress == 0:
            self.model.suppressed.add(place.fact)
        self.lose(erased)

    @rule(which=many)
    @precondition(lambda self: self.deletions_left)
    def a_deletion_of_an_event(self, *, which: int) -> None:
        found = self.living()
        if not found or which % 3:
            return
        one = found[which % len(found)]
        self.delete(one.who, "event", one.name)
        self.lose({one.name})

    @rule(bob=st.booleans(), often=st.integers(0, 7))
    @precondition(lambda self: self.deletions_left)
    def a_deletion_of_a_subject(self, *, bob: bool, often: int) -> None:
        if often:
            return
        who = "bob" if bob else "alice"
        self.delete(who, "subject", who)
        self.model.shut[who] = self.at
        self.lose({one.name for one in self.living() if one.who == who and self.model.is_shut(who, one.occurred_at)})
        self.model.disturb_all()

    def delete(self, who: str, kind: str, target: str, **options: bool) -> None:
        request_deletion(self.access[who], DeletionRequest(f"del-{next(self.names)}", kind, target, **options))
        self.model.deletions += 1
        self.deletions_left -= 1
        self.watch.settled = False
        self.expect_revision(moved=True)

    def lose(self, names: set[str]) -> None:
        lost = {self.model.happenings[name].key for name in self.model.lose(names)}
        for place, book in list(self.model.books.items()):
            if any(claim.roots & lost for claim in book.claims):
                self.model.disturb(place)

    # -- the worker

    @rule(deletions=st.booleans())
    def work(self, *, deletions: bool) -> None:
        runner.drain(kinds={"extract"})
        if deletions and self.erases:
            self.settle()
        self.expect_revision(moved=None)

    @rule(where=st.sampled_from(["counted", "before the commit", "after the commit"]), often=st.integers(1, 3))
    def a_worker_dies_over_events(self, where: str, often: int) -> None:
        """Before anything was done but counting; with the work done and not committed; with all committed and nothing noted."""
        self.die(where, often, kinds={"extract"})

    @rule(where=st.sampled_from(["counted", "before the commit", "after the commit"]), often=st.integers(1, 6))
    @precondition(lambda self: self.erases and not self.watch.settled)
    def a_worker_dies_over_deletions(self, where: str, often: int) -> None:
        self.die(where, often, kinds={"deletion"})

    def die(self, where: str, often: int, *, kinds: set[str]) -> None:
        calls = count(1)

        def dying(real):
            def call(*args, **named):
                if next(calls) >= often:
                    raise _Died
                return real(*args, **named)

            return call

        with ExitStack() as patched:
            patched.enter_context(patch.object(claims, "release", lambda *_, **__: True))  # the dead release nothing
            if where == "counted":
                patched.enter_context(patch.object(runner._Drain, "_run_of", dying(runner._Drain._run_of)))
            elif where == "before the commit":
                patched.enter_context(patch.object(memory_jobs, "complete_all", dying(registry.complete_all)))
                patched.enter_context(patch.object(runs.JobRun, "complete", dying(runs.JobRun.complete)))
            else:
                patched.enter_context(patch.object(runner, "_finish", dying(runner._finish)))
            patched.enter_context(suppress(_Died))
            runner.drain(kinds=kinds)
        for name, job in protocol_rows.jobs(self.world).items():
            if job.state == "running":
                self.model.happenings[name].crashes = job.attempts
        self.expect_revision(moved=None)

    def settle(self) -> None:
        """Every deletion that waits for a lease or a back-off comes to its end."""
        for _ in range(60):
            with self.world.inside():
                left = protocol_rows.ask(
                    self.world,
                    "SELECT id, state, last_error FROM jobs_processingjob WHERE tenant_id = %s AND kind = 'deletion' AND state <> 'done'",
                )
            if not left:
                self.watch.settled = True
                return
            assert {row[1] for row in left} <= {"queued", "running", "retry_wait"}, left
            runner.drain()
            self.at += timedelta(minutes=11)
        raise AssertionError

    # -- what is always true

    @invariant()
    def all_is_well(self) -> None:
        type(self).steps += 1
        if type(self).steps % SAY_EVERY == 0:
            print(f"{type(self).steps} steps, {time.monotonic() - type(self).begun:.0f} s", flush=True)
        if type(self).steps % LOOK_EVERY == 0:
            self.watch.look()

    def teardown(self) -> None:
        try:
            self.watch.look()
            self.at += timedelta(days=1)
            runner.drain(kinds={"extract"})
            if self.erases:
                self.settle()
            self.watch.look()
            self.expect_revision(moved=None)
        finally:
            with self.world.inside():
                ProcessingJob.objects.filter(tenant_id=self.world.tenant_id).exclude(state="done").update(state="done")
            self.held.close()


@pytest.mark.slow
@pytest.mark.requirement("VH-07", "VH-09", "VH-11", "VH-13", "VH-14", "MG-11", "LN-04", "DJ-03", "DJ-06", "OJ-05")
@pytest.mark.django_db(transaction=True)
def test_the_write_protocol_holds_whatever_happens(monkeypatch):
    monkeypatch.setattr(logging.root.manager, "disable", logging.INFO)  # of the workers that die there are many words
    monkeypatch.delitem(layers._layers, "storage")  # rewriting tables is slow, and tests/retention looks at it
    Protocol.steps, Protocol.begun = 0, time.monotonic()
    run_state_machine_as_test(
        Protocol,
        settings=settings(
            max_examples=1 + STEPS // STEPS_USUAL,
            stateful_step_count=STEPS_OF_ONE,
            deadline=None,
            database=None,
            derandomize="MEMORY_PROTOCOL_STEPS" not in os.environ,
            phases=(Phase.generate, Phase.shrink) if "MEMORY_PROTOCOL_STEPS" not in os.environ else (Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )
    print(f"{Protocol.steps} steps in {time.monotonic() - Protocol.begun:.0f} s")


# -- the look itself sees what it looks for


def _memory(**changes: object) -> MemoryRow:
    key = UUID(int=1)
    return MemoryRow(key, UUID(int=9), "lamp", conditions_hash({}), "active", 1, 1, None, UUID(int=5), None)._replace(**changes)


def _version(**changes: object) -> VersionRow:
    return VersionRow(UUID(int=5), UUID(int=1), 1, "Lit.", day(1), None, True, None, 1, 1, "d")._replace(**changes)


def _rows(memories: list[MemoryRow], versions: list[VersionRow]) -> Rows:
    found = {one.id: [version for version in versions if version.memory_id == one.id] for one in memories}
    links = {version.id: [UUID(int=7)] for version in versions}
    return Rows({one.id: one for one in memories}, found, links, set(), {UUID(int=1): {1: {0}}}, {}, {}, set())


def _watch() -> Watch:
    model = Model()
    model.happen(Happening("evt-1", UUID(int=7), "", "alice", occurred_at=day(1)))
    return Watch(World.__new__(World), model, {UUID(int=9): ""})


@pytest.mark.parametrize(
    ("look", "memories", "versions"),
    [
        ("one_head", [_memory(), _memory(id=UUID(int=2))], [_version()]),
        ("one_head", [_memory(conflict_set_id=UUID(int=3))], [_version()]),
        ("numbers", [_memory(last_version=2)], [_version()]),
        ("numbers", [_memory(head_id=UUID(int=6))], [_version()]),
        ("numbers", [_memory()], [_version(text=None)]),
        ("append_only", [_memory()], [_version(digest="other")]),
        ("append_only", [_memory()], [_version(text=None)]),
        ("append_only", [_memory()], []),
        ("evidence", [_memory()], [_version(count=2)]),
        ("index", [_memory(state="withdrawn")], [_version()]),
        ("index", [_memory()], [_version(text=None)]),
        ("patches", [_memory()], [_version(text="Another word.")]),
    ],
)
def test_the_look_sees_what_is_wrong(look, memories, versions):
    watch = _watch()
    watch.model.patches[str(UUID(int=1)), 1] = "Lit."
    for one in ("one_head", "numbers", "append_only", "evidence", "index", "patches"):
        getattr(watch, one)(_rows([_memory()], [_version()]))  # nothing is wrong yet
    with pytest.raises(AssertionError):
        getattr(watch, look)(_rows(memories, versions))


def test_what_is_gone_supports_nothing():
    watch = _watch()
    watch.model.lose({"evt-1"})
    with pytest.raises(AssertionError):
        watch.evidence(_rows([_memory()], [_version()]))
