"""Receiving events: one transaction from authorised draft to queued extraction (design/03 step 1; EV-11..15).

A batch is the same transaction for up to 500 drafts. Its cost is a fixed number of statements, whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from apps.audits import log
from apps.core import clock
from apps.core.errors import AuthorityUnavailable, DomainError, EventIdConflict, FieldError, NotFound, Revoked, ValidationFailed
from apps.core.ids import new_id, public_id
from apps.evidence.content import store_texts
from apps.evidence.drafts import Draft, Prepared, prepare
from apps.evidence.event_rows import Ground, NewEvent, insert, lock_ground
from apps.evidence.models import Derivation, SourceEvent
from apps.evidence.reads import hold_events, namespaces_of, parents_by_event_id
from apps.evidence.registries import canonical_labels, extraction, further_extractions
from apps.evidence.sources import TRUST
from apps.jobs.queue import enqueue, publish
from apps.retention.barrier import Happening, covering, deletion_of, is_clearing
from apps.retention.classes import default_class, unknown_class
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

_TRIES = 4  # of one transaction, when others insert the same ids at the same moment


@dataclass(frozen=True, slots=True)
class Accepted:
    """What the sender is told. ``accepted_for_processing`` never means remembered (CA-20)."""

    status: str
    event_id: str
    sequence: int
    ingested_at: datetime
    content_sha256: str
    redactions: list[dict[str, str | int]]
    deletion_epoch: int
    job_id: str | None
    replayed: bool


class _Raced(Exception):
    """One of the ids is there already; what was done is rolled back and looked at again."""


def accept_event(access: Access, draft: Draft) -> Accepted:
    """Store one event and queue its extraction, or recognise a replay (EV-12, EV-13).

    Raises NotFound (scope, session or an origin out of reach), NotPermitted (scope not writable), ValidationFailed (unknown
    label or retention class, made from itself), EventIdConflict (the id is taken by something else), Revoked (it was deleted).
    """
    (result,) = accept_events(access, [draft])
    if isinstance(result, DomainError):
        raise result
    return result


def accept_events(access: Access, drafts: Sequence[Draft]) -> list[Accepted | DomainError]:
    """Store many events in one transaction; one result per draft in the same order.

    A draft that cannot be accepted gets its error and never fails the others; they are told apart before anything is written.
    An id that stands twice is a replay or a conflict of its first draft. Origins may be drafts that stand earlier in the batch.
    """
    for attempt in range(_TRIES):
        batch = _Batch(access, drafts)
        try:
            with tenant_transaction(access) as tx:
                # One new event is the common case: only a second try looks whether its id is there already.
                batch.accept(tx, look_first=attempt > 0 or len(drafts) > 1)
        except _Raced:
            continue
        return batch.results()
    raise AuthorityUnavailable(retry_after=1)


class _Batch:
    """The drafts of one call on their way through one transaction."""

    def __init__(self, access: Access, drafts: Sequence[Draft]) -> None:
        self.access = access
        self.found: list[Accepted | DomainError | None] = [None] * len(drafts)
        self.prepared: dict[int, Prepared] = {}
        self.rows: dict[int, NewEvent] = {}  # by number of the draft
        self.repeats: dict[int, int] = {}  # a later draft of an id → its first one
        self.derivations: list[Derivation] = []
        self.clearing: dict[frozenset[UUID], bool] = {}
        for number, draft in enumerate(drafts):
            try:
                self.prepared[number] = prepare(access, draft)
            except DomainError as error:
                self.found[number] = error

    def results(self) -> list[Accepted | DomainError]:
        for number, first in self.repeats.items():
            of_first = self.found[first]
            self.found[number] = _again(of_first) if isinstance(of_first, Accepted) else of_first
        return [one for one in self.found if one is not None]

    def accept(self, tx: TenantTransaction, *, look_first: bool) -> None:
        if not self.prepared:
            return
        if look_first:
            self._recognise()
        if not self.prepared:
            return
        wanted = {one.draft.retention_class or default_class(self.access) for one in self.prepared.values()}
        spaces = {one.grant.id for one in self.prepared.values()}
        origins = {event_id for one in self.prepared.values() for event_id in one.draft.derived_from}
        if origins:
            spaces |= namespaces_of(self.access, origins)
        ground = lock_ground(self.access.tenant_id, spaces, wanted, len(self.prepared))
        self._build(ground, self._labels(), self._covered())
        if self.rows:
            self._write(tx)
        elif not look_first:
            raise _Raced  # refused; but if the id is there already, that is what has to be said

    def _recognise(self) -> None:
        """Replays, conflicts and ids that were deleted."""
        there = {
            row.event_id: row
            for row in SourceEvent.objects.filter(
                tenant_id=self.access.tenant_id, event_id__in={one.draft.event_id for one in self.prepared.values()}
            )
        }
        if not there:
            return
        covers = covering(self.access.tenant_id, [happening_of(row) for row in there.values()])
        gone = {row.event_id for row, cover in zip(there.values(), covers, strict=True) if is_gone(row, covered=bool(cover))}
        for number, one in list(self.prepared.items()):
            row = there.get(one.draft.event_id)
            if row is None:
                continue
            del self.prepared[number]
            if row.event_id in gone and row.namespace_id in self.access.readable:
                self.found[number] = Revoked(deletion_of(self.access.tenant_id, row.id, happening_of(row)))
            elif row.event_id in gone or row.fingerprint != one.fingerprint:
                # An id that is taken out of the caller's sight is a conflict like any other: ids are unique in the tenant.
                self.found[number] = EventIdConflict()
            else:
                self.found[number] = _accepted(row, replayed=True)

    def _labels(self) -> dict[str, dict[str, str]]:
        """Canonical keys of every label in the batch, by kind."""
        found = {}
        for kind in ("topic", "entity"):
            wanted = frozenset(
                label for one in self.prepared.values() for label in (one.draft.topics if kind == "topic" else one.draft.entities)
            )
            found[kind] = dict(canonical_labels(self.access.tenant_id, kind, wanted))
        return found

    def _covered(self) -> dict[int, frozenset[UUID]]:
        """The revocations that cover each draft; asked after the namespaces are locked."""
        numbers = list(self.prepared)
        happenings = [
            Happening(one.grant.id, one.draft.occurred_at, None, one.session_id, self.access.subject_id)
            for one in self.prepared.values()
        ]
        return dict(zip(numbers, covering(self.access.tenant_id, happenings), strict=True))

    def _build(self, ground: Ground, labels: dict[str, dict[str, str]], covers: dict[int, frozenset[UUID]]) -> None:
        """Rows for the drafts that pass; origins are looked up among stored events and the drafts before."""
        origins = {event_id for one in self.prepared.values() for event_id in one.draft.derived_from}
        parents: dict[str, UUID | DomainError] = {}
        if origins:
            hold_events(self.access, origins)
            parents = parents_by_event_id(self.access, origins)
        own: dict[str, UUID] = {}
        first: dict[str, int] = {}
        sequences = iter(ground.sequences)
        at = clock.now()
        for number, one in self.prepared.items():
            sequence = next(sequences)
            known = first.get(one.draft.event_id)
            if known is not None:
                self._repeat(number, known)
                continue
            try:
                topics = _canonical(one.draft.topics, labels["topic"], "topics")
                entities = _canonical(one.draft.entities, labels["entity"], "entities")
                class_key = one.draft.retention_class or default_class(self.access)
                if class_key not in ground.classes:
                    raise ValidationFailed([unknown_class("/retention_class")])
                made_from = [_origin(event_id, own, parents) for event_id in one.draft.derived_from]
            except DomainError as error:
                self.found[number] = error
                continue
            row = NewEvent(
                id=new_id(),
                tenant_id=self.access.tenant_id,
                event_id=one.draft.event_id,
                namespace_id=one.grant.id,
                subject_id=self.access.subject_id,
                session_id=one.session_id,
                actor_id=self.access.actor_id,
                source_type=one.draft.source_type,
                trust=TRUST[one.draft.source_type],
                occurred_at=one.draft.occurred_at,
                ingested_at=at,
                sequence=sequence,
                content_sha256=one.content_sha256,
                fingerprint=one.fingerprint,
                retention_class_id=ground.classes[class_key],
                deletion_epoch=ground.epochs[one.grant.id],
                redactions=one.redactions,
                topics=topics,
                entities=entities,
            )
            self._cover(row, covers[number])
            self.rows[number] = row
            first[one.draft.event_id] = number
            if not row.covered:
                own[one.draft.event_id] = row.id
            self.derivations += [
                Derivation(tenant_id=self.access.tenant_id, child_id=row.id, parent_id=parent)
                for parent in dict.fromkeys(made_from)
                if row.erased_at is None
            ]

    def _repeat(self, number: int, first: int) -> None:
        """The same id again in one batch: the first draft that could be stored counts."""
        if self.prepared[first].fingerprint == self.prepared[number].fingerprint:
            self.repeats[number] = first
        else:
            self.found[number] = EventIdConflict()

    def _cover(self, row: NewEvent, revocations: frozenset[UUID]) -> None:
        """What happened before a deletion of its session, subject or namespace is only noted: no text, no job (design/05 step 6).

        While that deletion is still clearing sources it will clear this row too; after that nothing but the taken id is kept.
        """
        if not revocations:
            return
        row.covered = True
        if revocations not in self.clearing:
            self.clearing[revocations] = is_clearing(self.access.tenant_id, revocations, "sources")
        if not self.clearing[revocations]:
            row.forget()

    def _write(self, tx: TenantTransaction) -> None:
        access = self.access
        living = {number: row for number, row in self.rows.items() if not row.covered}
        recipe = extraction()
        work = [recipe.work(row.id, row.deletion_epoch, row.namespace_id) for row in living.values()]
        for number, row in living.items():
            scope = self.prepared[number].grant.scope
            further = further_extractions(access, scope, row.source_type)
            work += [other.work(row.id, row.deletion_epoch, row.namespace_id) for other in further]
        for row, job in zip(living.values(), enqueue(tx, access, work), strict=False):  # the first ones, in the same order
            row.job_id = job.id
        texts = self._assign_texts(living)
        if insert(self.rows.values()) != len(self.rows):
            raise _Raced
        store_texts(access.tenant_id, [(row.namespace_id, text) for row, _, text in texts], ids=[key for _, key, _ in texts])
        if self.derivations:
            Derivation.objects.bulk_create(self.derivations)
        publish(access, "event.accepted", [(row.id, row.sequence) for row in living.values()])
        self._audit()
        for number, row in self.rows.items():
            sha256 = self.prepared[number].content_sha256
            self.found[number] = _accepted(row, replayed=False, sha256=sha256, redactions=self.prepared[number].redactions)

    def _assign_texts(self, living: dict[int, NewEvent]) -> list[tuple[NewEvent, UUID, str]]:
        """Give every private text its place; a covered event keeps none."""
        texts: list[tuple[NewEvent, UUID, str]] = []
        for number, row in living.items():
            one = self.prepared[number]
            for column, text in (("content_id", one.content), ("reference_id", one.reference), ("metadata_id", one.metadata)):
                if text is not None:
                    key = new_id()
                    setattr(row, column, key)
                    texts.append((row, key, text))
        return texts

    def _audit(self) -> None:
        """One entry: of the event, or of the batch."""
        rows = list(self.rows.values())
        spaces = {row.namespace_id for row in rows}
        where = spaces.pop() if len(spaces) == 1 else None
        redactions = sum(len(row.redactions) for row in rows)
        if len(self.found) == 1:
            codes = ["covered"] if rows[0].covered else []
            counts = {"redactions": redactions} if redactions else {}
            log.record(self.access, "event.accepted", "event", rows[0].event_id, namespace_id=where, codes=codes, counts=counts)
            return
        counts = {
            "accepted": len(rows),
            "covered": sum(row.covered for row in rows),
            "refused": sum(isinstance(one, DomainError) for one in self.found),
            "replayed": sum(isinstance(one, Accepted) for one in self.found) + len(self.repeats),
            "redactions": redactions,
        }
        # The first sequence names the batch: its events have the numbers from there on.
        log.record(
            self.access, "events.accepted", "batch", str(min(row.sequence for row in rows)), namespace_id=where, counts=counts
        )


def happening_of(row: SourceEvent) -> Happening:
    """A stored event as the barrier sees it."""
    return Happening(row.namespace_id, row.occurred_at, row.id, row.session_id, row.subject_id)


def is_gone(row: SourceEvent, *, covered: bool) -> bool:
    """Whether an event was erased, or accepted and covered by a deletion later. One that arrived covered was never there."""
    return row.erased_at is not None or (row.job_id is not None and (row.covered or covered))


def _origin(event_id: str, own: dict[str, UUID], parents: dict[str, UUID | DomainError]) -> UUID:
    found = own.get(event_id) or parents.get(event_id)
    if found is None:
        raise NotFound
    if isinstance(found, DomainError):
        raise found
    return found


def _canonical(labels: tuple[str, ...], known: dict[str, str], field: str) -> list[str]:
    """Canonical keys of labels; raises ValidationFailed naming each unknown one and its place (LB-05)."""
    unknown = [
        FieldError(f"/{field}/{place}", "unknown_label", f"The tenant has no such label: {label}")
        for place, label in enumerate(labels)
        if label not in known
    ]
    if unknown:
        raise ValidationFailed(unknown)
    return list(dict.fromkeys(known[label] for label in labels))


def _accepted(
    row: SourceEvent | NewEvent,
    *,
    replayed: bool,
    sha256: str | None = None,
    redactions: list[dict[str, str | int]] | None = None,
) -> Accepted:
    return Accepted(
        status="accepted_for_processing",
        event_id=row.event_id,
        sequence=row.sequence,
        ingested_at=row.ingested_at,
        content_sha256=row.content_sha256 if sha256 is None else sha256,
        redactions=row.redactions if redactions is None else redactions,
        deletion_epoch=row.deletion_epoch,
        job_id=None if row.job_id is None else public_id("job", row.job_id),
        replayed=replayed,
    )


def _again(first: Accepted) -> Accepted:
    return Accepted(
        status=first.status,
        event_id=first.event_id,
        sequence=first.sequence,
        ingested_at=first.ingested_at,
        content_sha256=first.content_sha256,
        redactions=first.redactions,
        deletion_epoch=first.deletion_epoch,
        job_id=first.job_id,
        replayed=True,
    )
