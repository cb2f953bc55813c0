"""Nouns of floor 3."""

from apps.jobs.models.heartbeats import WorkerHeartbeat
from apps.jobs.models.outbox import Outbox
from apps.jobs.models.processing import ProcessingJob

__all__ = ["Outbox", "ProcessingJob", "WorkerHeartbeat"]
