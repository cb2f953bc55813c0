"""Settling a conflict: one value holds, each holds under its own conditions, or none does (design/06, design/07 page 4).

A reviewer decides; time and ground did not. Nothing is decided about values that the reviewer has not seen: the members are named
in the request, and compared under the locks of the transaction that writes versions, relations and the end of the conflict.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from apps.audits import log
from apps.core.errors import ConflictChanged, ConflictSettled, FieldError, NotFound, NotPermitted, ValidationFailed
from apps.core.ids import parse_public_id, public_id
from apps.memories.admission import condition_texts, is_forbidden
from apps.memories.commit import Author, Span, lock_namespace, remerged, review_date
from apps.memories.door import readable_memories
from apps.memories.lines import HEAD_STATES, lock_memories
from apps.memories.merging import said_by
from apps.memories.models import Authority, ConflictSet, Memory
from apps.memories.proposals import conditions_hash
from apps.memories.revision import RESOLVE, WITHDRAW
from apps.memories.writing import Writer
from apps.retention import barrier
from apps.tenants.access import ActorKind
from apps.tenants.models import Operation
from apps.tenants.transactions import revision_token, tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from apps.memories.lines import Rival
    from apps.tenants.access import Access, NamespaceGrant
    from apps.tenants.transactions import TenantTransaction

Outcome = ConflictSet.Outcome


@dataclass(frozen=True, slots=True)
class ExpectedMember:
    """A value as it was looked at; without a version it may have been revised since."""

    memory_id: str
    version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What a reviewer decides. ``conditions``: by memory id, for values that are to hold under their own."""

    outcome: str
    expected: tuple[ExpectedMember, ...]
    reason: str
    winner: str | None = None
    conditions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SettledMember:
    """What became of one value."""

    memory_id: str
    version: int
    state: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """The conflict is over; ``members`` are the values that were in it."""

    conflict_id: str
    status: str
    outcome: str
    winner: str | None
    members: list[SettledMember]
    revision: str


def may_settle(access: Access, grant: NamespaceGrant | None) -> bool:
    """A person reviews the namespace; an agent has the operation, and may write there."""
    if grant is None or not grant.read or not access.has(Operation.CONFLICTS_RESOLVE):
        return False
    return grant.review or (access.actor_kind == ActorKind.AGENT and grant.write)


def resolve_conflict(access: Access, conflict_id: str, settlement: Settlement) -> Resolved:
    """Settle an open conflict in one transaction (MG-13, VH-08, VH-13).

    Raises NotFound (absent, foreign and unreadable alike), NotPermitted (no reviewer here, or a value under a policy that the
    caller may not read, or that Git owns), ConflictSettled, ConflictChanged (other members or versions than expected) and
    ValidationFailed (winner, conditions or reason).
    """

    def work() -> Resolved:
        with tenant_transaction(access) as tx:
            row = visible_conflict(access, conflict_id)
            if not may_settle(access, access.by_id.get(row.namespace_id)):
                raise NotPermitted
            return _Room(access, tx, row, settlement).settle()

    return remerged(work)


def visible_conflict(access: Access, conflict_id: str) -> ConflictSet:
    """The conflict, open or over, if the caller may read one of its values. Raises NotFound."""
    key = parse_public_id("cfl", conflict_id)
    rows = ConflictSet.objects.filter(tenant_id=access.tenant_id, namespace_id__in=access.readable)
    found = None if key is None else rows.filter(pk=key).first()
    if found is None:
        raise NotFound
    is_open = found.status == ConflictSet.Status.OPEN
    members = readable_memories(access)
    seen = members.filter(conflict_set=found) if is_open else members.filter(id__in=found.last_members)
    if not seen.exists():
        raise NotFound
    return found


