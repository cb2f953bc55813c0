"""What was given out before it was deleted (RY-06).

Traces live two floors up and are themselves cleared by the deletion, so their answer is asked for through a finder and
written down just before that layer runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.core.ids import new_id
from apps.retention import models
from apps.retention.layers import Target


@dataclass(frozen=True, slots=True)
class Exposure:
    """A trace that had packed one of the memories, the agent it was for, and when."""

    trace_id: UUID
    agent: str
    at: datetime


Finder = Callable[[UUID, Sequence[UUID]], Iterable[Exposure]]

_finders: list[Finder] = []


def set_exposure_finder(finder: Finder) -> None:
    """``finder(tenant_id, memory_ids)`` yields the traces that packed one of these memories; filled by apps.retrieval."""
    _finders[:] = [finder]


def find_exposures(tenant_id: UUID, keys: Sequence[UUID]) -> list[Exposure]:
    """What the traces say now; nothing when no app keeps traces."""
    return [found for finder in _finders for found in finder(tenant_id, keys)]


def record_exposures(target: Target) -> int:
    """Write down what the traces say, once per trace. Call it in the tenant context, before the traces are cleared."""
    rows = [
        models.Exposure(
            id=new_id(), tenant_id=target.tenant_id, job_id=target.job_id, trace_id=found.trace_id, agent=found.agent, at=found.at
        )
        for found in find_exposures(target.tenant_id, target.keys)
    ]
    models.Exposure.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
    return len(rows)
