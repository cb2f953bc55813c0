"""The registry of audited verbs: number, dotted name, severity and label. Numbers are never used again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Severity(StrEnum):
    INFO = "info"
    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Verb:
    number: int
    name: str
    severity: Severity
    label: str | Promise


_ALL = (
    Verb(1, "tenant.provisioned", Severity.NOTICE, _("tenant provisioned")),
    Verb(2, "credential.created", Severity.WARNING, _("credential created")),
    Verb(3, "credential.revoked", Severity.WARNING, _("credential revoked")),
    Verb(4, "delegation.created", Severity.INFO, _("delegation created")),
    Verb(5, "delegation.revoked", Severity.NOTICE, _("delegation revoked")),
    Verb(6, "role.granted", Severity.WARNING, _("role granted")),
    Verb(10, "event.accepted", Severity.INFO, _("event accepted")),
    Verb(11, "events.accepted", Severity.INFO, _("batch of events accepted")),
    Verb(20, "candidate.decided", Severity.INFO, _("candidate decided")),
    Verb(21, "candidate.withdrawn", Severity.INFO, _("candidate withdrawn")),
    Verb(30, "memory.committed", Severity.INFO, _("memory committed")),
    Verb(31, "memory.revised", Severity.NOTICE, _("memory revised")),
    Verb(32, "memory.confirmed", Severity.INFO, _("memory confirmed")),
    Verb(33, "memory.withdrawn", Severity.NOTICE, _("memory withdrawn")),
    Verb(34, "memory.conflicted", Severity.NOTICE, _("memory put in conflict")),
    Verb(40, "deletion.accepted", Severity.CRITICAL, _("deletion accepted")),
    Verb(41, "deletion.completed", Severity.CRITICAL, _("deletion completed")),
    Verb(42, "deletion.stalled", Severity.CRITICAL, _("deletion stalled")),
    Verb(50, "job.dead", Severity.WARNING, _("job ended as dead letter")),
    Verb(51, "job.retried", Severity.NOTICE, _("dead letter retried")),
    Verb(52, "job.discarded", Severity.WARNING, _("dead letter discarded")),
    Verb(60, "index.rebuilt", Severity.NOTICE, _("index rebuilt")),
    Verb(70, "content.revealed", Severity.WARNING, _("private text shown")),
)

VERBS: dict[str, Verb] = {verb.name: verb for verb in _ALL}
