"""Accepting a deletion: barrier, epoch, job and steps in one transaction (design/05 step 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import IntegrityError, OperationalError, connection, transaction

from apps.audits import log
from apps.core import clock
from apps.core.canonical import json_hash
from apps.core.errors import DeletionRequestConflict, NotFound
from apps.core.ids import new_id, public_id
from apps.jobs.queue import Work, enqueue, publish
from apps.retention.layers import ORDER, layer_named
from apps.retention.ledger.records import note
from apps.retention.models import DeletionJob, DeletionStep, LedgerRecord, Revocation, TargetKind
from apps.retention.reads import visible_jobs
from apps.retention.reasons import keep_reason
from apps.retention.targets import Resolved, resolve, shut_doors, target_of
from apps.tenants.transactions import revision_token, tenant_transaction

if TYPE_CHECKING:
    from uuid import UUID

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

_TRIES = 3
_DEADLOCK = "40P01"


@dataclass(frozen=True, slots=True)
class DeletionRequest:
    """What a caller asks for. ``target`` is a public id, a caller's own id, a subject's key or ``<scope>/<scope id>``."""

    deletion_request_id: str
    kind: str
    target: str
    cover_sources: bool = False
    suppress_future: bool = False
    reason: str = ""

    @property
    def sha256(self) -> str:
        """Of what makes it this request and no other; the reason is not part of it."""
        return json_hash([self.kind, self.target, self.cover_sources, self.suppress_future])


@dataclass(frozen=True, slots=True)
class AcceptedDeletion:
    """The answer to a deletion request; a repeated one (``replayed``) shows the latest state of the same job."""

    job_id: str
    deletion_request_id: str
    status: str
    deletion_epoch: int
    revision: str
    replayed: bool


def request_deletion(access: Access, request: DeletionRequest) -> AcceptedDeletion:
    """Accept a deletion, or find the job of the same request (DJ-01..03, DJ-12, DJ-15).

    From the commit on, nothing may read, write, queue or merge what the target covers. Raises NotFound (absent and unreadable
    alike), NotPermitted (readable, not erasable), Revoked (deleted by another request), DeletionRequestConflict (the request id
    was used for another target or other options). None of these leaves a job or an epoch step behind.
    """
    for _ in range(_TRIES - 1):
        try:
            return _accept(access, request)
        except OperationalError as lost:
            # A writer that builds on sources in several namespaces may cross our way; whoever is undone begins again.
            if getattr(lost.__cause__, "sqlstate", None) != _DEADLOCK or connection.in_atomic_block:
                raise
    return _accept(access, request)


def _accept(access: Access, request: DeletionRequest) -> AcceptedDeletion:
    """One attempt, in a transaction of its own."""
    with tenant_transaction(access) as tx:
        known = _known(access, request)
        if known is not None:
            return answer(known, replayed=True)
        namespaces = resolve(access, request.kind, request.target).namespaces
        epochs = _lock(access, namespaces)
        # A parallel repeat may have been accepted while we waited for the lock, and the target may have been deleted.
        known = _known(access, request)
        if known is not None:
            return answer(known, replayed=True)
        resolved = resolve(access, request.kind, request.target)
        if not set(resolved.namespaces) <= set(epochs):
            epochs |= _lock(access, resolved.namespaces)
        try:
            with transaction.atomic():
                job = _insert(access, request, resolved, epochs)
        except IntegrityError:  # the same request id for a target in other namespaces, committed a moment ago
            raise DeletionRequestConflict from None
        open_job(tx, access, job, resolved.namespaces)
        return answer(job, replayed=False)


def _known(access: Access, request: DeletionRequest) -> DeletionJob | None:
    """The job of this request id. Who may not see it nor the target must not learn that the id is taken."""
    job = DeletionJob.objects.filter(tenant_id=access.tenant_id, deletion_request_id=request.deletion_request_id).first()
    if job is None:
        return None
    if not visible_jobs(access).filter(pk=job.pk).exists():
        resolve(access, request.kind, request.target)
        raise DeletionRequestConflict
    if job.request_sha256 != request.sha256:
        raise DeletionRequestConflict
    return job


def _lock(access: Access, namespaces: tuple[UUID, ...]) -> dict[UUID, int]:
    """Lock namespaces in the order of their keys; returns their epochs. First lock of the transaction (design/03)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, deletion_epoch FROM tenants_namespace WHERE tenant_id = %s AND id = ANY(%s) ORDER BY id FOR UPDATE",
            [access.tenant_id, list(namespaces)],
        )
        found = dict(cursor.fetchall())
    if len(found) != len(set(namespaces)):
        raise NotFound
    return found


