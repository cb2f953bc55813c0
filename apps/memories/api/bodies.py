"""Bodies and query parameters of candidates, memories and conflicts (design/06)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, ClassVar

from apps.core.api.fields import anything, boolean, choice, identifier, instant, integer, items, json_object, key, nested, text
from apps.core.api.schema import Body, ListQuery, Query
from apps.core.errors import FieldError, ValidationFailed
from apps.core.limits import LIMITS
from apps.memories.models import (
    Authority,
    Candidate,
    ConflictSet,
    EpistemicStatus,
    Memory,
    MemoryType,
    Relation,
    RetrievalPolicy,
    Verdict,
)
from apps.memories.proposals import Proposal, ProposedRelation
from apps.memories.reads import MemoryFilter
from apps.memories.resolution import ExpectedMember, Settlement
from apps.memories.revision import Change
from apps.tenants.models import Scope
from apps.tenants.transactions import MOST_WAIT_MS, WAIT_MS, revision_number

_LABEL_CHARS = 128
_ALIAS_CHARS = 200
_MOST_SOURCES = 100
_CONDITION_BYTES = 8 * 1024
_NOW = timedelta(seconds=LIMITS.future_seconds)
_REVISION = r"rev_[0-9]{1,18}"


def _labels(*, default: tuple[str, ...] | None) -> Any:  # noqa: ANN401 - a field specifier
    return items(key(max_chars=_LABEL_CHARS), max_items=LIMITS.labels, default=default)


class RelationIn(Body):
    """How the proposed memory stands to one that exists."""

    type: Relation.Type = choice(Relation.Type)
    memory_id: str = identifier()


class CandidateIn(Body):
    """A proposed memory."""

    candidate_id: str = identifier(help="The proposer's own id; sent again, the answer is the same.")
    scope: Scope = choice(Scope)
    scope_id: str | None = identifier(default=None)
    memory_type: MemoryType = choice(MemoryType)
    fact_key: str = key(help="The relation this states, such as assistant.reply_language.")
    content: str = text(max_bytes=LIMITS.content_bytes, blank=False)
    rationale: str | None = text(max_bytes=LIMITS.content_bytes, default=None)
    conditions: dict[str, object] = json_object(max_bytes=_CONDITION_BYTES, max_keys=LIMITS.condition_keys, default_factory=dict)
    epistemic_status: EpistemicStatus = choice(EpistemicStatus)
    verdict: Verdict | None = choice(Verdict, default=None, help="Required for findings.")
    topics: tuple[str, ...] = _labels(default=())
    entities: tuple[str, ...] = _labels(default=())
    aliases: tuple[str, ...] = items(text(max_chars=_ALIAS_CHARS, blank=False), max_items=LIMITS.labels, default=())
    source_event_ids: tuple[str, ...] = items(identifier(), max_items=_MOST_SOURCES, default=())
    evidence_refs: tuple[str, ...] = items(identifier(), max_items=_MOST_SOURCES, default=())
    valid_from: datetime | None = instant(default=None, help="Since when it holds, if that was said.")
    valid_to: datetime | None = instant(end_of_day=True, default=None, help="Exclusive; a bare date includes its day.")
    observed_at: datetime | None = instant(ahead=_NOW, default=None)
    last_confirmed_at: datetime | None = instant(ahead=_NOW, default=None)
    expected_resolution_at: datetime | None = instant(default=None, help="When to look again; not an end.")
    retrieval_policy: RetrievalPolicy = choice(RetrievalPolicy, default=RetrievalPolicy.RELEVANT)
    retention_class: str | None = identifier(default=None)
    access_policy_id: str | None = identifier(default=None)
    authority: Authority = choice(Authority, default=Authority.DATABASE)
    relations: tuple[RelationIn, ...] = items(nested(RelationIn), max_items=LIMITS.labels, default=())
    expected_version: int | None = integer(minimum=1, default=None, help="Version of the current record under this key.")

    def cross_check(self) -> Iterator[FieldError]:
        if self.memory_type is MemoryType.FINDING and self.verdict is None:
            yield FieldError("/verdict", "required", "A finding needs a verdict.")
        if self.memory_type is MemoryType.CONSTRAINT and self.verdict not in (None, Verdict.NOT_APPLICABLE):
            yield FieldError("/verdict", "invalid_choice", "The verdict of a constraint is not_applicable.")
        yield from _times_in_order(self.valid_from, self.valid_to, self.observed_at, self.last_confirmed_at)

    def proposal(self) -> Proposal:
        """What the verb takes."""
        return Proposal(
            candidate_id=self.candidate_id,
            scope=self.scope.value,
            scope_id=self.scope_id,
            memory_type=self.memory_type,
            fact_key=self.fact_key,
            content=self.content,
            rationale=self.rationale,
            conditions=self.conditions,
            epistemic_status=self.epistemic_status,
            verdict=self.verdict,
            topics=_once(self.topics),
            entities=_once(self.entities),
            aliases=_once(self.aliases),
            source_event_ids=_once(self.source_event_ids),
            evidence_refs=_once(self.evidence_refs),
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            observed_at=self.observed_at,
            last_confirmed_at=self.last_confirmed_at,
            expected_resolution_at=self.expected_resolution_at,
            retrieval_policy=self.retrieval_policy,
            retention_class=self.retention_class,
            access_policy_id=self.access_policy_id,
            authority=self.authority,
            relations=tuple(ProposedRelation(one.type.value, one.memory_id) for one in self.relations),
            expected_version=self.expected_version,
        )


class Nothing(Body):
    """A body that says nothing; it may be missing."""

    empty_body: ClassVar = True


class RevisionIn(Body):
    """What changes in a memory; what is not named stays."""

    immutable: ClassVar = ("scope", "scope_id", "memory_type", "type", "fact_key")

    expected_version: int | None = integer(default=None, help="Or If-Match.")
    content: str | None = text(max_bytes=LIMITS.content_bytes, blank=False, default=None)
    rationale: str | None = text(max_bytes=LIMITS.content_bytes, default=None)
    valid_from: datetime | None = instant(default=None)
    valid_to: datetime | None = instant(end_of_day=True, default=None)
    last_confirmed_at: datetime | None = instant(ahead=_NOW, default=None)
    expected_resolution_at: datetime | None = instant(default=None)
    conditions: dict[str, object] | None = json_object(max_bytes=_CONDITION_BYTES, max_keys=LIMITS.condition_keys, default=None)
    topics: tuple[str, ...] | None = _labels(default=None)
    entities: tuple[str, ...] | None = _labels(default=None)
    aliases: tuple[str, ...] | None = items(text(max_chars=_ALIAS_CHARS, blank=False), max_items=LIMITS.labels, default=None)
    retrieval_policy: RetrievalPolicy | None = choice(RetrievalPolicy, default=None)
    source_event_ids: tuple[str, ...] = items(identifier(), max_items=_MOST_SOURCES, default=())
    reason: str = text(max_chars=2000, blank=False)

    def cross_check(self) -> Iterator[FieldError]:
        yield from _times_in_order(self.valid_from, self.valid_to, None, None)

    def change(self) -> Change:
        """What the verb takes."""
        return Change(
            content=self.content,
            rationale=self.rationale,
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            last_confirmed_at=self.last_confirmed_at,
            expected_resolution_at=self.expected_resolution_at,
            conditions=self.conditions,
            topics=None if self.topics is None else _once(self.topics),
            entities=None if self.entities is None else _once(self.entities),
            aliases=None if self.aliases is None else _once(self.aliases),
            retrieval_policy=self.retrieval_policy,
            source_event_ids=_once(self.source_event_ids),
        )


class ConfirmIn(Body):
    """The same state was seen again."""

    observed_at: datetime = instant(ahead=_NOW)
    expected_version: int | None = integer(default=None, help="Or If-Match; not required.")


class WithdrawIn(Body):
    """Take a memory out of use."""

    expected_version: int | None = integer(default=None, help="Or If-Match.")
    reason: str = text(max_chars=2000, blank=False)


class MemberIn(Body):
    """A value in conflict, as it was read."""

    memory_id: str = identifier()
    version: int | None = integer(minimum=1, default=None)


class ResolutionIn(Body):
    """How a conflict is settled: a winner, or an outcome for all of its values."""

    winner: str | None = identifier(default=None, help="The id of the value that holds.")
    outcome: ConflictSet.Outcome | None = choice(ConflictSet.Outcome, default=None)
    conditions: dict[str, object] = json_object(
        max_bytes=_CONDITION_BYTES,
        max_keys=LIMITS.condition_keys,
        default_factory=dict,
        help="For keep_both_conditional: by memory id, the conditions under which that value holds.",
    )
    reason: str = text(max_chars=2000, blank=False)
    expected_members: tuple[object, ...] = items(
        anything(), min_items=1, max_items=_MOST_SOURCES, help="Ids, or {memory_id, version}, of every value in the conflict."
    )

    def cross_check(self) -> Iterator[FieldError]:
        """See Body."""
        outcome = self.outcome or (ConflictSet.Outcome.WINNER if self.winner is not None else None)
        if outcome is None:
            yield FieldError("/outcome", "required", "Give a winner or an outcome.")
        if self.winner is not None and outcome != ConflictSet.Outcome.WINNER:
            yield FieldError("/winner", "not_applicable", "Only one of winner and outcome can be given.")
        if self.winner is None and outcome == ConflictSet.Outcome.WINNER:
            yield FieldError("/winner", "required", "Name the value that holds.")
        if self.conditions and outcome != ConflictSet.Outcome.KEEP_BOTH:
            yield FieldError("/conditions", "not_applicable", "Conditions belong to keep_both_conditional.")
        if not self.conditions and outcome == ConflictSet.Outcome.KEEP_BOTH:
            yield FieldError("/conditions", "required", "Say under which conditions each value holds.")
        for name, value in self.conditions.items():
            if not isinstance(value, dict):
                yield FieldError(f"/conditions/{name}", "invalid_type", "Conditions are an object.")
        for place, member in enumerate(self.expected_members):
            if not isinstance(member, (str, dict)):
                yield FieldError(f"/expected_members/{place}", "invalid_type", "This is an id, or an object with memory_id.")

    def settlement(self) -> Settlement:
        """What the verb takes. Raises ValidationFailed for a member object that is wrong."""
        members = []
        for place, member in enumerate(self.expected_members):
            if isinstance(member, str):
                members.append(ExpectedMember(member))
                continue
            try:
                found = MemberIn.of(member)
            except ValidationFailed as wrong:
                at = f"/expected_members/{place}"
                raise ValidationFailed([FieldError(at + one.pointer, one.code, one.detail) for one in wrong.errors]) from None
            members.append(ExpectedMember(found.memory_id, found.version))
        return Settlement(
            outcome=self.outcome or ConflictSet.Outcome.WINNER,
            winner=self.winner,
            conditions={name: value for name, value in self.conditions.items() if isinstance(value, dict)},
            expected=tuple(members),
            reason=self.reason,
        )


class CandidateFilters(ListQuery):
    """What narrows a list of candidates."""

    status: Candidate.Status | None = choice(Candidate.Status, default=None)


def _min_revision() -> Any:  # noqa: ANN401 - a field specifier
    return text(pattern=_REVISION, default=None, help="Wait until this revision token is reached.")


def _wait_ms() -> Any:  # noqa: ANN401 - a field specifier
    return integer(minimum=0, maximum=MOST_WAIT_MS, default=WAIT_MS, help="How long, in milliseconds.")


class FreshList(ListQuery):
    """A list that is at least as new as a revision; that narrows nothing, so it is no part of a cursor."""

    min_revision: str | None = _min_revision()
    wait_ms: int = _wait_ms()

    def filters(self) -> dict[str, Any]:
        """See ListQuery."""
        return {name: value for name, value in super().filters().items() if name not in ("min_revision", "wait_ms")}


class MemoryFilters(FreshList):
    """What narrows a list of memories."""

    scope: Scope | None = choice(Scope, default=None)
    scope_id: str | None = identifier(default=None)
    type: MemoryType | None = choice(MemoryType, default=None)
    state: Memory.State | None = choice(Memory.State, default=None)
    fact_key: str | None = key(default=None)
    topic: str | None = key(max_chars=_LABEL_CHARS, default=None)
    updated_since_revision: str | None = text(pattern=_REVISION, default=None, help="Changed after this revision token.")

    def wanted(self) -> MemoryFilter:
        """What the verb takes."""
        since = self.updated_since_revision
        return MemoryFilter(
            scope=self.scope,
            scope_id=self.scope_id,
            memory_type=self.type,
            state=self.state,
            fact_key=self.fact_key,
            topic=self.topic,
            updated_since_revision=revision_number(since),
        )


class WhichVersion(Query):
    """Which version of a memory to show."""

    version: int | None = integer(minimum=1, default=None)
    as_of: datetime | None = instant(default=None, help="The version that holds at this time.")
    min_revision: str | None = _min_revision()
    wait_ms: int = _wait_ms()


class DeletionQuery(Query):
    """How to delete a memory."""

    deletion_request_id: str | None = identifier(default=None, help="Sent again, the answer is the same job.")
    cover_sources: bool = boolean(default=False, help="Erase its source events as well.")
    suppress_future: bool = boolean(default=False, help="Never take the same fact up again.")
    reason: str = text(max_chars=2000, default="")


def _times_in_order(
    valid_from: datetime | None, valid_to: datetime | None, observed_at: datetime | None, last_confirmed_at: datetime | None
) -> Iterator[FieldError]:
    """TM-13, TM-14: an interval may be empty, never backwards; a confirmation cannot come before its observation."""
    if valid_from is not None and valid_to is not None and valid_to < valid_from:
        yield FieldError("/valid_to", "out_of_order", "The end must not lie before the start.")
    if observed_at is not None and last_confirmed_at is not None and last_confirmed_at < observed_at:
        yield FieldError("/last_confirmed_at", "before_observation", "A confirmation cannot come before the observation.")


def _once(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
