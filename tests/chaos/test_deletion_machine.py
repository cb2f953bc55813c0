"""Deletions under holds, failures, deaths of the worker, repeats and time that passes, against a small model (DJ-12..22).

Real tables, real verbs and every layer but the rewriting of tables, two rows a chunk. The model knows who said what, which requests
were accepted and what is held; everything else is compared with it after each step.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from apps.audits.models import AuditEntry
from apps.core import clock
from apps.core.errors import DeletionRequestConflict, NotFound, Revoked
from apps.evidence.ingestion import accept_event
from apps.evidence.models import Content, SourceEvent
from apps.evidence.reads import read_event
from apps.jobs import claims
from apps.jobs.runner import drain
from apps.memories.candidates import propose
from apps.memories.models import Memory
from apps.retention import erasure, layers
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.deletion_states import TRANSITIONS
from apps.retention.holds import lift_hold, place_hold
from apps.retention.layers import registered_layers
from apps.retention.models import DeletionCertificate, DeletionJob, DeletionStep
from apps.retention.resumption import resume_deletion
from tests.chaos.dying_workers import NAMES_OF_CHUNKS, small_chunks
from tests.evidence.drafts import draft
from tests.memories.sayings import proposal
from tests.tenants.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.chaos, pytest.mark.django_db(transaction=True)]

PEOPLE = ("alice", "bob")
PLACES = ("_begin", "_open", "_clear_chunk", "_prove", "_complete")
ONCE = ("_begin", "_complete")
_tenants = itertools.count(1)


class Died(BaseException):
    """What a SIGKILL looks like from inside of one process: nobody handles it, and nothing is noted any more."""


@dataclass
class Said:
    who: str
    text: str
    taken_by: set[str] = field(default_factory=set)  # requests that cover it


@dataclass
class Asked:
    who: str
    kind: str
    target: str
    job_id: str
    # Held without a gap since it was accepted: not one of its texts may be gone.
    never_free: bool
    state: str = "accepted"


class Deletions(RuleBasedStateMachine):
    seen: ClassVar[set[str]] = set()  # states of deletions, and deaths, in all runs together

    def __init__(self) -> None:
        super().__init__()
        self.offset = timedelta(0)
        self.said: dict[str, Said] = {}
        self.asked: dict[str, Asked] = {}
        self.holds: dict[UUID, str] = {}
        self.numbers = itertools.count(1)

    @initialize()
    def begin(self) -> None:
        self.frozen = clock.set_clock(lambda: datetime.now(UTC) + self.offset)
        self.frozen.__enter__()
        self.world = World(f"machine-{next(_tenants)}")
        self.accesses = {who: self.world.access(who) for who in PEOPLE}

    def teardown(self) -> None:
        """Whatever happened: once nothing is held and nobody dies any more, every deletion is completed and everything is gone."""
        if not hasattr(self, "world"):
            return
        try:
            for hold in list(self.holds):
                self.lift(hold)
            for request in self.asked:
                self.resume(request)
            for _ in range(12):
                self.offset += timedelta(hours=1)
                self.drained()
            self.compare()
            states = {asked.state for asked in self.asked.values()}
            assert states <= {"completed"}, {request: asked.state for request, asked in self.asked.items()}
            with self.world.inside():
                assert AuditEntry.objects.filter(verb="deletion.completed").count() == len(self.asked)
                assert not DeletionStep.objects.exclude(state__in=("cleared", "not_applicable")).exists()
                assert not DeletionStep.objects.exclude(remaining=0).exclude(state="not_applicable").exists()
                kept = set(Content.objects.values_list("text", flat=True))
                assert kept == {one.text for one in self.said.values() if not one.taken_by} | self.memory_texts()
        finally:
            self.frozen.__exit__(None, None, None)

    # -- what happens

    @rule(who=st.sampled_from(PEOPLE))
    def say(self, who: str) -> None:
        number = next(self.numbers)
        name, text = f"e-{number}", f"{who} says {number}"
        accept_event(self.accesses[who], draft(text, event_id=name, occurred_at=clock.now()))
        self.said[name] = Said(who, text)
        kept = proposal(f"{text}, kept", candidate_id=f"c-{number}", fact_key=f"said.{number}", source_event_ids=(name,))
        outcome = propose(self.accesses[who], kept).outcome
        assert outcome.status == "committed"

    @precondition(lambda self: self.said)
    @rule(data=st.data(), kind=st.sampled_from(["event", "subject", "namespace"]))
    def erase(self, data: st.DataObject, kind: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.said)))
        one = self.said[name]
        target = {"event": name, "subject": one.who, "namespace": f"user/{one.who}"}[kind]
        request = f"del-{next(self.numbers)}"
        try:
            accepted = self.request(request, one.who, kind, target)
        except (NotFound, Revoked):
            assert kind == "event" and one.taken_by, "only what is gone already cannot be asked for again"
            return
        self.asked[request] = Asked(one.who, kind, target, accepted.job_id, never_free=one.who in self.holds.values())
        for key, other in self.said.items():
            if key == name or (kind != "event" and other.who == one.who):
                other.taken_by.add(request)

    @precondition(lambda self: self.asked)
    @rule(data=st.data())
    def ask_again(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(sorted(self.asked)))
        asked = self.asked[request]
        repeated = self.request(request, asked.who, asked.kind, asked.target)
        assert (repeated.job_id, repeated.replayed) == (asked.job_id, True)
        other = ("subject", asked.who) if asked.kind != "subject" else ("namespace", f"user/{asked.who}")
        with pytest.raises(DeletionRequestConflict):
            self.request(request, asked.who, *other)

    @rule(who=st.sampled_from(PEOPLE))
    def hold(self, who: str) -> None:
        placed = place_hold(
            self.world.command(), "subject", who, reason_code="litigation", until=clock.now() + timedelta(days=300)
        )
        self.holds[placed.id] = who

    @precondition(lambda self: self.holds)
    @rule(data=st.data())
    def lift_one(self, data: st.DataObject) -> None:
        self.lift(data.draw(st.sampled_from(sorted(self.holds))))

    @rule()
    def work(self) -> None:
        self.drained()

    @precondition(lambda self: self.is_underway())
    @rule(place=st.sampled_from(PLACES), number=st.integers(1, 8), after=st.booleans())
    def work_and_die(self, place: str, number: int, after: bool) -> None:  # noqa: FBT001 - drawn
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(claims, "release", lambda *_args, **_more: None)
            self.disturbed(patch, place, 1 if place in ONCE else number, Died, after=after)
            try:
                self.drained()
            except Died:
                self.seen.add("died")
                assert not connection.in_atomic_block

    @precondition(lambda self: self.is_underway())
    @rule(place=st.sampled_from(("_open", "_clear_chunk", "_prove")), number=st.integers(1, 8))
    def work_and_fail(self, place: str, number: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            self.disturbed(patch, place, number, ConnectionError, after=False)
            self.drained()

    @rule(minutes=st.sampled_from([1, 15, 90]))
    def wait(self, minutes: int) -> None:
        self.offset += timedelta(minutes=minutes)

    @precondition(lambda self: self.asked)
    @rule(data=st.data())
    def somebody_resumes(self, data: st.DataObject) -> None:
        self.resume(data.draw(st.sampled_from(sorted(self.asked))))

    # -- what must be true all the time

    @invariant()
    def compare(self) -> None:
        if not hasattr(self, "world"):
            return
        with self.world.inside():
            jobs = {job.deletion_request_id: job for job in DeletionJob.objects.select_related("namespace")}
            texts = set(Content.objects.values_list("text", flat=True))
            erased = set(SourceEvent.objects.exclude(erased_at=None).values_list("event_id", flat=True))
            certified = set(DeletionCertificate.objects.values_list("job__deletion_request_id", flat=True))
            active = set(Memory.objects.filter(state="active").values_list("fact_key", flat=True))
        self.compare_jobs(jobs, certified)
        for name, one in self.said.items():
            covering = [self.asked[request] for request in one.taken_by]
            assert (f"said.{name.removeprefix('e-')}" in active) == (not covering), "from the acceptance on, nothing uses it"
            if not covering or all(asked.never_free for asked in covering):
                assert one.text in texts and name not in erased, "nobody asked for it, or a hold wins"
            if any(asked.state == "completed" for asked in covering):
                assert one.text not in texts and name in erased
        for name in list(self.said)[-3:]:
            self.compare_reading(name, self.said[name])

    def compare_jobs(self, jobs: dict[str, DeletionJob], certified: set[str]) -> None:
        assert set(jobs) == set(self.asked)
        for who in PEOPLE:
            accepted = [jobs[request] for request, asked in self.asked.items() if asked.who == who]
            assert sorted(job.epoch for job in accepted) == list(range(1, len(accepted) + 1)), "one step of the epoch for each"
        for request, asked in self.asked.items():
            state = str(jobs[request].state)
            assert state == asked.state or asked.state != "completed", "completed is the end"
            assert state in reachable(asked.state), (asked.state, state)
            asked.state = state
            self.seen.add(state)
            assert (jobs[request].completed_at is not None) == (state == "completed") == (request in certified)
            if asked.never_free:
                assert state != "completed"

    def compare_reading(self, name: str, one: Said) -> None:
        if one.taken_by:
            with pytest.raises(Revoked):
                read_event(self.accesses[one.who], name)
        else:
            assert read_event(self.accesses[one.who], name).event_id == name

    # -- parts

    def is_underway(self) -> bool:
        return any(asked.state not in ("completed", "blocked_by_retention") for asked in self.asked.values())

    def request(self, request: str, who: str, kind: str, target: str) -> Any:
        wanted = DeletionRequest(deletion_request_id=request, kind=kind, target=target)
        return request_deletion(self.accesses[who], wanted)

    def lift(self, hold: UUID) -> None:
        lift_hold(self.world.command(), hold)
        del self.holds[hold]
        for asked in self.asked.values():
            asked.never_free &= asked.who in self.holds.values()

    def resume(self, request: str) -> None:
        resume_deletion(self.world.command(), self.asked[request].job_id)

    def drained(self) -> None:
        drain(kinds=["deletion"])

    def memory_texts(self) -> set[str]:
        return {f"{one.text}, kept" for one in self.said.values() if not one.taken_by}

    def disturbed(self, patch: pytest.MonkeyPatch, place: str, number: int, trouble: type[BaseException], *, after: bool) -> None:
        function: Callable[..., Any] = getattr(erasure, place)
        calls = itertools.count(1)

        def call(*args: Any, **kwargs: Any) -> Any:
            mine = next(calls) == number
            if mine and not after:
                raise trouble
            result = function(*args, **kwargs)
            if mine:
                raise trouble
            return result

        patch.setattr(erasure, place, call)


def reachable(state: str) -> set[str]:
    """Every state that the table lets a job come to from this one, this one too."""
    found, waiting = {state}, [state]
    while waiting:
        new = {str(one) for one in TRANSITIONS[DeletionJob.State(waiting.pop())]} - found
        found |= new
        waiting += new
    return found


@pytest.mark.requirement("DJ-12", "DJ-13", "DJ-16", "DJ-17", "DJ-18", "DJ-19", "DJ-20", "DJ-21", "DJ-22")
def test_deletions_end_as_the_model_says(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for layer in registered_layers():
        for name in NAMES_OF_CHUNKS:
            module = sys.modules[type(layer).__module__]
            if hasattr(module, name):
                monkeypatch.setattr(module, name, getattr(module, name))
    small_chunks()
    monkeypatch.setattr(layers, "_layers", {one.key: one for one in registered_layers() if one.key != "storage"})
    run_state_machine_as_test(
        Deletions,
        settings=settings(
            max_examples=12,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
            phases=(Phase.explicit, Phase.generate),
        ),
    )
    assert Deletions.seen >= {"died", "accepted", "running", "retry_wait", "blocked_by_retention", "completed"}
