"""Writers at the same moment: one head, no lost update, and a deletion in between wins (VH-09..15)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from apps.core.errors import DomainError, Revoked, VersionConflict
from apps.evidence import ingestion
from apps.evidence.coverage import usable
from apps.evidence.models import SourceEvent
from apps.memories import candidates, judging, revision
from apps.memories.candidates import propose
from apps.memories.models import ConflictSet, EvidenceLink, Memory, MemoryVersion
from apps.memories.proposals import ProposedRelation
from apps.memories.revision import Change, revise_memory
from apps.retention.deletion import DeletionRequest, request_deletion
from tests.memories.sayings import LABELS, Memories, at, proposal
from tests.tenants.world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db) -> World:
    return World("orchard", labels=LABELS)


@pytest.fixture
def memories(world) -> Memories:
    return Memories(world)


def together(actions: list[Callable[[], Any]]) -> list[Any]:
    """Run all at the same moment, each on a connection of its own; an error is a result."""
    start = threading.Barrier(len(actions))

    def run(action: Callable[[], Any]) -> Any:
        start.wait(30)
        try:
            return action()
        except DomainError as refused:
            return refused
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(run, actions))


@contextmanager
def held_before_commit(monkeypatch, module: Any, name: str) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Whoever takes the namespace lock through ``module.name`` waits there; (reached, go on)."""
    reached, go_on = threading.Event(), threading.Event()
    real = getattr(module, name)

    def slow(*args: Any) -> Any:
        reached.set()
        assert go_on.wait(30)
        return real(*args)

    monkeypatch.setattr(module, name, slow)
    yield reached, go_on
    go_on.set()


@pytest.mark.requirement("VH-09", "MG-13", "VH-15")
def test_values_of_one_moment_end_in_one_conflict(world, memories):
    sources = [memories.event() for _ in range(8)]
    access = world.access()
    done = together(
        [
            lambda n=n: propose(access, proposal(f"Gate hint {n}", fact_key="gate.hint", source_event_ids=(sources[n],))).outcome
            for n in range(8)
        ]
    )
    assert sorted(one.status for one in done) == ["committed"] + ["conflict"] * 7
    with world.inside():
        assert ConflictSet.objects.count() == 1
        assert Memory.objects.filter(conflict_set=None).count() == 0


@pytest.mark.requirement("MG-10", "VH-11")
def test_one_statement_of_many_is_one_record(world, memories):
    source, access = (memories.event(),), world.access()
    done = together(
        [lambda: propose(access, proposal("The gate is green", fact_key="gate", source_event_ids=source)).outcome] * 8
    )
    assert sorted(one.status for one in done) == ["committed"] + ["no_op"] * 7
    with world.inside():
        assert MemoryVersion.objects.count() == 1


@pytest.mark.requirement("CA-09")
def test_one_candidate_of_many_requests_is_one_candidate(world):
    said, access = proposal("The gate is green"), world.access()
    done = together([lambda: propose(access, said)] * 8)
    assert sorted(one.replayed for one in done) == [False] + [True] * 7
    assert len({one.outcome.memory_id for one in done}) == 1


def test_one_candidate_id_for_two_scopes_is_taken_once(world, memories):
    source = memories.event(project="kiosk")
    mine = proposal("The gate is green", candidate_id="cand-same")
    shared = proposal("The gate is green", candidate_id="cand-same", project="kiosk", source_event_ids=(source,))
    access = world.access()
    done = together([lambda one=one: propose(access, one) for one in (mine, shared)] * 4)
    assert {type(one).__name__ for one in done} == {"Proposed", "IdempotencyKeyReuse"}
    assert memories.count() == 1


@pytest.mark.requirement("MG-11", "VH-11", "OJ-05")
def test_racing_values_with_different_times_end_at_the_latest(world, memories):
    access = world.access()
    days = (7, 2, 9, 4, 1, 8, 3, 6, 5)
    done = together(
        [
            lambda n=n: propose(access, proposal(f"Mark {n}", fact_key="tide", valid_from=at(f"2024-01-0{n}"))).outcome
            for n in days
        ]
    )
    assert {one.status for one in done} == {"committed"}
    with world.inside():
        memory = Memory.objects.select_related("head").get()
        assert memory.head.valid_from == at("2024-01-09")
        line = list(MemoryVersion.objects.order_by("valid_from").values_list("valid_from", "valid_to"))
    assert [end for _, end in line] == [start for start, _ in line[1:]] + [None]