class _Room:
    """One settlement under its locks: the namespace, the conflict, its members by primary key."""

    def __init__(self, access: Access, tx: TenantTransaction, row: ConflictSet, said: Settlement) -> None:
        self.access, self.said = access, said
        namespace = lock_namespace(access.tenant_id, row.namespace_id)
        self.row = ConflictSet.objects.select_for_update(no_key=True).get(tenant_id=access.tenant_id, pk=row.pk)
        self.rivals = self._members()
        author = Author(access.actor_id, access.subject_id, "review", access.session_id or "")
        self.writer = Writer(tx, access, namespace, author)

    def settle(self) -> Resolved:
        self._require_expected()
        self._refuse_forbidden()
        _EFFECTS[Outcome(self.said.outcome)](self)
        members = list(self.rivals.values())
        for rival in members:
            rival.memory.conflict_set_id = None
            self.writer.touch(rival)
        winner = self._winner()
        self.writer.finish("memory.settled", codes=[self.said.outcome])
        self.writer.note(
            log.Entry(
                "conflict.resolved",
                "conflict",
                public_id("cfl", self.row.pk),
                (self.said.outcome, *(public_id("mem", rival.memory.id) for rival in members)),
                {"members": len(members)},
            )
        )
        # First the conflict, so that it is over when the memories leave it.
        self.row.status = ConflictSet.Status.RESOLVED
        self.row.outcome = self.said.outcome
        self.row.resolved_at = self.writer.at
        self.row.resolved_by = self.access.actor_id
        self.row.winner = None if winner is None else winner.memory
        self.row.last_members = [rival.memory.id for rival in members]
        self.row.save(update_fields=["status", "outcome", "resolved_at", "resolved_by", "winner", "last_members"])
        revision = self.writer.flush()
        return Resolved(
            conflict_id=public_id("cfl", self.row.pk),
            status=self.row.status,
            outcome=self.row.outcome,
            winner=self.said.winner,
            members=[
                SettledMember(public_id("mem", one.memory.id), one.memory.version, str(one.memory.state)) for one in members
            ],
            revision=revision_token(revision),
        )

    # -- what is compared under the locks

    def _members(self) -> dict[str, Rival]:
        if self.row.status != ConflictSet.Status.OPEN:
            raise ConflictSettled
        rows = Memory.objects.filter(tenant_id=self.access.tenant_id, conflict_set=self.row, state__in=HEAD_STATES)
        keys = list(rows.values_list("id", flat=True))
        readable = set(readable_memories(self.access).filter(id__in=keys).values_list("id", flat=True))
        rivals = lock_memories(self.access.tenant_id, keys)
        # Nobody settles what he cannot see, and Git knowledge changes by promotion only.
        if readable != set(keys) or any(rival.memory.authority != Authority.DATABASE for rival in rivals):
            raise NotPermitted
        return {public_id("mem", rival.memory.id): rival for rival in rivals}

    def _require_expected(self) -> None:
        expected = {one.memory_id: one.version for one in self.said.expected}
        if expected.keys() != self.rivals.keys():
            raise ConflictChanged
        if any(number not in (None, self.rivals[name].memory.version) for name, number in expected.items()):
            raise ConflictChanged
        # A deletion takes its members out when it is accepted; asked again because nothing may be written past a barrier (VH-13).
        if barrier.revoked_memories(self.access.tenant_id, [rival.memory.id for rival in self.rivals.values()]):
            raise ConflictChanged

    def _refuse_forbidden(self) -> None:
        texts = {"/reason": [self.said.reason]}
        texts |= {f"/conditions/{name}": condition_texts(dict(one)) for name, one in self.said.conditions.items()}
        detail = "This holds something that may not be stored."
        errors = [FieldError(at, "forbidden_material", detail) for at, found in texts.items() if is_forbidden(*found)]
        if errors:
            raise ValidationFailed(errors)

    def _winner(self) -> Rival | None:
        return None if self.said.winner is None else self.rivals.get(self.said.winner)

    # -- the outcomes

    def one_holds(self) -> None:
        """The others are superseded by the winner; what began before it was the value until then."""
        winner = self._winner()
        if winner is None:
            raise ValidationFailed([FieldError("/winner", "not_a_member", "This is not one of the values in conflict.")])
        start = winner.head.valid_from
        self._again(winner, RESOLVE)
        winner.memory.state = Memory.State.ACTIVE
        for rival in self.rivals.values():
            if rival is not winner:
                self.writer.retire(rival, winner, start)

    def each_holds(self) -> None:
        """Every value gets the conditions that tell it from the others, and is a fact of its own from now on (C29)."""
        unknown = [name for name in self.said.conditions if name not in self.rivals]
        if unknown:
            detail = "This is not one of the values in conflict."
            raise ValidationFailed([FieldError(f"/conditions/{name}", "not_a_member", detail) for name in unknown])
        wanted = {name: dict(self.said.conditions.get(name, rival.head.conditions)) for name, rival in self.rivals.items()}
        hashes = {name: conditions_hash(conditions) for name, conditions in wanted.items()}
        if len(set(hashes.values())) < len(hashes):
            detail = "The conditions must tell the values apart: no two may be the same."
            raise ValidationFailed([FieldError("/conditions", "not_distinct", detail)])
        self._require_free(hashes.values())
        for name, rival in self.rivals.items():
            self._again(rival, RESOLVE, conditions=wanted[name])
            rival.memory.conditions_hash = hashes[name]
            rival.memory.state = Memory.State.ACTIVE

    def none_holds(self) -> None:
        for rival in self.rivals.values():
            self._again(rival, WITHDRAW)
            rival.memory.state = Memory.State.WITHDRAWN

    def _again(self, rival: Rival, decision: str, *, conditions: Mapping[str, object] | None = None) -> None:
        """A version that says the same, with the reason; the one before it never held by itself."""
        head = rival.head
        saying = replace(said_by(head, self.writer.text_of(head)), reason=self.said.reason)
        if conditions is not None:
            saying = replace(saying, conditions=conditions)
        span, links = Span(head.valid_from, head.valid_to, stated=head.effective), list(rival.links[head.version])
        self.writer.correct(rival, head.version)
        self.writer.append(rival, saying, span, links, decision)
        rival.memory.review_after = review_date(self.writer.at, rival.memory.retention_class)

    def _require_free(self, hashes: Iterable[str]) -> None:
        memory = next(iter(self.rivals.values())).memory
        taken = Memory.objects.filter(
            tenant_id=memory.tenant_id,
            namespace_id=memory.namespace_id,
            memory_type=memory.memory_type,
            fact_key=memory.fact_key,
            conditions_hash__in=list(hashes),
            state__in=HEAD_STATES,
        )
        if taken.exclude(id__in=[rival.memory.id for rival in self.rivals.values()]).exists():
            detail = "Another record holds under these conditions."
            raise ValidationFailed([FieldError("/conditions", "already_current", detail)])


_EFFECTS = {
    Outcome.WINNER: _Room.one_holds,
    Outcome.KEEP_BOTH: _Room.each_holds,
    Outcome.WITHDRAW_ALL: _Room.none_holds,
}
