"""How long it takes to forget a person, against bare DELETE statements of the same rows, and what others notice of it."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import connection, connections

from apps.core.canonical import sha256_hex
from apps.core.ids import new_id
from apps.core.isolation import system_context
from apps.evidence.models import Content, SourceEvent
from apps.jobs.runner import drain
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.models import DeletionJob
from apps.retrieval.pipeline import answer_query
from apps.retrieval.question import Question
from apps.tenants.authentication import authenticate
from tests.benchmarks import world
from tests.benchmarks.client import Caller, Spread, spread, timed
from tests.benchmarks.words import Speaker

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.world import Place

_AT_ONCE = 10_000
# What holds the rows of a person, children first, and how a row is known to be theirs.
_BY_MEMORY = "memory_id IN (SELECT id FROM memories_memory WHERE tenant_id = %(tenant)s AND namespace_id = %(namespace)s)"
_BY_NAMESPACE = "tenant_id = %(tenant)s AND namespace_id = %(namespace)s"
_BARE = (
    ("retrieval_posting", _BY_NAMESPACE),
    ("retrieval_termstat", _BY_NAMESPACE),
    ("memories_memoryversion", _BY_MEMORY),
    ("memories_memory", _BY_NAMESPACE),
    ("evidence_sourceevent", _BY_NAMESPACE),
    ("evidence_content", _BY_NAMESPACE),
)


def fill_events(place: Place, count: int) -> None:
    """Events of this namespace with texts, as the verb leaves them once their extraction is over. Always new ones."""
    speaker = Speaker(int(time.time()))
    said = datetime.now(UTC) - timedelta(days=30)
    run = new_id().hex
    for start in range(0, count, _AT_ONCE):
        contents, events = [], []
        for number in range(start, min(start + _AT_ONCE, count)):
            text, content_id = speaker.text(), new_id()
            digest = sha256_hex(text)
            row = {"namespace_id": place.namespace_id}
            contents.append({**row, "id": content_id, "text": text, "sha256": digest, "size": len(text.encode())})
            events.append(
                {
                    **row,
                    "id": new_id(),
                    "event_id": f"bench-{run}-{number}",
                    "subject_id": place.subject_id,
                    "session_id": "",
                    "actor_id": place.namespace_id,
                    "source_type": "user_message",
                    "trust": "subject",
                    "occurred_at": said,
                    "ingested_at": said,
                    "sequence": number + 1,
                    "content_id": content_id,
                    "content_sha256": digest,
                    "fingerprint": digest,
                    "retention_class_id": place.retention_class_id,
                    "deletion_epoch": 0,
                }
            )
        with system_context():
            world.copy_rows(Content, place.tenant_id, contents)
            world.copy_rows(SourceEvent, place.tenant_id, events)


def forget(token: str, subject: str) -> tuple[float, float, float]:
    """Erase a subject and work the deletion off; seconds until accepted, until the next query is over, until completed.

    The query runs between the two, and must find nothing any more.
    """
    access = authenticate(token)
    question = Speaker(3).question(Speaker(1).text())
    begun = time.perf_counter()
    accepted = request_deletion(
        access, DeletionRequest(deletion_request_id=f"bench-{new_id().hex}", kind="subject", target=subject)
    )
    barrier = time.perf_counter()
    packet = answer_query(access, Question(question=question))
    assert not packet.items, "the barrier stands before the first row is cleared"
    asked = time.perf_counter()
    drain(kinds=["deletion"])
    done = time.perf_counter()
    with system_context():
        state = DeletionJob.objects.get(deletion_request_id=accepted.deletion_request_id).state
    assert state == DeletionJob.State.COMPLETED, state
    return barrier - begun, asked - barrier, done - begun


def bare_deletes(place: Place) -> float:
    """Seconds for DELETE of the same rows in copies of the tables with the same indexes, one commit per table."""
    names = {"tenant": place.tenant_id, "namespace": place.namespace_id}
    with system_context(), connection.cursor() as cursor:
        for table, whose in _BARE:
            cursor.execute(f"DROP TABLE IF EXISTS bench_{table}")
            cursor.execute(f"CREATE TABLE bench_{table} (LIKE {table} INCLUDING DEFAULTS INCLUDING INDEXES)")
            cursor.execute(f"INSERT INTO bench_{table} SELECT * FROM {table} WHERE {whose}", names)
    seconds = 0.0
    for table, _ in _BARE:
        with system_context(), connection.cursor() as cursor:
            start = time.perf_counter()
            cursor.execute(f"DELETE FROM bench_{table}")
        seconds += time.perf_counter() - start
    with system_context(), connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {', '.join(f'bench_{table}' for table, _ in _BARE)}")
    return seconds


def beside(caller: Caller, bodies: list[Any], work: Callable[[], object]) -> tuple[Spread, Spread]:
    """The same queries with nothing else going on, and while the work runs in a thread of this process."""

    def ask() -> Spread:
        return timed([lambda body=body: caller.post("/memory-query", body) for body in bodies])

    alone = ask()
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as trouble:  # noqa: BLE001 - raised again by the caller
            failures.append(trouble)
        finally:
            connections["default"].close()

    thread = threading.Thread(target=run)
    thread.start()
    times: list[float] = []
    begun = time.perf_counter()
    while thread.is_alive():
        for body in bodies:
            start = time.perf_counter()
            caller.post("/memory-query", body)
            times.append(time.perf_counter() - start)
            if not thread.is_alive():
                break
    thread.join()
    if failures:
        raise failures[0]
    return alone, spread(times, time.perf_counter() - begun)
