"""Doing again what an older database has forgotten: the revocations, holds and backups that stand in the ledger alone (DJ-10).

Everything of one tenant is applied in one commit, in the order of the ledger, so that no deletion starts before the hold that was
placed on it. Each step looks first whether it was done, so it may be cut off anywhere and begun again.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import structlog
from django.db import connection, transaction

from apps.audits import log as audit
from apps.core import clock
from apps.core.errors import DomainError, NotFound
from apps.core.ids import public_id
from apps.core.isolation import system_context
from apps.retention.deletion import open_job
from apps.retention.holds import is_held
from apps.retention.ledger import file, guard, records
from apps.retention.ledger.file import Entry, LedgerTroubleError, Trouble
from apps.retention.models import Backup, DeletionJob, LedgerRecord, LedgerState, LegalHold, Revocation, TargetKind
from apps.retention.resumption import release_unheld
from apps.retention.targets import resolve
from apps.tenants.console_access import command_access
from apps.tenants.models import Namespace, Subject, Tenant
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

log = structlog.get_logger(__name__)
Kind = LedgerRecord.Kind

_ACTOR: Final = "restore_guard"
_LOCK: Final = 0x6C_6564_6765_72  # of the database's advisory locks: one process applies at a time
_SETTLED: Final = (DeletionJob.State.COMPLETED, DeletionJob.State.BLOCKED_BY_RETENTION)
_LONGEST_REQUEST: Final = 119  # with the mark of a second job of one request it still fits the column


@dataclass(frozen=True, slots=True)
class Mended:
    """What was done: entries applied again, and deletions among them that are not completed yet."""

    applied: int
    open_deletions: int


def mend() -> Mended:
    """Apply what the database lacks, note where it stands, and open the door again once every deletion is done.

    Idempotent, and safe to call from several processes. Raises LedgerTroubleError for a ledger that cannot be used.
    """
    with _alone():
        found = guard.compare()
        _apply_all(found.missing)
        if not found.lost:
            _agree()
        return Mended(len(found.missing), _settle())


def apply_readable(path: Path) -> int:
    """Apply what a broken file says before its break; returns how many entries the database lacked."""
    known = set(LedgerRecord.objects.values_list("kind", "object_id"))
    missing: list[Entry] = []
    with suppress(LedgerTroubleError):
        for entry in file.entries(path):
            if entry.name not in known:
                missing.append(entry)  # noqa: PERF401 - what came before the break is kept
    with _alone():
        _apply_all(missing)
    return len(missing)


def open_deletions() -> int:
    """Deletions that were applied again and are neither completed nor held, of tenants that are in use."""
    again = LedgerRecord.objects.filter(kind=Kind.REVOCATION, reapplied_at__isnull=False).values("object_id")
    with system_context():
        in_use = Tenant.objects.filter(status=Tenant.Status.ACTIVE).values("id")
        jobs = DeletionJob.objects.filter(revocation_id__in=again, tenant_id__in=in_use)
        return jobs.exclude(state__in=_SETTLED).count()


@contextmanager
def _alone() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])


def _apply_all(missing: Sequence[Entry]) -> None:
    if not missing:
        return
    _shut()
    for tenant_id, of_tenant in groupby(_by_tenant(missing), key=lambda entry: entry.tenant_id):
        _apply(tenant_id, list(of_tenant))
    log.warning("ledger_reapplied", entries=len(missing))


def _shut() -> None:
    """Before anything is applied, so that the door stays shut when we die meanwhile. Without a state we go with this ledger."""
    with records.exclusively():
        if not LedgerState.objects.exists():
            known = records.reader()
            header = records.next_header_hash(known)
            if known.installation is None:
                raise LedgerTroubleError(Trouble.CORRUPT)
            state = LedgerState(installation=known.installation, number=0, hash=header)
            LedgerState.objects.bulk_create([state], ignore_conflicts=True)
    LedgerState.objects.update(reapplying=True)


def _by_tenant(missing: Sequence[Entry]) -> list[Entry]:
    """In the ledger's order within each tenant."""
    return sorted(missing, key=lambda entry: (str(entry.tenant_id), entry.number))


