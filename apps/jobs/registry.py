"""Who does what: handlers by kind of job, consumers by topic of the outbox. Filled by the higher floors in AppConfig.ready()."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from apps.jobs.runs import GiveUp, JobRun, Later, LeaseLost, TryAgain, complete_all, require_leases

if TYPE_CHECKING:
    from uuid import UUID

__all__ = [
    "GiveUp",
    "Handler",
    "JobRun",
    "Later",
    "LeaseLost",
    "Message",
    "TryAgain",
    "allowed_now",
    "before_work",
    "complete_all",
    "consumers_of",
    "handlers",
    "job_handler",
    "on_topic",
    "prepare_to_work",
    "register_gate",
    "require_leases",
]

HandlerFunction = Callable[[JobRun], Later | None]
GroupFunction = Callable[[Sequence[JobRun]], bool]

DEFAULT_LEASE = timedelta(seconds=60)
DEFAULT_ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class Handler:
    """What does one kind of job. ``operations`` is what its service identity may do (None: the ordinary ones)."""

    kind: str
    run: HandlerFunction
    lease: timedelta
    max_attempts: int
    operations: frozenset[str] | None
    wait_for_disk: bool
    together: GroupFunction | None


@dataclass(frozen=True, slots=True)
class Message:
    """One row of the outbox: something about this object has reached this version."""

    id: UUID
    tenant_id: UUID
    topic: str
    object_id: UUID
    version: int


Consumer = Callable[[Message], None]
Gate = Callable[[], "frozenset[str] | None"]

_handlers: dict[str, Handler] = {}
_preparations: list[Callable[[], None]] = []
_consumers: dict[str, list[Consumer]] = {}
_gates: list[Gate] = []


def job_handler(
    kind: str,
    *,
    lease: timedelta = DEFAULT_LEASE,
    max_attempts: int = DEFAULT_ATTEMPTS,
    operations: frozenset[str] | None = None,
    wait_for_disk: bool = True,
    together: GroupFunction | None = None,
) -> Callable[[HandlerFunction], HandlerFunction]:
    """Register the handler of a kind; ValueError for a second one.

    ``lease``: how long a worker may be silent before the job is given to another. ``max_attempts``: then it is a dead letter.
    ``wait_for_disk=False``: its commits return before they are on disk, which is most of the time of a small job. A crash of the
    database may undo the last second of them, effect and "done" alike, and the jobs run again: only for work that ends in
    ``run.complete()`` and can be done again from what is stored.
    ``together``: does several first attempts under one identity in one commit that ends in :func:`complete_all`. Where it returns
    False or raises, nothing of it may have been committed, and each job is done alone: a bad one harms no other.
    """

    def register(function: HandlerFunction) -> HandlerFunction:
        if kind in _handlers and _handlers[kind].run is not function:
            msg = f"jobs of kind {kind} have a handler already"
            raise ValueError(msg)
        _handlers[kind] = Handler(kind, function, lease, max_attempts, operations, wait_for_disk, together)
        return function

    return register


def on_topic(topic: str) -> Callable[[Consumer], Consumer]:
    """Register a consumer.

    Called at least once per message, per object in order, inside the tenant's context; the message counts as delivered in the
    same commit, once every consumer of its topic has returned.
    """

    def register(function: Consumer) -> Consumer:
        known = _consumers.setdefault(topic, [])
        if function not in known:
            known.append(function)
        return function

    return register


def handlers() -> dict[str, Handler]:
    """Every registered handler by kind."""
    return dict(_handlers)


def handler_of(kind: str) -> Handler | None:
    return _handlers.get(kind)


def consumers_of(topic: str) -> tuple[Consumer, ...]:
    return tuple(_consumers.get(topic, ()))


def before_work(prepare: Callable[[], None]) -> None:
    """Call ``prepare`` once in every worker, before its processes part: what it loads is there for the first job, and shared."""
    if prepare not in _preparations:
        _preparations.append(prepare)


def prepare_to_work() -> None:
    for prepare in _preparations:
        prepare()


def register_gate(gate: Gate) -> None:
    """Ask ``gate`` before each round of work which kinds may be done now (None: all); it is called outside of transactions."""
    if gate not in _gates:
        _gates.append(gate)


def allowed_now(mine: dict[str, Handler]) -> dict[str, Handler]:
    """Those of these handlers that every gate lets through."""
    for gate in _gates:
        kinds = gate()
        if kinds is not None:
            mine = {kind: handler for kind, handler in mine.items() if kind in kinds}
    return mine
