"""Changing what a memory says: revise, confirm, withdraw (design/06 Memories; VH-10, VH-16, VH-17, TM-03).

All three append a version and never change one. A revision by whoever may write there, made against the version he has seen, is
an authorised correction: it is never a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from apps.core.errors import Conflict, FieldError, NotPermitted, ValidationFailed, VersionConflict
from apps.core.text import hidden_characters
from apps.memories import conflicts, labels
from apps.memories.admission import condition_texts, is_forbidden
from apps.memories.commit import Author, Saying, Span, lock_namespace, remerged, review_date
from apps.memories.digests import fact_digest
from apps.memories.door import require_readable
from apps.memories.lines import HEAD_STATES, Rival, lock_memory
from apps.memories.merging import said_by
from apps.memories.models import Authority, Memory
from apps.memories.proposals import conditions_hash
from apps.memories.sources import Linked, gather, links_to, namespaces_of
from apps.memories.writing import Writer
from apps.tenants.transactions import current_revision, revision_token, tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from apps.memories.models import MemoryVersion
    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

# What made a version, beside the merge decisions: its owner did, or a reviewer.
REVISE, CONFIRM, WITHDRAW, RESOLVE, VALIDATE = "REVISE", "CONFIRM", "WITHDRAW", "RESOLVE", "VALIDATE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a revision changes; None leaves a field as it is."""

    content: str | None = None
    rationale: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    last_confirmed_at: datetime | None = None
    expected_resolution_at: datetime | None = None
    conditions: Mapping[str, object] | None = None
    topics: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    aliases: tuple[str, ...] | None = None
    retrieval_policy: str | None = None
    source_event_ids: tuple[str, ...] = ()

    def applied(self, saying: Saying, reason: str) -> Saying:
        """What the version says with the changes in it."""
        apart = ("valid_from", "valid_to", "source_event_ids")
        values: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in apart}
        given = {name: value for name, value in values.items() if value is not None}
        return replace(saying, **given, reason=reason or None)


@dataclass(frozen=True, slots=True)
class Revised:
    """``status`` is committed or no_op; ``version`` is the current one, either way."""

    memory_id: str
    status: str
    version: int
    revision: str


@dataclass(slots=True)
class _Open:
    """A memory under its locks, ready to be changed."""

    writer: Writer
    rival: Rival
    memory_id: str
    saying: Saying = field(init=False)

    def __post_init__(self) -> None:
        self.saying = said_by(self.head, self.writer.text_of(self.head))

    @property
    def memory(self) -> Memory:
        return self.rival.memory

    @property
    def head(self) -> MemoryVersion:
        return self.rival.head

    @property
    def span(self) -> Span:
        return Span(self.head.valid_from, self.head.valid_to, stated=self.head.effective)

    @property
    def links(self) -> list[Linked]:
        return list(self.rival.links[self.head.version])

    def unchanged(self) -> Revised:
        return Revised(self.memory_id, "no_op", self.memory.version, revision_token(current_revision(self.writer.tenant_id)))

    def replaced(self, saying: Saying, span: Span, links: list[Linked], decision: str) -> MemoryVersion:
        """Put a version in the place of the head, which then never held."""
        self.writer.correct(self.rival, self.head.version)
        return self.writer.append(self.rival, saying, span, links, decision)

    def finished(self, verb: str) -> Revised:
        self.writer.finish(verb)
        revision = self.writer.flush()
        return Revised(self.memory_id, "committed", self.memory.version, revision_token(revision))


# -- the verbs


def revise_memory(access: Access, memory_id: str, *, expected_version: int, change: Change, reason: str) -> Revised:
    """Append a version with the changes and move the head; nothing changed is ``no_op``.

    New text stands on the sources given with it; text that stays keeps its evidence. The start stays unless it is given.

    Raises NotFound, Revoked, NotPermitted (readable, not writable), VersionConflict, Conflict (withdrawn or superseded) and
    ValidationFailed (as for a new record; also forbidden material and hidden characters).
    """

    def work() -> Revised:
        with tenant_transaction(access) as tx:
            found = _open(access, tx, memory_id, expected_version, sources=change.source_event_ids)
            _require_allowed(access, found, change, reason)
            saying = change.applied(found.saying, reason)
            span = _changed_span(found, change)
            gained = _gained(access, found, change, span)
            if replace(saying, reason=None) == found.saying and span == found.span and not gained:
                return found.unchanged()
            _move_conditions(found, saying)
            same_text = saying.proposition == found.saying.proposition
            links = [*found.links, *gained] if same_text else gained
            _make_room(found, change, span, same_text=same_text)
            saying = replace(saying, hidden_characters=_is_hidden(saying.content, saying.rationale, *saying.aliases))
            found.writer.append(found.rival, saying, span, links, REVISE)
            found.memory.state = Memory.State.ACTIVE
            found.memory.review_after = review_date(found.writer.at, found.memory.retention_class)
            return found.finished("memory.revised")

    return remerged(work)


