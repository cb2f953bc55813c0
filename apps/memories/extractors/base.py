"""What goes into an extractor and what comes out of it. An extractor only proposes; admission and consolidation decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

# What an extractor noticed in the sentence; admission turns each into its decision (design/03 Admission table).
TASK_SCOPED = "task_scoped"
NEEDS_EVIDENCE = "needs_evidence"
UNTRUSTED_INSTRUCTION = "untrusted_instruction"
FORBIDDEN_MATERIAL = "forbidden_material"

# Where a proposal belongs: to the person who spoke, or wherever its event belongs.
SUBJECT = "subject"
EVENT = "event"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """The stored (already redacted) text of one event, and what the server knows about it.

    `source_type` decides what may be believed (design/02): the text itself never does. `occurred_at` is aware; it is the
    effective time of everything said without a date.
    """

    text: str
    source_type: str
    scope: str = "user"
    project_key: str | None = None
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """One proposed memory. Vocabularies are those of design/02; `start` and `length` are its sentence in the source text."""

    memory_type: str
    fact_key: str
    content: str
    epistemic_status: str
    verdict: str | None = None
    rationale: str | None = None
    conditions: Mapping[str, object] = field(default_factory=dict)
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    effective_at: datetime | None = None
    expected_resolution_at: datetime | None = None
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    retrieval_policy: str = "relevant"
    belongs_to: str = EVENT
    marks: frozenset[str] = frozenset()
    start: int = 0
    length: int = 0


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found, and how much of the text was understood (design/03: the miss rate is visible).

    Every sentence is one of three: `understood` gave a proposal; `withheld` is a question, quotation, hypothesis or the like that
    must not give one; `missed` met no rule. Nothing is a valid result.
    """

    proposals: tuple[Proposed, ...] = ()
    sentences: int = 0
    understood: int = 0
    withheld: int = 0
    refused: int = 0  # proposals of an extractor that is not trusted, which broke a rule

    @property
    def missed(self) -> int:
        return self.sentences - self.understood - self.withheld


class Outage(Exception):
    """Whoever an extractor asks cannot be asked now. ``code`` says why; not before ``seconds``, if that was said."""

    def __init__(self, code: str, seconds: float = 0.0) -> None:
        super().__init__(code)
        self.code = code
        self.seconds = seconds


class Unusable(Exception):
    """The answer cannot be used; asked again, there may be a better one."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Declined(Exception):
    """This text will not be read, however often it is asked for."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Extractor(Protocol):
    """`version` is part of the key of an extraction job: a new version may look at an old event again.

    One that is `outside` sends the text out of the installation. It reads only events of the `sources` it names, of tenants that
    allow it, without a transaction, and is not trusted: what it proposes goes through guarding.py. It alone may raise Outage,
    Unusable and Declined.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def outside(self) -> bool: ...

    @property
    def sources(self) -> frozenset[str]: ...

    def extract(self, source: SourceText) -> Extraction:
        """Propose memories. Never raises because of the text."""
        ...