@pytest.mark.slow
@pytest.mark.requirement("VH-09", "VH-11")
def test_thirty_two_writers_of_one_new_key_leave_one_line(world, memories):
    access = world.access()
    done = together(
        [
            lambda n=n: propose(access, proposal(f"Mark {n}", fact_key="tide", valid_from=at(f"2024-02-{n % 28 + 1:02}"))).outcome
            for n in range(28)
        ]
        + [lambda: propose(access, proposal("Mark 0", fact_key="tide", valid_from=at("2024-02-01"))).outcome] * 4
    )
    assert {one.status for one in done} <= {"committed", "no_op"}
    with world.inside():
        assert Memory.objects.count() == 1
        assert MemoryVersion.objects.count() == 28


@pytest.mark.slow
@pytest.mark.requirement("VH-10", "VH-11", "AI-05")
def test_thirty_two_revisions_of_one_version_have_one_winner(world, memories):
    made, access = memories.say(), world.access()
    done = together(
        [
            lambda n=n: revise_memory(
                access, made.memory_id, expected_version=1, change=Change(content=f"Lamp {n}"), reason="race"
            )
            for n in range(32)
        ]
    )
    lost = [one for one in done if isinstance(one, VersionConflict)]
    assert len(lost) == 31
    assert {one.current_version for one in lost} == {2}
    assert len(memories.versions(made)) == 2


@pytest.mark.slow
def test_thirty_two_patient_revisers_lose_no_update(world, memories):
    """Each reads, revises, and on a conflict reads again: in the end every one of them has its version."""
    made, access = memories.say(), world.access()

    def patiently(number: int) -> int:
        version = 1
        for _ in range(200):
            try:
                return revise_memory(
                    access, made.memory_id, expected_version=version, change=Change(content=f"Lamp {number}"), reason="race"
                ).version
            except VersionConflict as refused:
                version = refused.current_version
            finally:
                connection.close()  # the pool is smaller than the crowd
        raise AssertionError

    versions = together([lambda n=n: patiently(n) for n in range(32)])
    assert sorted(versions) == list(range(2, 34))
    memory = memories.memory(made)
    assert (memory.version, memory.last_version) == (33, 33)


@pytest.mark.requirement("VH-13", "VH-14", "DJ-03")
def test_a_deletion_between_validation_and_commit_wins(world, memories, monkeypatch):
    made, access = memories.say(), world.access()
    with held_before_commit(monkeypatch, revision, "lock_namespace") as (reached, go_on), ThreadPoolExecutor(1) as pool:

        def write() -> Any:
            try:
                return revise_memory(access, made.memory_id, expected_version=1, change=Change(content="It lives"), reason="x")
            except Revoked as refused:
                return refused
            finally:
                connection.close()

        writer = pool.submit(write)
        assert reached.wait(30)
        request_deletion(access, DeletionRequest("del-1", "memory", made.memory_id))
        go_on.set()
        assert isinstance(writer.result(30), Revoked)
    assert [version.version for version in memories.versions(made)] == [1]


@pytest.mark.requirement("VH-14", "DJ-03", "DJ-06")
def test_a_source_that_is_deleted_before_the_commit_is_no_source(world, memories, monkeypatch):
    source, access = memories.event(), world.access()
    with held_before_commit(monkeypatch, candidates, "lock_namespace") as (reached, go_on), ThreadPoolExecutor(1) as pool:

        def write() -> Any:
            try:
                return propose(access, proposal("The lamp is warm", source_event_ids=(source,))).outcome
            finally:
                connection.close()

        writer = pool.submit(write)
        assert reached.wait(30)
        request_deletion(access, DeletionRequest("del-1", "event", source))
        go_on.set()
        done = writer.result(30)
    assert (done.status, done.reasons) == ("rejected", ["revoked"])
    assert memories.count() == 0


# -- sources that lie in another namespace, whose deletion does not wait for the lock of this one


