"""What stands in an entry: ids, epochs, instants, kinds and codes; enough to do the same again on an older database.

No text, no name of a person, and nothing that a text could be recognised by: the digest of a fact is keyed with a secret of the
tenant that lives in the database alone.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from apps.core.isolation import system_context
from apps.retention.ledger.file import Draft
from apps.retention.models import Backup, DeletionJob, LedgerRecord, LegalHold, TargetKind

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = LedgerRecord.Kind


def drafts_of(records: Sequence[LedgerRecord]) -> list[Draft]:
    """The entries of records, in their order. A record whose row is gone says only that there was one."""
    keys: dict[str, list[UUID]] = {kind: [] for kind in Kind.values}
    for record in records:
        keys[record.kind].append(record.object_id)
    with system_context():
        jobs = {job.revocation_id: job for job in _jobs(keys[Kind.REVOCATION])}
        holds = {hold.id: hold for hold in LegalHold.objects.filter(id__in=keys[Kind.HOLD_PLACED] + keys[Kind.HOLD_LIFTED])}
        backups = {one.id: one for one in Backup.objects.filter(id__in=keys[Kind.BACKUP_BEGUN] + keys[Kind.BACKUP_MADE])}
    found = []
    for record in records:
        tenant_id, body = None, {}
        if record.kind == Kind.REVOCATION and record.object_id in jobs:
            job = jobs[record.object_id]
            tenant_id, body = job.tenant_id, _of_revocation(job, record)
        elif record.kind in {Kind.HOLD_PLACED, Kind.HOLD_LIFTED} and record.object_id in holds:
            hold = holds[record.object_id]
            tenant_id, body = hold.tenant_id, _of_hold(hold) if record.kind == Kind.HOLD_PLACED else _of_lifting(hold)
        elif record.object_id in backups:
            body = _of_backup(backups[record.object_id])
        found.append(Draft(record.kind, record.object_id, tenant_id, body))
    return found


def _jobs(revocations: list[UUID]) -> list[DeletionJob]:
    return list(DeletionJob.objects.filter(revocation_id__in=revocations).select_related("revocation"))


def _of_revocation(job: DeletionJob, record: LedgerRecord) -> dict[str, Any]:
    revocation = job.revocation
    body: dict[str, Any] = {
        "job": str(job.id),
        "deletion_request_id": job.deletion_request_id,
        "request_sha256": job.request_sha256,
        "target_kind": job.target_kind,
        "target_id": revocation.target_id,
        "namespace": str(job.namespace_id),
        "namespaces": [str(key) for key in record.namespaces or [job.namespace_id]],
        "erasable": [str(key) for key in record.erasable],
        "keys": [str(key) for key in job.target_ids],
        "epoch": revocation.epoch,
        "accepted_at": text_of(revocation.accepted_at),
        "cover_sources": revocation.cover_sources,
        "suppress_future": revocation.suppress_future,
        "fact_digest": revocation.fact_digest,
        "requested_by": str(job.requested_by),
        "subject": None if job.subject_id is None else str(job.subject_id),
    }
    if job.target_kind == TargetKind.EVENT:
        body["event_id"] = job.target_public_id  # the sender's id, by which an event that is sent again is known
    return body


def _of_hold(hold: LegalHold) -> dict[str, Any]:
    named = {"event_id": hold.target_public_id} if hold.target_kind == LegalHold.Kind.EVENT else {}
    return named | {
        "target_kind": hold.target_kind,
        "namespace": str(hold.namespace_id),
        "subject": None if hold.subject_id is None else str(hold.subject_id),
        "keys": [str(key) for key in hold.keys],
        "reason_code": hold.reason_code,
        "placed_by": str(hold.placed_by),
        "placed_at": text_of(hold.placed_at),
        "until": text_of(hold.until),
    }


def _of_lifting(hold: LegalHold) -> dict[str, Any]:
    return {"lifted_by": None if hold.lifted_by is None else str(hold.lifted_by), "lifted_at": _maybe(hold.lifted_at)}


def _of_backup(backup: Backup) -> dict[str, Any]:
    return {
        "made_at": text_of(backup.made_at),
        "finished_at": _maybe(backup.finished_at),
        "expires_at": text_of(backup.expires_at),
        "location": backup.location,
        "size": backup.size,
        "sha256": backup.sha256,
    }


def text_of(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _maybe(moment: datetime | None) -> str | None:
    return None if moment is None else text_of(moment)