def _insert(access: Access, request: DeletionRequest, resolved: Resolved, epochs: dict[UUID, int]) -> DeletionJob:
    """The revocation and its job; raises IntegrityError when the request id is taken."""
    at = clock.now()
    namespace_id = resolved.namespaces[0]
    epoch = epochs[namespace_id] + 1
    revocation = Revocation.objects.create(
        tenant_id=access.tenant_id,
        namespace_id=namespace_id,
        target_kind=request.kind,
        target_id=resolved.target_id,
        epoch=epoch,
        accepted_at=at,
        cover_sources=request.cover_sources,
        suppress_future=request.suppress_future,
        fact_digest=resolved.fact_digest,
    )
    note(
        LedgerRecord.Kind.REVOCATION,
        revocation.id,
        namespaces=resolved.namespaces,
        erasable=_erasable(access) if request.cover_sources and request.kind == TargetKind.MEMORY else (),
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tenants_namespace SET deletion_epoch = deletion_epoch + 1 WHERE tenant_id = %s AND id = ANY(%s)",
            [access.tenant_id, list(resolved.namespaces)],
        )
    return DeletionJob.objects.create(
        id=new_id(),
        tenant_id=access.tenant_id,
        deletion_request_id=request.deletion_request_id,
        request_sha256=request.sha256,
        revocation=revocation,
        namespace_id=namespace_id,
        target_kind=request.kind,
        target_public_id=resolved.public_id,
        target_ids=list(resolved.keys),
        cover_sources=request.cover_sources,
        suppress_future=request.suppress_future,
        reason=keep_reason(access.tenant_id, namespace_id, request.reason),
        epoch=epoch,
        revision=0,
        requested_by=access.actor_id,
        subject_id=access.subject_id,
        accepted_at=at,
    )


def _erasable(access: Access) -> list[UUID]:
    """Where the caller may erase what others said: how far ``cover_sources`` reaches, should this have to be done again."""
    return [grant.id for grant in access.every_namespace if grant.erase]


def open_job(
    tx: TenantTransaction,
    access: Access,
    job: DeletionJob,
    namespaces: tuple[UUID, ...],
    *,
    verb: str = "deletion.accepted",
) -> None:
    """Everything that hangs on an accepted job: shut doors, steps, work, message, audit entry and, last, the revision."""
    target = target_of(job)
    taken = shut_doors(tx, access, target)
    job.target_ids = list(dict.fromkeys((*target.keys, *taken)))
    DeletionStep.objects.bulk_create(
        [
            DeletionStep(
                tenant_id=access.tenant_id,
                job=job,
                layer=key,
                position=position,
                state=DeletionStep.State.NOT_APPLICABLE if layer_named(key) is None else DeletionStep.State.PENDING,
            )
            for position, key in enumerate(ORDER)
        ]
    )
    work = Work(kind="deletion", key=str(job.id), payload={"deletion": str(job.id)}, namespaces=namespaces)
    job.job_id = enqueue(tx, access, [work])[0].id
    publish(access, "deletion.accepted", [(job.id, job.epoch)])
    job.revision = tx.next_revision()
    job.save(update_fields=["target_ids", "job_id", "revision"])
    options = [name for name in ("cover_sources", "suppress_future") if getattr(job, name)]
    log.record(
        access,
        verb,
        "deletion",
        public_id("del", job.id),
        namespace_id=job.namespace_id,
        codes=[job.target_kind, *options],
        counts={"taken": len(job.target_ids)},
        revision=job.revision,
    )


def answer(job: DeletionJob, *, replayed: bool) -> AcceptedDeletion:
    """What is said of a job to whoever asked for it."""
    return AcceptedDeletion(
        job_id=public_id("del", job.id),
        deletion_request_id=job.deletion_request_id,
        status=job.state,
        deletion_epoch=job.epoch,
        revision=revision_token(job.revision),
        replayed=replayed,
    )
