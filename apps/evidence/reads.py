"""Scoped reads of events: the only door to them for lists, details, sources and extraction."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import connection

from apps.audits import log
from apps.core.errors import DomainError, NotFound, OperationNotGranted, Revoked
from apps.core.prepared import fetch_prepared
from apps.evidence import registries
from apps.evidence.content import read_texts
from apps.evidence.coverage import usable
from apps.evidence.models import Derivation, SourceEvent
from apps.jobs.models import ProcessingJob
from apps.retention.barrier import Happening, covering, deletion_of
from apps.tenants.models import Operation
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.tenants.access import Access

_STATES = {
    ProcessingJob.State.QUEUED: "accepted",
    ProcessingJob.State.RUNNING: "extracting",
    ProcessingJob.State.RETRY_WAIT: "retry_wait",
    ProcessingJob.State.DONE: "extracted",
    ProcessingJob.State.DEAD: "dead",
    ProcessingJob.State.DISCARDED: "dead",
}

# Of several extractors the one that goes on is what the sender waits for; then what has failed.
_STATES_IN_VIEW = tuple(
    str(ProcessingJob.State[name]) for name in ("RUNNING", "QUEUED", "RETRY_WAIT", "DEAD", "DISCARDED", "DONE")
)

_HOLD = """
    SELECT e.id FROM evidence_sourceevent e JOIN tenants_namespace n ON n.id = e.namespace_id
    WHERE e.tenant_id = %(tenant)s AND n.tenant_id = %(tenant)s
      AND e.event_id = ANY(%(events)s) AND e.namespace_id = ANY(%(spaces)s::uuid[])
    ORDER BY n.id, e.id FOR SHARE OF e FOR KEY SHARE OF n
"""

_NAMES = """
    SELECT id, event_id, namespace_id, occurred_at, session_id, subject_id FROM evidence_sourceevent
    WHERE tenant_id = %s AND id = ANY(%s) AND namespace_id = ANY(%s::uuid[]) AND erased_at IS NULL AND NOT covered
"""


@dataclass(frozen=True, slots=True)
class Processing:
    """How far extraction is, and which candidates came of it."""

    state: str
    candidates: list[str]


@dataclass(frozen=True, slots=True)
class ReferenceView:
    uri: str
    sha256: str
    media_type: str
    byte_size: int


@dataclass(frozen=True, slots=True)
class EventDetail:
    """An event. Text, metadata and reference are null unless they were asked for with the right to raw text."""

    event_id: str
    scope: str
    scope_id: str
    subject: str | None
    session_id: str
    source_type: str
    trust: str
    occurred_at: datetime
    ingested_at: datetime
    sequence: int
    content_sha256: str
    redactions: list[dict[str, str | int]]
    retention_class: str
    topics: list[str]
    entities: list[str]
    derived_from: list[str]
    restrictions: list[str]
    deletion_epoch: int
    processing: Processing
    content: str | None = None
    content_ref: ReferenceView | None = None
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """An event with its text, for an extractor."""

    event: SourceEvent
    text: str | None
    metadata: dict[str, Any]


def readable_events(access: Access) -> QuerySet[SourceEvent]:
    """Events this access may read: in its namespaces, not erased, not covered by any accepted deletion."""
    return usable(SourceEvent.objects.filter(tenant_id=access.tenant_id, namespace_id__in=access.readable))


def readable_names(access: Access, keys: Collection[UUID]) -> dict[UUID, str]:
    """The sender's ids of the readable ones among these events, by primary key: `readable_events` for the way of every query."""
    if not keys:
        return {}
    rows = fetch_prepared(_NAMES, [access.tenant_id, list(keys), list(access.readable)])
    covered = covering(access.tenant_id, [Happening(row[2], row[3], row[0], row[4], row[5]) for row in rows])
    return {row[0]: row[1] for row, revocations in zip(rows, covered, strict=True) if not revocations}


def namespaces_of(access: Access, event_ids: Collection[str]) -> set[UUID]:
    """Where the readable ones among these events lie, deleted or not; an event never moves."""
    rows = SourceEvent.objects.filter(tenant_id=access.tenant_id, event_id__in=event_ids, namespace_id__in=access.readable)
    return set(rows.values_list("namespace_id", flat=True).distinct())


def hold_events(access: Access, event_ids: Collection[str]) -> None:
    """Let no deletion take the readable ones among these events before the end of the open transaction; look at them afterwards.

    A deletion marks its events or locks their namespaces; both wait for whoever builds on them now, wherever that is written, and
    the other way round (VH-13, VH-14). Whoever locks a namespace before locks those of the events along, in the order of keys.
    """
    with connection.cursor() as cursor:  # the ORM has no FOR SHARE
        cursor.execute(_HOLD, {"tenant": access.tenant_id, "events": list(event_ids), "spaces": list(access.readable)})


def find_events(access: Access, event_ids: Sequence[str], *, namespaces: Collection[UUID] | None = None) -> list[SourceEvent]:
    """The named events in the same order; from the readable namespaces unless others are given.

    Raises NotFound (absent and unreadable alike) and Revoked (it was there and is gone).
    """
    found = _by_event_id(access, event_ids, namespaces)
    return [_present(access, found.get(event_id)) for event_id in event_ids]