def _agree() -> None:
    """Let the state name the ledger's last entry: step by step where the chain is the same, anew where it was rebuilt."""
    state = records.advance()
    with records.exclusively():
        known = records.reader()
        known.catch_up()
        end = (known.number, known.hash)
        path = known.path
    if state is None or (state.number, state.hash) == end:
        return
    marks = [(entry.name, entry.number, entry.hash) for entry in file.entries(path)]
    with transaction.atomic():
        state = LedgerState.objects.select_for_update().get()
        LedgerRecord.objects.exclude(number=None).update(number=None, hash="")
        rows = {(row.kind, row.object_id): row for row in LedgerRecord.objects.all()}
        changed = []
        for name, number, digest in marks:
            row = rows.get(name)
            if row is None:
                return  # it was appended a moment ago by somebody who has not told us yet
            row.number, row.hash = number, digest
            changed.append(row)
            state.number, state.hash = number, digest
        LedgerRecord.objects.bulk_update(changed, ["number", "hash"], batch_size=500)
        state.save(update_fields=["number", "hash"])


def _settle() -> int:
    """Open the door when nothing is left to do; returns how many deletions are not completed."""
    left = open_deletions()
    if left == 0 and LedgerState.objects.filter(reapplying=True).exists():
        LedgerState.objects.update(reapplying=False)
        log.warning("ledger_agrees_again")
    return left


def _apply(tenant_id: UUID | None, entries: Sequence[Entry]) -> None:
    """Everything of one tenant in one commit."""
    if tenant_id is None:
        with transaction.atomic():
            for entry in entries:
                _apply_to_installation(entry)
                _recorded(entry)
        return
    try:
        access = command_access(tenant_id, actor=_ACTOR)
    except NotFound:  # made after the backup: there is nothing of it here
        with transaction.atomic():
            for entry in entries:
                _recorded(entry)
        return
    with tenant_transaction(access) as tx:
        for entry in entries:
            if entry.kind == Kind.REVOCATION:
                _revoke(tx, access, entry)
            elif entry.kind == Kind.HOLD_PLACED:
                _hold(access, entry)
            elif entry.kind == Kind.HOLD_LIFTED:
                _lift(tx, access, entry)
            _recorded(entry)


def _recorded(entry: Entry) -> None:
    body = entry.body
    record = LedgerRecord(
        kind=entry.kind,
        object_id=entry.object_id,
        namespaces=[UUID(key) for key in body.get("namespaces", ())],
        erasable=[UUID(key) for key in body.get("erasable", ())],
        reapplied_at=clock.now(),
    )
    LedgerRecord.objects.bulk_create([record], ignore_conflicts=True)


def _apply_to_installation(entry: Entry) -> None:
    if entry.kind == Kind.BACKUP_REMOVED:
        Backup.objects.filter(pk=entry.object_id).delete()
    elif entry.kind in {Kind.BACKUP_BEGUN, Kind.BACKUP_MADE} and entry.body:
        at = {name: _instant(entry.body[name]) for name in ("made_at", "finished_at", "expires_at")}
        told = {name: entry.body[name] for name in ("location", "size", "sha256")}
        Backup.objects.update_or_create(pk=entry.object_id, defaults=at | told)


# -- holds


def _hold(access: Access, entry: Entry) -> None:
    body = entry.body
    space = _namespace(access, body.get("namespace"))
    if space is None or LegalHold.objects.filter(pk=entry.object_id).exists():
        return
    keys = [UUID(key) for key in body["keys"]]
    hold = LegalHold.objects.create(
        id=entry.object_id,
        tenant_id=access.tenant_id,
        namespace=space,
        target_kind=body["target_kind"],
        target_public_id=_name_of(access, body["target_kind"], body, space, str(keys[0]) if keys else ""),
        subject_id=_uuid(body["subject"]),
        keys=keys,
        reason_code=body["reason_code"],
        placed_by=UUID(body["placed_by"]),
        placed_at=datetime.fromisoformat(body["placed_at"]),
        until=datetime.fromisoformat(body["until"]),
    )
    codes = [hold.target_kind, hold.reason_code, "reapplied"]
    audit.record(access, "hold.placed", "hold", str(hold.id), namespace_id=hold.namespace_id, codes=codes)


def _lift(tx: TenantTransaction, access: Access, entry: Entry) -> None:
    body = entry.body
    at = body.get("lifted_at")
    hold = LegalHold.objects.filter(tenant_id=access.tenant_id, pk=entry.object_id, lifted_at=None).first()
    if hold is None or at is None:
        return
    LegalHold.objects.filter(pk=hold.pk).update(lifted_at=datetime.fromisoformat(at), lifted_by=_uuid(body["lifted_by"]))
    codes = [hold.reason_code, "reapplied"]
    audit.record(access, "hold.lifted", "hold", str(hold.id), namespace_id=hold.namespace_id, codes=codes)
    release_unheld(tx, access, is_held)


# -- revocations


