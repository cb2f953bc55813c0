"""The bodies of POST /memory-query and of adoptions."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, cast

from apps.core.api.fields import boolean, choice, instant, integer, items, json_object, key, nested, text
from apps.core.api.schema import Body
from apps.core.limits import LIMITS
from apps.memories.models import MemoryType
from apps.retrieval.adoptions import Adoption
from apps.retrieval.context import Attachment, Budget, JsonValue, Turn
from apps.retrieval.question import Question
from apps.retrieval.triage.vocabulary import Asked
from apps.retrieval.vocabulary import BudgetUnit, Mode, PacketFormat, Style, Trigger
from apps.tenants.transactions import MOST_WAIT_MS, WAIT_MS, revision_number

WINDOW_TURNS = 50
ATTACHMENTS = 16
BUDGET_LIMIT = 200_000
CANDIDATES_LIMIT = 200


class BudgetIn(Body):
    limit: int = integer(minimum=0, maximum=BUDGET_LIMIT, default=1500, help="Room for the packet, in units.")
    unit: BudgetUnit = choice(BudgetUnit, default=BudgetUnit.TOKENS)
    tokenizer: str = text(max_chars=64, blank=False, default="o200k_base")


class TurnIn(Body):
    role: str = text(max_chars=32, blank=False)
    content: str = text(max_bytes=LIMITS.content_bytes)


class AttachmentIn(Body):
    media_type: str = text(max_chars=128, blank=False)
    content: str = text(max_bytes=LIMITS.content_bytes)


class QueryIn(Body):
    """A question to memory. Everything has a default; identity is never part of it."""

    body_limit: ClassVar = 4 * LIMITS.body_bytes

    task: str = text(max_bytes=LIMITS.content_bytes, default="")
    question: str = text(max_bytes=LIMITS.content_bytes, default="")
    project: str | None = key(max_chars=LIMITS.id_chars, default=None)
    topics: tuple[str, ...] = items(key(), max_items=LIMITS.labels, default=())
    entities: tuple[str, ...] = items(key(), max_items=LIMITS.labels, default=())
    types: tuple[MemoryType, ...] = items(choice(MemoryType), max_items=len(MemoryType), default=())
    fact_keys: tuple[str, ...] = items(key(), max_items=LIMITS.labels, default=())
    environment: dict[str, object] = json_object(
        max_bytes=LIMITS.metadata_bytes, max_keys=LIMITS.condition_keys, default_factory=dict
    )
    decision: Asked = choice(
        Asked, default=Asked.RETRIEVE, help="`retrieve`: the caller has decided. `auto`: triage may skip, or ask one question."
    )
    trigger: Trigger = choice(Trigger, default=Trigger.QUERY)
    mode: Mode = choice(Mode, default=Mode.CURRENT)
    as_of: datetime | None = instant(default=None)
    window: tuple[TurnIn, ...] = items(nested(TurnIn), max_items=WINDOW_TURNS, default=())
    attachments: tuple[AttachmentIn, ...] = items(nested(AttachmentIn), max_items=ATTACHMENTS, default=())
    budget: BudgetIn = nested(BudgetIn, default_factory=BudgetIn)
    max_candidates: int = integer(minimum=0, maximum=CANDIDATES_LIMIT, default=20)
    max_items: int = integer(minimum=0, maximum=CANDIDATES_LIMIT, default=5)
    min_revision: str | None = text(pattern=r"rev_[0-9]{1,18}", default=None)
    wait_ms: int = integer(minimum=0, maximum=MOST_WAIT_MS, default=WAIT_MS, help="How long to wait for min_revision.")
    format: PacketFormat = choice(PacketFormat, default=PacketFormat.JSON)
    style: Style = choice(Style, default=Style.SECTIONS)

    def question_asked(self) -> Question:
        """The same without HTTP."""
        return Question(
            task=self.task,
            question=self.question,
            project=self.project,
            topics=self.topics,
            entities=self.entities,
            types=self.types,
            fact_keys=self.fact_keys,
            environment=cast("dict[str, JsonValue]", self.environment),
            decision=self.decision,
            trigger=self.trigger,
            mode=self.mode,
            as_of=self.as_of,
            window=tuple(Turn(role=turn.role, content=turn.content) for turn in self.window),
            attachments=tuple(Attachment(media_type=one.media_type, content=one.content) for one in self.attachments),
            budget=Budget(limit=self.budget.limit, unit=self.budget.unit, tokenizer=self.budget.tokenizer),
            max_candidates=self.max_candidates,
            max_items=self.max_items,
            min_revision=revision_number(self.min_revision),
            wait_ms=self.wait_ms,
            format=self.format,
            style=self.style,
        )


class AdoptedIn(Body):
    memory_id: str = text(max_chars=LIMITS.id_chars)
    version: int = integer(minimum=1)
    used: bool = boolean(help="Whether the answer rests on it.")
    reason: str | None = text(max_chars=2000, default=None, help="Why, in words; kept as private text.")


class AdoptionsIn(Body):
    """What the agent did with what a packet held."""

    adopted: tuple[AdoptedIn, ...] = items(nested(AdoptedIn), max_items=CANDIDATES_LIMIT)

    def reported(self) -> list[Adoption]:
        """The same without HTTP."""
        return [Adoption(one.memory_id, one.version, one.used, one.reason) for one in self.adopted]
