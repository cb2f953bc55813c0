"""Nouns of floor 4."""

from apps.retention.models.backups import Backup
from apps.retention.models.cancellations import Cancellation
from apps.retention.models.certificates import DeletionCertificate
from apps.retention.models.classes import RetentionClass
from apps.retention.models.deletions import DeletionJob, DeletionStep
from apps.retention.models.downstream import DownstreamNotice, DownstreamSystem
from apps.retention.models.exports import SubjectExport
from apps.retention.models.exposures import Exposure
from apps.retention.models.holds import LegalHold
from apps.retention.models.ledger import LedgerRecord, LedgerState
from apps.retention.models.revocations import Revocation, TargetKind

__all__ = [
    "Backup",
    "Cancellation",
    "DeletionCertificate",
    "DeletionJob",
    "DeletionStep",
    "DownstreamNotice",
    "DownstreamSystem",
    "Exposure",
    "LedgerRecord",
    "LedgerState",
    "LegalHold",
    "RetentionClass",
    "Revocation",
    "SubjectExport",
    "TargetKind",
]
