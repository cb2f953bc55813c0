"""What flows through the pipeline: the frozen question and the frozen rows (design/04 Pipeline).

Every rule of retrieval is a function of these, so a packet can be replayed and a rule can be tested without a database. States,
types, verdicts and policies are the words of apps.memories; they arrive here as plain strings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from apps.retrieval.triage.vocabulary import Asked
from apps.retrieval.vocabulary import (
    RULE_VERSION,
    Applicability,
    BudgetUnit,
    EvidenceLabel,
    Lane,
    Mode,
    PacketFormat,
    Profile,
    Reason,
    Section,
    Stage,
    Style,
    Trigger,
    WarningCode,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
Key: TypeAlias = tuple[str, int]  # public memory id and version: one memory may stand in a packet with two of its versions


def _nothing() -> Mapping[str, JsonValue]:
    return MappingProxyType({})


def _no_ranks() -> Mapping[Lane, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Room for the rendered packet: `limit` in `unit`; the tokenizer matters for tokens only."""

    limit: int = 1500
    unit: BudgetUnit = BudgetUnit.TOKENS
    tokenizer: str = "o200k_base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of the recent window, as the caller sent it."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Something the user handed over with the question; its text is data like any other."""

    media_type: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryContext:
    """Everything one query was asked with (RP-01..04). Made once, passed to every stage, written to the trace.

    `as_of` decides validity; `asked_at` only words what changed between `as_of` and the moment of asking. Both are instants
    with an offset, set by the caller: no rule reads a clock (TM-11).
    """

    tenant_id: UUID
    namespaces: frozenset[UUID]  # what Access may read, narrowed to the requested project: the border of everything below
    as_of: datetime
    asked_at: datetime
    project: str | None = None
    project_namespace: UUID | None = None
    subject: str | None = None
    task: str = ""
    question: str = ""
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    types: frozenset[str] = frozenset()
    fact_keys: tuple[str, ...] = ()
    environment: Mapping[str, JsonValue] = field(default_factory=_nothing)
    decision: Asked = Asked.RETRIEVE
    trigger: Trigger = Trigger.QUERY
    mode: Mode = Mode.CURRENT
    window: tuple[Turn, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    bound: tuple[str, ...] = ()  # words of the window that references of the question mean
    handed_over: str = ""  # text of the attachments that the question asks about
    budget: Budget = field(default_factory=Budget)
    max_candidates: int = 20
    max_items: int = 5
    format: PacketFormat = PacketFormat.JSON
    style: Style = Style.SECTIONS
    profile: Profile = Profile.IDF
    snapshot_revision: int | None = None
    rule_version: str = RULE_VERSION

    def __post_init__(self) -> None:
        for name in ("as_of", "asked_at"):
            if getattr(self, name).tzinfo is None:
                message = f"{name} needs an offset"
                raise ValueError(message)

    @property
    def spoken(self) -> tuple[str, ...]:
        """What was asked, part by part: the question, the task, what references mean, and what was handed over with them."""
        return tuple(part for part in (self.question, self.task, *self.bound, self.handed_over) if part.strip())

    @property
    def text(self) -> str:
        """What recall searches for. Of the window only the words that references mean."""
        return "\n".join(self.spoken).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """An edge to another memory; `memory_id` is public and the caller may read what it names."""

    type: str
    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """How one memory was found. Lexical figures are sums over the query's terms that it holds (fusion.idf)."""

    lanes: Mapping[Lane, int] = field(default_factory=_no_ranks)
    matched_terms: int = 0
    matched_weight: int = 0
    spans: tuple[str, ...] = ()
    distance: int | None = None  # from the question, permille of cosine distance; where the semantic lane reached it
    near: bool = False  # near enough to be about the question by its meaning alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One version of one memory as the authority shows it at `as_of`, with how it was found.

    `superseded_at` is the instant from which `superseded_by` takes its place; a planned successor leaves it current until then.
    `successor` is set on a row that is here only as the direct predecessor of that decision (SP-02).
    """

    memory_id: UUID
    public_id: str
    version: int
    namespace_id: UUID
    scope: str
    scope_id: str | None
    memory_type: str
    content: str
    state: str
    epistemic_status: str
    fact_key: str | None = None
    rationale: str | None = None
    conditions: Mapping[str, JsonValue] = field(default_factory=_nothing)
    verdict: str | None = None
    retrieval_policy: str = "relevant"
    authority: str = "database"
    authority_revision: str | None = None
    permitted: bool = True  # the access policy on the record, if it has one, is held by the caller
    control_plane: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    observed_at: datetime | None = None
    last_confirmed_at: datetime | None = None
    expected_resolution_at: datetime | None = None
    source_refs: tuple[str, ...] = ()
    fidelity: str | None = None
    independent_evidence_count: int = 0
    evidence_available: bool = True
    lineage: frozenset[str] = frozenset()  # roots of its evidence; equal non-empty sets tell the same story (RP-08)
    derived: bool = False  # a view that retells another record: part of the phrase weight only (RK-30)
    topics: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    labels_valid: bool = True  # every label is one of the tenant's vocabulary (LB-03)
    aliases: tuple[str, ...] = ()
    conflict_id: str | None = None
    relations: tuple[Relation, ...] = ()
    superseded_by: str | None = None
    superseded_at: datetime | None = None
    successor: Key | None = None
    recall: Recall = field(default_factory=Recall)
    key: Key = field(init=False, repr=False, compare=False)  # what tells this row from every other one of a packet

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", (self.public_id, self.version))


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """A hint of the packet; `detail` is a fixed sentence with codes and dates, never memory text."""

    code: WarningCode
    detail: str
    memory_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate that passed the filters, with what its place in the order depends on besides the record itself."""

    candidate: Candidate
    applicability: Applicability
    fused: int

    @property
    def key(self) -> Key:
        """Key of its candidate."""
        return self.candidate.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A ranked candidate that is considered for the packet, with what the packet says about it."""

    candidate: Candidate
    applicability: Applicability
    section: Section
    labels: tuple[EvidenceLabel, ...] = ()
    historical_note: str | None = None
    fused: int = 0

    @property
    def key(self) -> Key:
        """Key of its candidate."""
        return self.candidate.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A candidate that is not in the packet: where it was lost, why, and how it stood if it came as far as the order."""

    candidate: Candidate
    stage: Stage
    reason: Reason
    standing: Ranked | None = None
