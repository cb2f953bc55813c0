"""Scoped reads of deletions: who may see a job, and what its result says (DJ-11, DJ-23, DJ-25)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

from apps.core.errors import NotFound
from apps.core.ids import parse_public_id, public_id
from apps.jobs.models import ProcessingJob
from apps.retention.cancellations import requested_for
from apps.retention.exposures import find_exposures
from apps.retention.layers import layer_named
from apps.retention.models import DeletionJob, DeletionStep, Exposure
from apps.retention.targets import target_of
from apps.tenants.models import Role
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.tenants.access import Access

API_ROOT = "/api/v1/"
MOST_EXPOSURES = 1000  # newest first; a result is read by people

_MOVING = (DeletionJob.State.ACCEPTED, DeletionJob.State.RUNNING, DeletionJob.State.RETRY_WAIT)
_GIVEN_UP = (ProcessingJob.State.DEAD, ProcessingJob.State.DISCARDED)
_OVERSEERS = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})


@dataclass(frozen=True, slots=True)
class TargetView:
    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class LayerView:
    layer: str
    status: str
    found: int | None
    cleared: int
    remaining: int | None
    attempts: int
    checkpoint: dict[str, object] | None
    verified_at: datetime | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class CopyView:
    layer: str
    location: str
    reason: str
    until: datetime | None


@dataclass(frozen=True, slots=True)
class ExposureView:
    trace_id: str
    agent: str
    at: datetime
    cancellation_requested_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeletionView:
    """A deletion and how far it is. ``status`` says deleted only when it is ``completed`` (DJ-20)."""

    job_id: str
    deletion_request_id: str
    target: TargetView
    status: str
    deletion_epoch: int
    accepted_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    layers: list[LayerView]
    remaining_copies: list[CopyView]
    exposures: list[ExposureView]
    certificate_url: str | None


def visible_jobs(access: Access) -> QuerySet[DeletionJob]:
    """The deletions that this access may see: those of its subject, of namespaces it may erase in, and all for overseers."""
    jobs = DeletionJob.objects.filter(tenant_id=access.tenant_id)
    if access.roles & _OVERSEERS:
        return jobs
    reach = Q(namespace_id__in=[grant.id for grant in access.every_namespace if grant.erase])
    if access.subject_id is not None:
        reach |= Q(subject_id=access.subject_id) | Q(namespace__subject_id=access.subject_id)
    return jobs.filter(reach)


def visible_job(access: Access, job_id: str) -> DeletionJob:
    """One of them, with what its layers need; inside the tenant context. Raises NotFound."""
    key = parse_public_id("del", job_id)
    job = None if key is None else visible_jobs(access).filter(pk=key).select_related("revocation", "namespace").first()
    if job is None:
        raise NotFound
    return job


def read_deletion(access: Access, job_id: str) -> DeletionView:
    """One deletion with its layers, remaining copies and exposures. Raises NotFound."""
    with tenant_transaction(access):
        job = visible_job(access, job_id)
        steps = list(job.steps.order_by("position"))
        return DeletionView(
            job_id=public_id("del", job.id),
            deletion_request_id=job.deletion_request_id,
            target=TargetView(job.target_kind, job.target_public_id),
            status=_status(job),
            deletion_epoch=job.epoch,
            accepted_at=job.accepted_at,
            started_at=job.started_at,
            completed_at=job.completed_at,
            layers=[_layer(step) for step in steps],
            remaining_copies=copies_of(job, steps),
            exposures=_exposures(job),
            certificate_url=_certificate_url(job),
        )


def _status(job: DeletionJob) -> str:
    """The job's state; one whose work has ended as a dead letter (the worker itself died each time) waits for somebody."""
    given_up = ProcessingJob.objects.filter(tenant_id=job.tenant_id, state__in=_GIVEN_UP)
    if job.state in _MOVING and job.job_id is not None and given_up.filter(pk=job.job_id).exists():
        return DeletionJob.State.FAILED_REQUIRES_ACTION
    return job.state


def _layer(step: DeletionStep) -> LayerView:
    return LayerView(
        layer=step.layer,
        status=step.state,
        found=step.found,
        cleared=step.cleared,
        remaining=step.remaining,
        attempts=step.attempts,
        checkpoint=step.checkpoint,
        verified_at=step.verified_at,
        detail=step.detail or None,
    )


def _certificate_url(job: DeletionJob) -> str | None:
    """Where the certificate is; None before there is one."""
    if job.state != DeletionJob.State.COMPLETED:
        return None
    return f"{API_ROOT}memory-deletions/{public_id('del', job.id)}/certificate"


def copies_of(job: DeletionJob, steps: Sequence[DeletionStep]) -> list[CopyView]:
    """What stays although the rows are gone, as each layer says now."""
    target = target_of(job)
    found = []
    for step in steps:
        layer = layer_named(step.layer)
        if layer is not None:
            found += [CopyView(step.layer, copy.location, copy.reason, copy.until) for copy in layer.remaining_copies(target)]
    return found


def _exposures(job: DeletionJob) -> list[ExposureView]:
    """Those written down, and what the traces say while they have not been cleared."""
    recorded = Exposure.objects.filter(tenant_id=job.tenant_id, job=job)
    found = {row.trace_id: ExposureView(public_id("trc", row.trace_id), row.agent, row.at) for row in recorded}
    for row in find_exposures(job.tenant_id, job.target_ids):
        found.setdefault(row.trace_id, ExposureView(public_id("trc", row.trace_id), row.agent, row.at))
    asked = requested_for(job.tenant_id, found)
    shown = [replace(one, cancellation_requested_at=asked.get(trace)) for trace, one in found.items()]
    return sorted(shown, key=lambda one: (one.at, one.trace_id), reverse=True)[:MOST_EXPOSURES]
