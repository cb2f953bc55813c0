"""Asking for an export of everything held about a subject, and looking how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, BinaryIO, Final

from django.db import IntegrityError, transaction
from django.db.models import F, Q

from apps.audits import log
from apps.core import clock
from apps.core.errors import DeletionInProgress, ExportRequestConflict, NotFound
from apps.core.ids import new_id, parse_public_id, public_id
from apps.jobs.models import ProcessingJob
from apps.jobs.queue import Work, enqueue
from apps.retention.exports import spool
from apps.retention.exports.reach import exporting_layers
from apps.retention.models import DeletionJob, SubjectExport, TargetKind
from apps.retention.readiness import require_whole
from apps.tenants.models import Namespace, Role, Scope
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.tenants.access import Access

KEPT: Final = timedelta(days=7)  # from the request on; whoever needs it again asks again
EXPORTERS: Final = frozenset({Role.OWNER, Role.COMPLIANCE})  # of any subject; everybody else of themselves alone
_OVERSEERS: Final = EXPORTERS | {Role.AUDITOR}  # see that there are exports, and how far they are
_GIVEN_UP: Final = (ProcessingJob.State.DEAD, ProcessingJob.State.DISCARDED)
_OPEN: Final = (SubjectExport.State.ACCEPTED, SubjectExport.State.RUNNING)

State = SubjectExport.State


@dataclass(frozen=True, slots=True)
class AcceptedExport:
    """The answer to a request; a repeated one (``replayed``) shows the latest state of the same export."""

    export_id: str
    export_request_id: str
    status: str
    replayed: bool


@dataclass(frozen=True, slots=True)
class ExportedLayer:
    """``exported``: rows handed out. None while it is not known."""

    layer: str
    exported: int | None


@dataclass(frozen=True, slots=True)
class ExportView:
    """An export and how far it is. The archive can be fetched while ``status`` is ready, and ``archive_url`` names it then."""

    export_id: str
    export_request_id: str
    subject: str
    reason: str
    status: str
    requested_at: datetime
    as_of: datetime | None
    completed_at: datetime | None
    expires_at: datetime
    layers: list[ExportedLayer]
    size: int | None
    sha256: str | None
    downloads: int
    archive_url: str | None


@dataclass(frozen=True, slots=True)
class Archive:
    """An open archive; whoever gets it closes the file."""

    file: BinaryIO
    name: str
    size: int


def request_export(access: Access, *, export_request_id: str, subject: str, reason_code: str) -> AcceptedExport:
    """Put an export down, or find that of the same request.

    Owners and compliance staff ask for any subject of the tenant, a credential for the subject it speaks for. Raises NotFound
    (absent, foreign and out of reach alike), DeletionInProgress (nothing half of what is being deleted) and ExportRequestConflict
    (the request id was used for something else).
    """
    with tenant_transaction(access) as tx:
        subject_id, namespace_id = _find(access, subject)
        known = SubjectExport.objects.filter(tenant_id=access.tenant_id, export_request_id=export_request_id).first()
        if known is None:
            require_undeleted(access.tenant_id, subject_id, namespace_id)
            try:
                with transaction.atomic():
                    made = SubjectExport.objects.create(
                        id=new_id(),
                        tenant_id=access.tenant_id,
                        export_request_id=export_request_id,
                        subject_id=subject_id,
                        reason_code=reason_code,
                        namespaces=[namespace_id],
                        requested_by=access.actor_id,
                        expires_at=clock.now() + KEPT,
                    )
            except IntegrityError:  # the same request, committed a moment ago
                known = SubjectExport.objects.get(tenant_id=access.tenant_id, export_request_id=export_request_id)
        if known is not None:
            if (known.subject_id, known.reason_code) != (subject_id, reason_code):
                raise ExportRequestConflict
            return AcceptedExport(public_id("exp", known.id), export_request_id, status_of(known), replayed=True)
        work = Work(kind="subject_export", key=str(made.id), payload={"export": str(made.id)}, namespaces=(namespace_id,))
        made.job_id = enqueue(tx, access, [work])[0].id
        made.save(update_fields=["job_id"])
        record(access, "export.requested", made, codes=[reason_code])
    return AcceptedExport(public_id("exp", made.id), export_request_id, made.state, replayed=False)


def read_export(access: Access, export_id: str) -> ExportView:
    """One export that the caller may see. Raises NotFound."""
    with tenant_transaction(access):
        row = _visible(access, export_id)
        is_ready = row.state == State.READY and row.expires_at > clock.now()
        return ExportView(
            export_id=public_id("exp", row.id),
            export_request_id=row.export_request_id,
            subject=row.subject.key,
            reason=row.reason_code,
            status=status_of(row),
            requested_at=row.requested_at,
            as_of=row.as_of,
            completed_at=row.completed_at,
            expires_at=row.expires_at,
            layers=[ExportedLayer(layer.key, row.counts.get(layer.key)) for layer in exporting_layers()],
            size=row.size,
            sha256=row.sha256 or None,
            downloads=row.downloads,
            archive_url=f"/api/v1/subject-exports/{public_id('exp', row.id)}/archive" if is_ready else None,
        )


def open_archive(access: Access, export_id: str) -> Archive:
    """The archive of an export that is ready; each time somebody gets it is an audit entry (ID-35).

    Raises NotFound when the caller may not have it, and when there is none: not yet, not any more, or something of it has been
    deleted since. Raises AuthorityUnavailable while a restored database may lack deletions.
    """
    require_whole()
    with tenant_transaction(access):
        row = _visible(access, export_id)
        held = SubjectExport.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if not may_export(access, held.subject_id) or held.state != State.READY or held.expires_at <= clock.now():
            raise NotFound
        try:
            file = spool.archive_file(held.id).open("rb")
        except FileNotFoundError:
            raise NotFound from None
        SubjectExport.objects.filter(pk=held.pk).update(downloads=F("downloads") + 1, downloaded_at=clock.now())
        record(access, "export.downloaded", held, counts={"bytes": held.size or 0})
    return Archive(file, f"subject-export-{public_id('exp', held.id)}.zip", held.size or 0)


def may_export(access: Access, subject_id: UUID) -> bool:
    """Whether this caller may have what is held about a subject."""
    return bool(EXPORTERS & access.roles) or access.subject_id == subject_id


def visible_exports(access: Access) -> QuerySet[SubjectExport]:
    """The exports that this access may see: all for overseers, and for everybody those of their own subject."""
    rows = SubjectExport.objects.filter(tenant_id=access.tenant_id).select_related("subject")
    if access.roles & _OVERSEERS:
        return rows
    return rows.none() if access.subject_id is None else rows.filter(subject_id=access.subject_id)


def require_undeleted(tenant_id: UUID, subject_id: UUID, namespace_id: UUID) -> None:
    """Raise DeletionInProgress while a deletion of the subject, or of everything in its namespace, is not completed."""
    reach = Q(revocation__target_kind=TargetKind.SUBJECT, revocation__target_id=str(subject_id))
    reach |= Q(revocation__target_kind=TargetKind.NAMESPACE, revocation__target_id=str(namespace_id))
    jobs = DeletionJob.objects.filter(reach, tenant_id=tenant_id).exclude(state=DeletionJob.State.COMPLETED)
    running = jobs.order_by("-accepted_at").values_list("id", flat=True).first()
    if running is not None:
        raise DeletionInProgress(public_id("del", running))


def status_of(row: SubjectExport) -> str:
    """The row's state; one whose work has ended as a dead letter says so."""
    if row.state in _OPEN and row.job_id is not None:
        given_up = ProcessingJob.objects.filter(tenant_id=row.tenant_id, pk=row.job_id, state__in=_GIVEN_UP)
        if given_up.exists():
            return "failed_requires_action"
    return row.state


def record(
    access: Access, verb: str, row: SubjectExport, *, codes: list[str] | None = None, counts: dict[str, int] | None = None
) -> None:
    """An audit entry about an export."""
    log.record(
        access,
        verb,
        "subject_export",
        public_id("exp", row.id),
        namespace_id=row.namespaces[0] if row.namespaces else None,
        codes=codes or [],
        counts=counts,
    )


def _find(access: Access, subject: str) -> tuple[UUID, UUID]:
    """A subject and its own namespace, by the subject's exact key. Raises NotFound for one that this caller may not ask for."""
    found = Namespace.objects.filter(tenant_id=access.tenant_id, scope=Scope.USER, scope_id=subject).first()
    if found is None or found.subject_id is None or not may_export(access, found.subject_id):
        raise NotFound
    return found.subject_id, found.id


def _visible(access: Access, export_id: str) -> SubjectExport:
    key = parse_public_id("exp", export_id)
    row = None if key is None else visible_exports(access).filter(pk=key).first()
    if row is None:
        raise NotFound
    return row
