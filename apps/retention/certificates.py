"""Deletion certificates: the signed result of a completed deletion (design/05 step 5; DJ-23).

A certificate holds counts, codes, ids and instants; no text, and no hash of deleted text, because a hash of a short text is the
text to whoever guesses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from apps.core import clock
from apps.core.errors import NotFound
from apps.core.ids import public_id
from apps.retention import signing
from apps.retention.models import DeletionCertificate, DeletionJob, DeletionStep, Exposure
from apps.retention.reads import copies_of, visible_job
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.tenants.access import Access

FORMAT: Final = "memory-platform/deletion-certificate/1"
MEMBER: Final = "certificate"  # where the signed document stands in the answer


@dataclass(frozen=True, slots=True)
class SignatureView:
    """Ed25519 over the canonical JSON of the certificate; ``key_id`` is the SHA-256 of the raw public key."""

    algorithm: str
    key_id: str
    value: str


@dataclass(frozen=True, slots=True)
class CertificateView:
    """What ``manage.py verify_certificate`` checks without a database."""

    certificate: dict[str, Any]
    signature: SignatureView


def read_certificate(access: Access, job_id: str) -> CertificateView:
    """The certificate of a completed deletion that the caller may see; NotFound for every other one, also while it runs."""
    with tenant_transaction(access):
        job = visible_job(access, job_id)
        if job.state != DeletionJob.State.COMPLETED:
            raise NotFound
        found = ensure_certificate(job)
    return CertificateView(found.document, SignatureView(signing.ALGORITHM, found.key_id, found.signature))


def ensure_certificate(job: DeletionJob) -> DeletionCertificate:
    """Issue the certificate of a completed job, or find it; inside the tenant context.

    It is issued in the transaction that completes the deletion. A deletion completed before there were certificates gets its own
    when somebody asks.
    """
    known = DeletionCertificate.objects.filter(tenant_id=job.tenant_id, job=job).first()
    if known is not None:
        return known
    at = clock.now()
    document = _document(job, list(job.steps.order_by("position")), at)
    signature, key_id = signing.sign(document)
    made, _ = DeletionCertificate.objects.get_or_create(
        tenant_id=job.tenant_id,
        job=job,
        defaults={"document": document, "signature": signature, "key_id": key_id, "issued_at": at},
    )
    return made


def _document(job: DeletionJob, steps: Sequence[DeletionStep], at: datetime) -> dict[str, object]:
    return {
        "format": FORMAT,
        "job_id": public_id("del", job.id),
        "deletion_request_id": job.deletion_request_id,
        "tenant_id": str(job.tenant_id),
        "target": {"kind": job.target_kind, "id": job.target_public_id},
        "cover_sources": job.cover_sources,
        "suppress_future": job.suppress_future,
        "deletion_epoch": job.epoch,
        "revision": job.revision,
        "accepted_at": _text(job.accepted_at),
        "completed_at": _text(job.completed_at),
        "issued_at": _text(at),
        "layers": [
            {
                "layer": step.layer,
                "status": step.state,
                "found": step.found,
                "cleared": step.cleared,
                "remaining": step.remaining,
                "attempts": step.attempts,
                "verified_at": _text(step.verified_at),
            }
            for step in steps
        ],
        "remaining_copies": [
            {"layer": copy.layer, "location": copy.location, "reason": copy.reason, "until": _text(copy.until)}
            for copy in copies_of(job, steps)
        ],
        "exposures": Exposure.objects.filter(tenant_id=job.tenant_id, job=job).count(),
    }


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
