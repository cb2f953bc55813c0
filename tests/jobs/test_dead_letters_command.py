"""`manage.py dead_letters`: what an operator does with jobs that failed too often, without the console."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.audits.models import AuditEntry
from apps.core.ids import public_id
from apps.core.isolation import tenant_context
from apps.jobs.registry import GiveUp, JobRun
from apps.jobs.runner import drain
from tests.jobs.conftest import Room


def run(*arguments: str) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    try:
        call_command("dead_letters", *arguments, stdout=out, stderr=err)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def bury(room: Room, *keys: str, kind: str = "extract", error: str = "ValueError") -> list[str]:
    made = room.put(kind, *keys)
    for job in made:
        room.change(job, state="dead", attempts=8, last_error=error, finished_at=job.created_at)
    return [public_id("job", job.pk) for job in made]


def states(room: Room) -> list[str]:
    return [job.state for job in room.jobs()]


@pytest.mark.requirement("OJ-08")
def test_the_list_names_id_tenant_kind_and_error_of_each(room: Room, other_room: Room) -> None:
    first, second = bury(room, "a", "b")
    (foreign,) = bury(other_room, "a", kind="deletion", error="lease_lost")
    room.put("extract", "alive")
    code, text, _ = run("list", "--json")
    found = json.loads(text)
    assert code == 0 and found["total"] == 3
    assert {(row["job_id"], row["tenant"], row["kind"], row["last_error"], row["attempts"]) for row in found["jobs"]} == {
        (first, "orchard", "extract", "ValueError", 8),
        (second, "orchard", "extract", "ValueError", 8),
        (foreign, "harbour", "deletion", "lease_lost", 8),
    }
    assert foreign not in run("list", "--tenant", "orchard")[1] and first not in run("list", "--kind", "deletion")[1]
    assert run("list", "--error", "lease_lost", "--limit", "0")[1] == "1 dead letters, 0 shown\n"


@pytest.mark.requirement("OJ-08")
def test_a_retried_one_runs_again_and_the_log_says_who(room: Room, handle: Callable[..., None]) -> None:
    ran: list[str] = []
    handle("extract", lambda run: ran.append(run.key))
    first, _second = bury(room, "a", "b")
    assert run("retry", first) == (0, "1 queued again, 0 left as they were\n", "")
    drain()
    assert ran == ["a"] and states(room) == ["done", "dead"]
    with tenant_context(room.tenant_id):
        entry = AuditEntry.objects.get(verb="job.retried")
    assert (entry.actor, entry.object_id) == ("dead_letters", first)


def test_all_means_all_that_the_filters_let_through(room: Room, other_room: Room) -> None:
    bury(room, "a", "b")
    bury(room, "c", error="lease_lost")
    bury(other_room, "a")
    assert run("retry", "--all", "--tenant", "orchard", "--error", "ValueError")[1].startswith("2 queued again")
    assert states(room) == ["queued", "queued", "dead"] and states(other_room) == ["dead"]
    assert run("discard", "--all", "--reason", "source_gone")[1].startswith("2 discarded")
    assert states(room) == ["queued", "queued", "discarded"] and states(other_room) == ["discarded"]
    with tenant_context(room.tenant_id):
        assert AuditEntry.objects.get(verb="job.discarded").codes == ["extract", "source_gone"]


def test_what_is_no_dead_letter_is_named_and_left_alone(room: Room) -> None:
    (alive,) = (public_id("job", job.pk) for job in room.put("extract", "alive"))
    (dead,) = bury(room, "a")
    code, out, err = run("retry", alive, dead, "job_nonsense")
    assert (code, out) == (1, "1 queued again, 2 left as they were\n")
    assert err.splitlines() == [f"{alive}: no dead letter", "job_nonsense: no dead letter"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("retry",),
        ("retry", "--all", "job_x"),
        ("discard", "--all", "--reason", "because I say so"),
        ("list", "--tenant", "nobody"),
        ("discard", "--all"),
        (),
    ],
)
def test_what_was_not_understood_changes_nothing(room: Room, arguments: tuple[str, ...]) -> None:
    bury(room, "a")
    with pytest.raises(CommandError):
        run(*arguments)
    assert states(room) == ["dead"]


@pytest.mark.requirement("OJ-08")
@pytest.mark.django_db(transaction=True)
def test_a_poisoned_job_never_blocks_the_others_of_its_batch(room: Room, handle: Callable[..., None]) -> None:
    """Claimed together with forty others: it dies alone, they are done, and it does not come back by itself."""
    done: list[str] = []

    def work(run: JobRun) -> None:
        if run.key == "poison":
            raise GiveUp(code="poisoned")
        done.append(run.key)

    handle("extract", work)
    others = [f"{number:02}" for number in range(40)]
    room.put("extract", *others[:20], "poison", *others[20:])
    drained = drain()
    assert sorted(done) == others and (drained.jobs, drained.failed) == (41, 1)
    (row,) = json.loads(run("list", "--json")[1])["jobs"]
    assert (row["kind"], row["last_error"], row["attempts"]) == ("extract", "poisoned", 1)
    assert drain().jobs == 0
