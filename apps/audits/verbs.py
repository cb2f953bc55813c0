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
    Verb(7, "project.created", Severity.NOTICE, _("project created")),
    Verb(8, "subject.created", Severity.NOTICE, _("subject created")),
    Verb(9, "agent.created", Severity.NOTICE, _("agent created")),
    Verb(10, "event.accepted", Severity.INFO, _("event accepted")),
    Verb(11, "events.accepted", Severity.INFO, _("batch of events accepted")),
    Verb(12, "event.sent_outside", Severity.NOTICE, _("event sent to an extractor outside")),
    Verb(13, "events.requeued", Severity.NOTICE, _("events queued to be read again")),
    Verb(14, "extraction.permitted", Severity.WARNING, _("extraction outside permitted or forbidden")),
    Verb(20, "candidate.decided", Severity.INFO, _("candidate decided")),
    Verb(21, "candidate.withdrawn", Severity.INFO, _("candidate withdrawn")),
    Verb(30, "memory.committed", Severity.INFO, _("memory committed")),
    Verb(31, "memory.revised", Severity.NOTICE, _("memory revised")),
    Verb(32, "memory.confirmed", Severity.INFO, _("memory confirmed")),
    Verb(33, "memory.withdrawn", Severity.NOTICE, _("memory withdrawn")),
    Verb(34, "memory.conflicted", Severity.NOTICE, _("memory put in conflict")),
    Verb(35, "memory.settled", Severity.NOTICE, _("memory settled in a conflict")),
    Verb(36, "conflict.resolved", Severity.WARNING, _("conflict settled")),
    Verb(100, "review.requested", Severity.NOTICE, _("review requested")),
    Verb(101, "review.claimed", Severity.INFO, _("review claimed")),
    Verb(102, "review.released", Severity.INFO, _("review given back")),
    Verb(103, "review.voted", Severity.NOTICE, _("review vote cast")),
    Verb(104, "review.approved", Severity.WARNING, _("review approved")),
    Verb(105, "review.rejected", Severity.WARNING, _("review rejected")),
    Verb(106, "review.policy_changed", Severity.WARNING, _("review policy changed")),
    Verb(40, "deletion.accepted", Severity.CRITICAL, _("deletion accepted")),
    Verb(41, "deletion.completed", Severity.CRITICAL, _("deletion completed")),
    Verb(42, "deletion.stalled", Severity.CRITICAL, _("deletion stalled")),
    Verb(43, "deletion.blocked", Severity.CRITICAL, _("deletion blocked by a hold")),
    Verb(44, "deletion.resumed", Severity.CRITICAL, _("deletion resumed")),
    Verb(45, "hold.placed", Severity.CRITICAL, _("legal hold placed")),
    Verb(46, "hold.lifted", Severity.CRITICAL, _("legal hold lifted")),
    Verb(47, "retention.swept", Severity.NOTICE, _("rows past their period ended")),
    Verb(48, "cancellation.requested", Severity.WARNING, _("cancellation requested")),
    Verb(49, "deletion.reapplied", Severity.CRITICAL, _("deletion applied again after a restore")),
    Verb(50, "job.dead", Severity.WARNING, _("job ended as dead letter")),
    Verb(51, "job.retried", Severity.NOTICE, _("dead letter retried")),
    Verb(52, "job.discarded", Severity.WARNING, _("dead letter discarded")),
    Verb(53, "export.requested", Severity.CRITICAL, _("export of a subject's data requested")),
    Verb(54, "export.completed", Severity.CRITICAL, _("export of a subject's data ready")),
    Verb(55, "export.downloaded", Severity.CRITICAL, _("export of a subject's data downloaded")),
    Verb(56, "export.ended", Severity.NOTICE, _("export of a subject's data removed")),
    Verb(57, "downstream.registered", Severity.WARNING, _("downstream system registered")),
    Verb(58, "downstream.ended", Severity.WARNING, _("downstream system ended")),
    Verb(59, "downstream.given_up", Severity.CRITICAL, _("downstream system given up for a deletion")),
    Verb(60, "index.rebuilt", Severity.NOTICE, _("index rebuilt")),
    Verb(61, "semantic_recall.permitted", Severity.NOTICE, _("recall by meaning permitted or forbidden")),
    Verb(62, "embedding.permitted", Severity.WARNING, _("embedding outside permitted or forbidden")),
    Verb(63, "embedding.sent_outside", Severity.NOTICE, _("texts sent to an embedder outside")),
    Verb(70, "content.revealed", Severity.WARNING, _("private text shown")),
    Verb(71, "trace.replayed", Severity.NOTICE, _("recorded question asked again")),
    Verb(72, "trace.explained", Severity.NOTICE, _("asked why a memory was not given")),
    Verb(80, "project.renamed", Severity.INFO, _("project renamed")),
    Verb(81, "member.added", Severity.NOTICE, _("project member added")),
    Verb(82, "member.ended", Severity.NOTICE, _("project membership ended")),
    Verb(83, "agent.activated", Severity.WARNING, _("agent switched on")),
    Verb(84, "agent.deactivated", Severity.WARNING, _("agent switched off")),
    Verb(85, "role.withdrawn", Severity.WARNING, _("role withdrawn")),
    Verb(86, "tenant.suspended", Severity.CRITICAL, _("tenant suspended")),
    Verb(87, "tenant.resumed", Severity.CRITICAL, _("tenant opened again")),
    Verb(88, "credential.rotated", Severity.WARNING, _("credential rotated")),
    Verb(89, "credential.widened", Severity.WARNING, _("credential given more reach")),
    Verb(90, "policy.created", Severity.NOTICE, _("access policy created")),
    Verb(91, "policy.reader_added", Severity.WARNING, _("reader added to access policy")),
    Verb(92, "policy.reader_removed", Severity.WARNING, _("reader removed from access policy")),
)

VERBS: dict[str, Verb] = {verb.name: verb for verb in _ALL}