def parents_by_event_id(access: Access, event_ids: Collection[str]) -> dict[str, UUID | DomainError]:
    """Primary keys of origins, or why one cannot be used; an id that is missing is not found."""
    found: dict[str, UUID | DomainError] = {}
    for event_id, row in _by_event_id(access, event_ids).items():
        try:
            found[event_id] = _present(access, row).id
        except DomainError as error:
            found[event_id] = error
    return found


def material(access: Access, event: UUID) -> Material | None:
    """What an extractor reads of an event, by primary key; None when it was erased, is covered by a deletion or out of reach."""
    return materials(access, [event]).get(event)


def materials(access: Access, events: Collection[UUID]) -> dict[UUID, Material]:
    """What an extractor reads of events, by primary key; those that were erased, are covered or out of reach are missing."""
    rows = list(readable_events(access).filter(pk__in=events).select_related("retention_class"))
    texts = read_texts(access.tenant_id, (key for row in rows for key in (row.content_id, row.metadata_id)))
    return {
        row.id: Material(
            row,
            None if row.content_id is None else texts.get(row.content_id),
            {} if row.metadata_id is None else json.loads(texts.get(row.metadata_id, "{}")),
        )
        for row in rows
    }


def read_event(access: Access, event_id: str, *, include_content: bool = False) -> EventDetail:
    """One event by the sender's id.

    Raises NotFound, Revoked (it was readable and has been deleted; names the deletion) and OperationNotGranted (text asked for
    without ``raw:read``). Showing another subject's text is audited.
    """
    if include_content and Operation.RAW_READ not in access.operations:
        raise OperationNotGranted
    with tenant_transaction(access):
        row = _present(access, _by_event_id(access, [event_id]).get(event_id))
        texts = read_texts(access.tenant_id, [row.content_id, row.reference_id, row.metadata_id]) if include_content else {}
        if include_content and row.subject_id != access.subject_id:
            log.record(access, "content.revealed", "event", row.event_id, namespace_id=row.namespace_id)
        return _detail(access, row, texts)


def processing_of(tenant_id: UUID, row: SourceEvent) -> Processing:
    """From the newest job of every extractor that reads the event: done when all are, dead when one is and none goes on.

    An event that arrived covered is done with at once; finished jobs are removed after a while.
    """
    jobs = ProcessingJob.objects.filter(tenant_id=tenant_id, kind__in=registries.READING_KINDS, key__startswith=f"{row.id}:")
    newest: dict[str, str] = {}
    for key, state in jobs.order_by("-id").values_list("key", "state"):
        newest.setdefault(registries.reader_of(key), state)
    state = min(newest.values(), key=_STATES_IN_VIEW.index, default=ProcessingJob.State.DONE)
    return Processing(_STATES[ProcessingJob.State(state)], registries.candidates_of(tenant_id, row.id))


def _by_event_id(
    access: Access, event_ids: Collection[str], namespaces: Collection[UUID] | None = None
) -> dict[str, SourceEvent]:
    """Rows within reach, deleted ones too, each saying in ``is_usable`` whether it still is one to be shown."""
    reach = access.readable if namespaces is None else namespaces
    named = SourceEvent.objects.filter(tenant_id=access.tenant_id, event_id__in=set(event_ids), namespace_id__in=reach)
    rows = {row.event_id: row for row in named.select_related("namespace", "subject", "retention_class")}
    usable_ids = set(usable(named).values_list("id", flat=True)) if rows else set()
    for row in rows.values():
        row.is_usable = row.id in usable_ids  # type: ignore[attr-defined]  # read by _present only
    return rows


def _present(access: Access, row: SourceEvent | None) -> SourceEvent:
    if row is None:
        raise NotFound
    if not row.is_usable:  # type: ignore[attr-defined]
        raise Revoked(
            deletion_of(
                access.tenant_id,
                row.id,
                Happening(row.namespace_id, row.occurred_at, row.id, row.session_id, row.subject_id),
            )
        )
    return row


def _detail(access: Access, row: SourceEvent, texts: dict[UUID, str]) -> EventDetail:
    parents = Derivation.objects.filter(tenant_id=access.tenant_id, child_id=row.id, parent__in=readable_events(access))
    reference = None if row.reference_id is None else texts.get(row.reference_id)
    metadata = None if row.metadata_id is None else texts.get(row.metadata_id)
    return EventDetail(
        event_id=row.event_id,
        scope=row.namespace.scope,
        scope_id=row.namespace.scope_id,
        subject=None if row.subject is None else row.subject.key,
        session_id=row.session_id,
        source_type=row.source_type,
        trust=row.trust,
        occurred_at=row.occurred_at,
        ingested_at=row.ingested_at,
        sequence=row.sequence,
        content_sha256=row.content_sha256,
        redactions=row.redactions,
        retention_class=row.retention_class.key,
        topics=row.topics,
        entities=row.entities,
        derived_from=list(parents.order_by("parent__sequence").values_list("parent__event_id", flat=True)),
        restrictions=["no_rebuild"] if row.no_rebuild else [],
        deletion_epoch=row.deletion_epoch,
        processing=processing_of(access.tenant_id, row),
        content=None if row.content_id is None else texts.get(row.content_id),
        content_ref=None if reference is None else ReferenceView(**json.loads(reference)),
        metadata=None if metadata is None else json.loads(metadata),
    )