def _revoke(tx: TenantTransaction, access: Access, entry: Entry) -> None:
    """The revocation under its own id and time, its epoch step, its job; the hooks find what it takes along in this database."""
    body = entry.body
    space = _namespace(access, body.get("namespace"))
    if space is None or Revocation.objects.filter(tenant_id=access.tenant_id, pk=entry.object_id).exists():
        return
    request = body["deletion_request_id"]
    same = DeletionJob.objects.filter(tenant_id=access.tenant_id, deletion_request_id=request).first()
    if same is not None and same.request_sha256 != body["request_sha256"]:
        same, request = None, f"{request[:_LONGEST_REQUEST]}~{entry.object_id.hex[-8:]}"
    if same is not None:
        return  # asked for again since: the same target, revoked later than then
    spaces = _locked(access, [UUID(key) for key in body["namespaces"]])
    epoch = max(spaces.get(space.id, 0) + 1, body["epoch"])
    as_then = _as_then(access, body)
    kind = body["target_kind"]
    keys = [UUID(key) for key in body["keys"]]
    name = _name_of(access, kind, body, space, body["target_id"])
    if kind == TargetKind.MEMORY:
        keys = list(dict.fromkeys((*keys, *_keys_here(access, name))))
    revocation = Revocation.objects.create(
        id=entry.object_id,
        tenant_id=access.tenant_id,
        namespace=space,
        target_kind=kind,
        target_id=body["target_id"],
        epoch=epoch,
        accepted_at=datetime.fromisoformat(body["accepted_at"]),
        cover_sources=body["cover_sources"],
        suppress_future=body["suppress_future"],
        fact_digest=body["fact_digest"],
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tenants_namespace SET deletion_epoch = greatest(deletion_epoch + 1, CASE WHEN id = %s THEN %s END) "
            "WHERE tenant_id = %s AND id = ANY(%s)",
            [space.id, epoch, access.tenant_id, list(spaces)],
        )
    job = DeletionJob.objects.create(
        id=UUID(body["job"]),
        tenant_id=access.tenant_id,
        deletion_request_id=request,
        request_sha256=body["request_sha256"],
        revocation=revocation,
        namespace=space,
        target_kind=kind,
        target_public_id=name,
        target_ids=keys,
        cover_sources=revocation.cover_sources,
        suppress_future=revocation.suppress_future,
        epoch=epoch,
        revision=0,
        requested_by=UUID(body["requested_by"]),
        subject_id=as_then.subject_id,
        accepted_at=revocation.accepted_at,
    )
    open_job(tx, as_then, job, tuple(spaces), verb="deletion.reapplied")


def _as_then(access: Access, body: dict[str, Any]) -> Access:
    """What the caller of the time might erase, which decides how far ``cover_sources`` reaches."""
    erasable = {UUID(key) for key in body["erasable"]}
    namespaces = tuple(replace(grant, erase=grant.id in erasable) for grant in access.namespaces)
    subject = _uuid(body["subject"])
    if subject is not None and not Subject.objects.filter(tenant_id=access.tenant_id, pk=subject).exists():
        subject = None
    return replace(access, namespaces=namespaces, subject_id=subject)


def _keys_here(access: Access, name: str) -> tuple[UUID, ...]:
    """The memory's sources as this database knows them; nothing where it does not know the memory."""
    try:
        return resolve(access, TargetKind.MEMORY, name).keys
    except DomainError:
        return ()


def _name_of(access: Access, kind: str, body: dict[str, Any], space: Namespace, target_id: str) -> str:
    """The public id of a target, which the ledger does not hold where this database knows it."""
    if kind == TargetKind.MEMORY:
        return public_id("mem", UUID(target_id))
    if kind == TargetKind.EVENT:
        return str(body.get("event_id", target_id))
    if kind == TargetKind.NAMESPACE:
        return f"{space.scope}/{space.scope_id}"
    if kind == TargetKind.SUBJECT:
        subject = Subject.objects.filter(tenant_id=access.tenant_id, pk=body.get("target_id") or body["subject"]).first()
        return space.scope_id if subject is None else subject.key
    return target_id


def _namespace(access: Access, key: str | None) -> Namespace | None:
    """None for one that was made after the backup: nothing lies there."""
    return None if key is None else Namespace.objects.filter(tenant_id=access.tenant_id, pk=key).first()


def _locked(access: Access, keys: Sequence[UUID]) -> dict[UUID, int]:
    rows = Namespace.objects.filter(tenant_id=access.tenant_id, pk__in=keys).order_by("id").select_for_update()
    return dict(rows.values_list("id", "deletion_epoch"))


def _uuid(text: str | None) -> UUID | None:
    return None if text is None else UUID(text)


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