def confirm_memory(access: Access, memory_id: str, *, observed_at: datetime, expected_version: int | None = None) -> Revised:
    """Record that the same state was seen again; text and validity stay (TM-03).

    A confirmation no later than the last one is ``no_op``. Raises NotFound, Revoked, NotPermitted, VersionConflict, Conflict, and
    ValidationFailed (before the observation, TM-13).
    """

    def work() -> Revised:
        with tenant_transaction(access) as tx:
            found = _open(access, tx, memory_id, expected_version)
            if found.saying.observed_at is not None and observed_at < found.saying.observed_at:
                detail = "A confirmation cannot come before the observation."
                raise ValidationFailed([FieldError("/observed_at", "before_observation", detail)])
            last = found.saying.last_confirmed_at
            if last is not None and observed_at <= last:
                return found.unchanged()
            found.replaced(replace(found.saying, last_confirmed_at=observed_at), found.span, found.links, CONFIRM)
            return found.finished("memory.confirmed")

    return remerged(work)


def withdraw_memory(access: Access, memory_id: str, *, expected_version: int, reason: str) -> Revised:
    """Take a memory out of use; it stays readable by id and its key is free. A second time is ``no_op``.

    Raises NotFound, Revoked, NotPermitted, VersionConflict, Conflict (superseded) and ValidationFailed (forbidden material in the
    reason).
    """

    def work() -> Revised:
        with tenant_transaction(access) as tx:
            found = _open(access, tx, memory_id, expected_version, withdrawn=True)
            if found.memory.state == Memory.State.WITHDRAWN:
                return found.unchanged()
            _refuse_forbidden([("/reason", [reason])])
            found.replaced(replace(found.saying, reason=reason or None), found.span, found.links, WITHDRAW)
            found.memory.state = Memory.State.WITHDRAWN
            conflicts.leave(access.tenant_id, found.memory, found.writer.tx.next_revision())
            return found.finished("memory.withdrawn")

    return remerged(work)


# -- steps


def _open(
    access: Access,
    tx: TenantTransaction,
    memory_id: str,
    expected_version: int | None,
    *,
    withdrawn: bool = False,
    sources: Sequence[str] = (),
) -> _Open:
    """Find, authorise, lock and compare, in this order: who may not see it learns nothing about it (ID-09)."""
    memory = require_readable(access, memory_id)
    if not access.by_id[memory.namespace_id].write:
        raise NotPermitted
    namespace = lock_namespace(access.tenant_id, memory.namespace_id, namespaces_of(access, sources))
    rival = lock_memory(access.tenant_id, memory.id)
    if rival.memory.state == Memory.State.REVOKED:  # a deletion was accepted while we waited (VH-14)
        require_readable(access, memory_id)
    if expected_version is not None and expected_version != rival.memory.version:
        raise VersionConflict(rival.memory.version)
    if rival.memory.authority != Authority.DATABASE:
        raise NotPermitted  # Git knowledge changes by promotion only
    if rival.memory.state not in (*HEAD_STATES, *((Memory.State.WITHDRAWN,) if withdrawn else ())):
        raise Conflict
    author = Author(access.actor_id, access.subject_id, "api", access.session_id or "")
    return _Open(Writer(tx, access, namespace, author), rival, memory_id)


