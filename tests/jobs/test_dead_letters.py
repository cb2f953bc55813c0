"""What people do with dead letters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from uuid import uuid4

import pytest

from apps.audits.models import AuditEntry
from apps.core.errors import NotFound, NotPermitted
from apps.core.ids import new_id, public_id
from apps.core.isolation import tenant_context
from apps.jobs.dead_letters import JobChanged, NotDead, discard_job, retry_job
from apps.jobs.models import ProcessingJob
from apps.jobs.reads import find_jobs, visible_jobs
from apps.jobs.runner import drain
from apps.tenants.access import Access, ActorKind
from tests.jobs.conftest import Room


def person(room: Room, *roles: str) -> Access:
    return replace(room.access, actor_kind=ActorKind.PERSON, actor_id=uuid4(), actor="olga", roles=frozenset(roles))


@pytest.fixture
def dead(room: Room) -> ProcessingJob:
    job = room.put("extract", "a")[0]
    room.change(job, state="dead", attempts=8, last_error="ValueError")
    return job


@pytest.mark.requirement("OJ-08")
def test_a_retried_dead_letter_runs_with_all_its_attempts(room: Room, dead: ProcessingJob, handle: Callable[..., None]) -> None:
    handle("extract", lambda _run: None)
    settled = retry_job(person(room, "operator"), public_id("job", dead.pk))
    assert settled.state == "queued" and room.job(dead).attempts == 0
    drain()
    assert (room.job(dead).state, room.job(dead).attempts) == ("done", 1)
    with tenant_context(room.tenant_id):
        entry = AuditEntry.objects.get(verb="job.retried")
    assert (entry.actor, entry.object_id, entry.codes, entry.counts) == ("olga", settled.job_id, ["extract"], {"attempts": 8})


@pytest.mark.requirement("OJ-08")
def test_a_discarded_dead_letter_is_put_away_with_its_reason(
    room: Room, dead: ProcessingJob, handle: Callable[..., None]
) -> None:
    handle("extract", lambda _run: None)
    discard_job(person(room, "compliance"), public_id("job", dead.pk), reason_code="source_gone")
    assert room.job(dead).state == "discarded" and drain().jobs == 0
    with tenant_context(room.tenant_id):
        assert AuditEntry.objects.get(verb="job.discarded").codes == ["extract", "source_gone"]


def test_a_reason_is_a_code_and_no_text(room: Room, dead: ProcessingJob) -> None:
    with pytest.raises(ValueError, match="codes"):
        discard_job(person(room, "owner"), public_id("job", dead.pk), reason_code="because I say so")
    assert room.job(dead).state == "dead"


@pytest.mark.parametrize("state", ["queued", "running", "retry_wait", "done", "discarded"])
def test_only_a_dead_letter_can_be_settled(room: Room, dead: ProcessingJob, state: str) -> None:
    room.change(dead, state=state)
    for settle in (retry_job, partial(discard_job, reason_code="x")):
        with pytest.raises(NotDead):
            settle(person(room, "owner"), public_id("job", dead.pk))
    assert room.job(dead).state == state


def test_a_dead_letter_is_settled_as_it_was_looked_at(room: Room, dead: ProcessingJob) -> None:
    room.change(dead, fence=8)
    for settle in (retry_job, discard_job):
        with pytest.raises(JobChanged):
            settle(person(room, "owner"), public_id("job", dead.pk), reason_code="x", fence=7)
    assert room.job(dead).state == "dead"
    retry_job(person(room, "owner"), public_id("job", dead.pk), reason_code="cause_fixed", fence=8)
    with pytest.raises(NotDead):
        discard_job(person(room, "owner"), public_id("job", dead.pk), reason_code="x", fence=8)
    with tenant_context(room.tenant_id):
        assert AuditEntry.objects.get(verb="job.retried").codes == ["extract", "cause_fixed"]


def test_who_may_look_and_who_may_act(room: Room, other_room: Room, dead: ProcessingJob) -> None:
    key = public_id("job", dead.pk)
    with pytest.raises(NotPermitted):
        retry_job(person(room, "auditor"), key)
    agent = replace(room.access, actor_kind=ActorKind.AGENT, roles=frozenset({"owner"}))
    for who in (person(room, "reviewer"), person(room), agent, room.access, person(other_room, "owner")):
        with pytest.raises(NotFound):
            retry_job(who, key)
    for nonsense in ("job_x", public_id("job", new_id()), public_id("mem", dead.pk)):
        with pytest.raises(NotFound):
            retry_job(person(room, "owner"), nonsense)
    with tenant_context(room.tenant_id):
        assert list(visible_jobs(person(room, "auditor"))) == [dead] and not visible_jobs(person(room, "reviewer")).exists()
    assert room.job(dead).state == "dead"


def test_jobs_are_found_by_key(room: Room) -> None:
    made = room.put("extract", "a", "b")
    with tenant_context(room.tenant_id):
        assert find_jobs(room.tenant_id, "extract", ["a", "b", "c"]) == {"a": made[0], "b": made[1]}
        assert find_jobs(room.tenant_id, "deletion", ["a"]) == {}
