"""What a caller asked, typed; the server adds who asks and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from apps.retrieval.context import Attachment, Budget, JsonValue, Turn
from apps.retrieval.triage.vocabulary import Asked
from apps.retrieval.vocabulary import Mode, PacketFormat, Style, Trigger
from apps.tenants.transactions import WAIT_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query with the defaults of the contract (design/06 Query). Keys and labels are folded; times are aware.

    ``project`` is a request: it is looked up among the caller's own. ``min_revision`` is the number of a revision token.
    """

    task: str = ""
    question: str = ""
    project: str | None = None
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    fact_keys: tuple[str, ...] = ()
    environment: Mapping[str, JsonValue] = field(default_factory=dict)
    decision: Asked = Asked.RETRIEVE
    trigger: Trigger = Trigger.QUERY
    mode: Mode = Mode.CURRENT
    as_of: datetime | None = None
    window: tuple[Turn, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    budget: Budget = field(default_factory=Budget)
    max_candidates: int = 20
    max_items: int = 5
    min_revision: int | None = None
    wait_ms: int = WAIT_MS
    format: PacketFormat = PacketFormat.JSON
    style: Style = Style.SECTIONS
