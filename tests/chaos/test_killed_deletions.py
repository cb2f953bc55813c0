"""kill -9 of the worker at every checkpoint of every layer: ends ``completed``, one epoch step, attempts counted (design/05 Proof)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from apps.audits.models import AuditEntry
from apps.core import clock
from apps.evidence.models import Content, SourceEvent
from apps.jobs.models import ProcessingJob
from apps.jobs.runner import drain
from apps.retention import layers
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.layers import registered_layers
from apps.retention.models import DeletionJob
from apps.retention.reads import DeletionView, read_deletion
from apps.retrieval.pipeline import answer_query
from apps.retrieval.question import Question
from tests.chaos.dying_workers import NAMES_OF_CHUNKS, small_chunks
from tests.memories.sayings import LABELS, Memories
from tests.tenants.world import World, document

pytestmark = [pytest.mark.chaos, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

LAYERS = [layer.key for layer in registered_layers()]
# function, when, number; and whether that layer was still open then, so that whoever follows makes a second attempt at it. Before a
# layer is opened is behind the proof of the one before it.
POINTS = [
    ("_open", "after", 1, True),
    ("clear", "after", 1, True),
    ("_clear_chunk", "after", 1, True),
    ("verify", "after", 1, True),
    ("_prove", "after", 1, False),
]
AGAIN = [("clear", "after", 2, True)]  # of layers with more than one chunk
OF_THE_JOB = [("_begin", "before"), ("_begin", "after"), ("_complete", "before"), ("_complete", "after")]
CHUNKED = {"candidates", "versions", "relations", "lexical_index", "traces", "sources"}
PEOPLE = [f"person-{number}" for number in range(len(POINTS) + len(AGAIN))]


class Killers:
    def __init__(self) -> None:
        script = str(Path(__file__).with_name("dying_workers.py"))
        self._process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def work(self, layer: str | None, function: str, when: str, number: int = 1) -> int:
        """What became of a worker that was to die there: -9, or 0 where it never came by."""
        assert self._process.stdin and self._process.stdout
        point = {
            "database": connection.settings_dict["NAME"],
            "ledger": str(settings.LEDGER_FOLDER),
            "layer": layer,
            "function": function,
            "when": when,
            "number": number,
        }
        self._process.stdin.write(json.dumps(point) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(60)


@pytest.fixture(scope="module")
def killers() -> Iterator[Killers]:
    found = Killers()
    yield found
    found.close()


@pytest.fixture
def layer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """The layer in question. The rewriting of tables, the slowest by far, has a case of its own and is left out of the others."""
    key: str | None = getattr(request, "param", None)
    if key != "storage":
        monkeypatch.setattr(layers, "_layers", {one.key: one for one in registered_layers() if one.key != "storage"})
    return key


@pytest.fixture
def world(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> World:
    for layer in registered_layers():  # what small_chunks() changes is put back
        module = sys.modules[type(layer).__module__]
        for name in NAMES_OF_CHUNKS:
            if hasattr(module, name):
                monkeypatch.setattr(module, name, getattr(module, name))
    small_chunks()
    own = document("orchard")
    return World("orchard", labels=LABELS, subjects=[*own["subjects"], *({"key": key, "projects": []} for key in PEOPLE)])


def live(world: World, who: str) -> None:
    """Something of this person for every layer to clear, in more than one chunk where there are chunks."""
    memories = Memories(world)
    for number in range(3):
        memories.event(f"{who} note {number}", who=who)
        memories.say(
            f"{who} likes lamp {number}", who=who, source_event_ids=(memories.event(who=who),), fact_key=f"lamp.{number}"
        )
    memories.say(f"{who} likes no lamp", who=who, fact_key="lamp.0", valid_from=datetime(2025, 1, 1, tzinfo=UTC))
    for number in range(2):
        answer_query(world.access(who), Question(question=f"which lamp {number}"))


def erase(world: World, who: str) -> str:
    request = DeletionRequest(deletion_request_id=f"del-{who}", kind="subject", target=who, reason=f"{who} asked")
    return request_deletion(world.access(who), request).job_id


def hours_later() -> None:
    """Leases of the dead are over, and the wait that follows them."""
    for hours in (1, 2, 3):
        with clock.set_clock(lambda hours=hours: datetime.now(UTC) + timedelta(hours=hours)):
            drain(kinds=["deletion"])


def completed_once(world: World, who: str, job_id: str) -> DeletionView:
    shown = read_deletion(world.access(who), job_id)
    assert shown.status == "completed", [
        (one.layer, one.status, one.found, one.cleared, one.remaining, one.detail) for one in shown.layers
    ]
    space = world.namespace("user", who)
    assert shown.deletion_epoch == space.deletion_epoch == 1
    with world.inside():
        assert not Content.objects.filter(namespace_id=space.id).exists()
        assert not SourceEvent.objects.filter(namespace_id=space.id, erased_at=None).exists()
        assert AuditEntry.objects.filter(verb="deletion.completed", namespace_id=space.id).count() == 1
    for layer in shown.layers:
        assert layer.status in ("cleared", "not_applicable"), layer
        if layer.status == "cleared":
            assert layer.found == layer.cleared and layer.remaining == 0 and layer.verified_at, layer
    return shown


def attempts(shown: DeletionView, layer: str) -> int:
    return next(one.attempts for one in shown.layers if one.layer == layer)


@pytest.mark.requirement("DJ-13", "DJ-14", "DJ-15")
@pytest.mark.parametrize("layer", LAYERS, indirect=True)
def test_a_worker_killed_at_any_checkpoint_of_a_layer_is_followed_by_one_that_ends_the_deletion(world, killers, layer):
    points = [*POINTS, *(AGAIN if layer in CHUNKED else ())]
    died: dict[str, Any] = {}
    for who, (function, when, number, _) in zip(PEOPLE, points, strict=False):
        live(world, who)
        died[who] = erase(world, who)
        # Nothing else is due: the deletions before this one wait for their leases.
        assert killers.work(layer, function, when, number) == -9, (layer, function, when, number)
    hours_later()
    for who, (function, when, number, counted) in zip(died, points, strict=True):
        shown = completed_once(world, who, died[who])
        for other in (one.key for one in registered_layers()):
            assert attempts(shown, other) == 1 + (counted and other == layer), (other, function, when, number)
        with world.inside():
            job = ProcessingJob.objects.get(pk=DeletionJob.objects.get(deletion_request_id=f"del-{who}").job_id)
            assert (job.state, job.attempts) == ("done", 2)


@pytest.mark.requirement("DJ-13", "DJ-14", "DJ-15")
def test_a_worker_killed_before_the_first_and_behind_the_last_layer_is_followed_too(world, killers, layer):
    died = {}
    for who, (function, when) in zip(PEOPLE, OF_THE_JOB, strict=False):
        live(world, who)
        died[who] = erase(world, who)
        assert killers.work(None, function, when) == -9, (function, when)
    hours_later()
    for who, job_id in died.items():
        shown = completed_once(world, who, job_id)
        assert layer is None and {attempts(shown, one.key) for one in registered_layers()} == {1}