def _require_allowed(access: Access, found: _Open, change: Change, reason: str) -> None:
    """The checks of a new record, with the field that failed (CA-06, CA-22, LB-03, TM-13, ID-31)."""
    texts: list[tuple[str, Iterable[str]]] = [
        ("/content", [change.content] if change.content else []),
        ("/rationale", [change.rationale] if change.rationale else []),
        ("/aliases", change.aliases or ()),
        ("/conditions", condition_texts(dict(change.conditions or {}))),
        ("/reason", [reason]),
    ]
    _refuse_forbidden(texts)
    hidden = [
        FieldError(pointer, "hidden_characters", "This holds characters that cannot be seen or that change the direction.")
        for pointer, values in texts
        if pointer in ("/content", "/rationale", "/aliases") and _is_hidden(*values)
    ]
    if hidden:
        raise ValidationFailed(hidden)
    labels.require_known(access.tenant_id, change.topics or (), change.entities or ())
    seen = found.saying.observed_at
    if change.last_confirmed_at is not None and seen is not None and change.last_confirmed_at < seen:
        detail = "A confirmation cannot come before the observation."
        raise ValidationFailed([FieldError("/last_confirmed_at", "before_observation", detail)])


def _refuse_forbidden(texts: Iterable[tuple[str, Iterable[str]]]) -> None:
    errors = [
        FieldError(pointer, "forbidden_material", "This holds something that may not be stored.")
        for pointer, values in texts
        if is_forbidden(*values)
    ]
    if errors:
        raise ValidationFailed(errors)


def _is_hidden(*texts: str | None) -> bool:
    return any(text and hidden_characters(text) for text in texts)


def _changed_span(found: _Open, change: Change) -> Span:
    """The new interval. It must not reach back over the version before (one value at a time)."""
    span = found.span
    if change.valid_from is not None:
        span = Span(change.valid_from, span.end, stated=True)
    if change.valid_to is not None:
        span = replace(span, end=change.valid_to)
    if span.end is not None and span.end < span.start:
        pointer = "/valid_to" if change.valid_to is not None else "/valid_from"
        raise ValidationFailed([FieldError(pointer, "out_of_order", "The end must not lie before the start.")])
    before = _before(found)
    if before is not None and span.start <= before.valid_from:
        detail = "An earlier version begins at or after this time."
        raise ValidationFailed([FieldError("/valid_from", "out_of_order", detail)])
    return span


def _before(found: _Open) -> MemoryVersion | None:
    earlier = [one for one in found.rival.live if one.version != found.head.version and one.valid_from < found.head.valid_from]
    return earlier[-1] if earlier else None


def _gained(access: Access, found: _Open, change: Change, span: Span) -> list[Linked]:
    """Evidence that comes with the change and was not there."""
    if not change.source_event_ids:
        return []
    memory, namespace = found.memory, found.writer.namespace
    digest = fact_digest(namespace.index_key, namespace.id, memory.memory_type, memory.fact_key)
    sources = gather(access, change.source_event_ids, (), digest)
    if sources.fault is not None:
        raise ValidationFailed([FieldError("/source_event_ids", sources.fault.value, "A source cannot be used.")])
    known = {link.evidence_id for link in found.links}
    held = sources.latest_origin or span.start
    return [link for link in links_to(access, sources, held) if link.evidence_id not in known]


def _move_conditions(found: _Open, saying: Saying) -> None:
    """Other conditions are another place under the key, which must be free (VH-07, C29)."""
    memory = found.memory
    wanted = conditions_hash(saying.conditions)
    if wanted == memory.conditions_hash:
        return
    taken = Memory.objects.filter(
        tenant_id=memory.tenant_id,
        namespace_id=memory.namespace_id,
        memory_type=memory.memory_type,
        fact_key=memory.fact_key,
        conditions_hash=wanted,
        state__in=HEAD_STATES,
    )
    if taken.exists():
        raise ValidationFailed([FieldError("/conditions", "already_current", "Another record holds under these conditions.")])
    conflicts.leave(memory.tenant_id, memory, found.writer.tx.next_revision())
    memory.conditions_hash = wanted


def _make_room(found: _Open, change: Change, span: Span, *, same_text: bool) -> None:
    """End what the new version takes the place of: a new value from a later time on ends the old one, a correction undoes it."""
    head, writer = found.head, found.writer
    before = _before(found)
    if not same_text and change.valid_from is not None and span.start > head.valid_from:
        writer.end(found.rival, head.version, span.start)
        return
    joined = before is not None and before.valid_to == head.valid_from
    writer.correct(found.rival, head.version)
    if before is not None and (joined or before.valid_to is None or before.valid_to > span.start):
        before.valid_to = span.start
        before.save(update_fields=["valid_to"])