def deleted_meanwhile(monkeypatch, module: Any, name: str, write: Callable[[], Any], delete: DeletionRequest, access: Any) -> Any:
    """The writer has looked at its sources and waits before it writes; then a deletion of one of them is asked for."""
    with held_before_commit(monkeypatch, module, name) as (reached, go_on), ThreadPoolExecutor(2) as pool:

        def alone(action: Callable[[], Any]) -> Any:
            try:
                return action()
            except DomainError as refused:
                return refused
            finally:
                connection.close()

        writer = pool.submit(alone, write)
        assert reached.wait(30)
        deletion = pool.submit(alone, lambda: request_deletion(access, delete))
        wait([deletion], 1)  # it may have to wait for the writer
        go_on.set()
        assert deletion.result(30).status == "accepted"
        return writer.result(30)


@pytest.mark.requirement("VH-13", "VH-14", "DJ-03")
def test_a_memory_on_a_source_in_another_namespace_does_not_outlive_it(world, memories, monkeypatch):
    source, access = memories.event(project="kiosk"), world.access()
    said = proposal("The lamp is warm", source_event_ids=(source,))
    request = DeletionRequest("del-1", "event", source)
    deleted_meanwhile(monkeypatch, judging, "merge", lambda: propose(access, said), request, access)
    with world.inside():
        assert not Memory.objects.exclude(state=Memory.State.REVOKED).exists()


@pytest.mark.requirement("VH-13", "VH-14", "DJ-03")
def test_a_revision_on_a_source_in_another_namespace_does_not_gain_it(world, memories, monkeypatch):
    made, source, access = memories.say(), memories.event(project="kiosk"), world.access()
    change = Change(content="The lamp is hot", source_event_ids=(source,))
    deleted_meanwhile(
        monkeypatch,
        revision,
        "links_to",
        lambda: revise_memory(access, made.memory_id, expected_version=1, change=change, reason="seen"),
        DeletionRequest("del-1", "event", source),
        access,
    )
    with world.inside():
        assert not EvidenceLink.objects.filter(evidence__event__event_id=source).exists()


@pytest.mark.requirement("LN-12", "DJ-03")
def test_a_summary_of_a_memory_in_another_namespace_does_not_outlive_it(world, memories, monkeypatch):
    origin, access = memories.say(project="kiosk"), world.access()
    said = proposal("In short: warm", relations=(ProposedRelation("derived_from", origin.memory_id),))
    request = DeletionRequest("del-1", "memory", origin.memory_id)
    deleted_meanwhile(monkeypatch, judging, "merge", lambda: propose(access, said), request, access)
    with world.inside():
        assert not Memory.objects.exclude(state=Memory.State.REVOKED).exists()


@pytest.mark.requirement("VH-13", "DJ-03", "LN-12")
def test_a_memory_on_a_retelling_does_not_outlive_what_was_retold_elsewhere(world, memories, monkeypatch):
    origin, access = memories.event(project="kiosk"), world.access()
    retelling = memories.event(derived_from=(origin,))
    said = proposal("The lamp is warm", source_event_ids=(retelling,))
    deleted_meanwhile(
        monkeypatch, judging, "merge", lambda: propose(access, said), DeletionRequest("del-1", "event", origin), access
    )
    with world.inside():
        assert not Memory.objects.exclude(state=Memory.State.REVOKED).exists()


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.requirement("DJ-03", "LN-12")
def test_an_event_made_from_one_in_another_namespace_does_not_outlive_it(world, memories, monkeypatch, steps):
    origin, access = memories.event(project="kiosk"), world.access()
    parent = origin if steps == 1 else memories.event(derived_from=(origin,))
    deleted_meanwhile(
        monkeypatch,
        ingestion,
        "publish",
        lambda: memories.event(event_id="late", derived_from=(parent,)),
        DeletionRequest("del-1", "event", origin),
        access,
    )
    with world.inside():
        assert not usable(SourceEvent.objects.filter(event_id="late")).exists()


@pytest.mark.requirement("DJ-03", "VH-14")
def test_a_deletion_of_everything_and_writers_across_namespaces_all_end(world, memories):
    """They lock several namespaces in different orders: whoever loses a deadlock begins again."""
    access = world.access()
    sources = [memories.event(project="kiosk") for _ in range(6)]
    sayings = [proposal(f"Lamp {n}", source_event_ids=(source,)) for n, source in enumerate(sources)]
    done = together(
        [lambda one=one: propose(access, one) for one in sayings]
        + [lambda: request_deletion(access, DeletionRequest("del-1", "subject", "alice"))]
    )
    assert done[-1].status == "accepted"
    with world.inside():
        assert not Memory.objects.exclude(state=Memory.State.REVOKED).exists()
