"""How many of the recorded queries the deterministic parser could only pass on (EL-06..08).

The parser of today reads what was recorded, with the window that was recorded and never with one made up afterwards (TR-22).
Queries whose words are gone are counted apart: nobody can say any more what they were.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from apps.core.isolation import tenant_context
from apps.evidence.content import read_texts
from apps.retrieval.context import Attachment, Turn
from apps.retrieval.models import RetrievalTrace
from apps.retrieval.triage.decision import Request, triage
from apps.retrieval.triage.vocabulary import Ground, ParseStatus
from apps.retrieval.triage.window import seen
from apps.retrieval.vocabulary import Trigger

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from uuid import UUID

AT_ONCE = 500
_WORDLESS = frozenset({Ground.BLANK, Ground.EXPLICIT})  # asked by keys, or with nothing: no words were ever there


@dataclass(slots=True)
class FallbackRate:
    """Counts over recorded queries. ``unresolved``: which part could not be told (a query may lack several).

    ``without_window`` of the fallbacks had none recorded: an unknown reference there may be a missing window, so the rate must
    not be talked down by rules for it (EL-08).
    """

    queries: int = 0
    fallbacks: int = 0
    without_window: int = 0
    unreadable: int = 0
    unresolved: Counter[str] = field(default_factory=Counter)
    suggested: Counter[str] = field(default_factory=Counter)
    divergences: Counter[str] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Share of the queries that could only fall back; 0.0 where there is none."""
        return self.fallbacks / self.queries if self.queries else 0.0


def measure(
    tenant_id: UUID,
    counted: FallbackRate,
    *,
    since: datetime | None = None,
    progress: Callable[[int], None] = lambda _count: None,
) -> None:
    """Add the recorded queries of one tenant to the counts."""
    last: UUID | None = None
    while True:
        with tenant_context(tenant_id):
            rows = RetrievalTrace.objects.filter(tenant_id=tenant_id, trigger=Trigger.QUERY).order_by("id")
            rows = rows if since is None else rows.filter(at__gte=since)
            chunk = list(
                (rows if last is None else rows.filter(id__gt=last)).values_list("id", "request_id", "project_id", "triage")[
                    :AT_ONCE
                ]
            )
            texts = read_texts(tenant_id, [request for _, request, _, _ in chunk])
        if not chunk:
            return
        for _, request, project, recorded in chunk:
            words = texts.get(request) if request is not None else None
            _count(counted, words, recorded, project=project is not None)
        last = chunk[-1][0]
        progress(counted.queries)


def _count(counted: FallbackRate, words: str | None, recorded: dict[str, Any], *, project: bool) -> None:
    if recorded.get("divergence"):
        counted.divergences[recorded["divergence"]] += 1
    if words is None:
        counted.unreadable += recorded.get("ground") not in _WORDLESS
        return
    request = _request(json.loads(words), project=project)
    if not (request.question.strip() or request.task.strip() or request.attachments):
        return  # keys alone: there is nothing to parse
    verdict = triage(request)
    counted.queries += 1
    counted.suggested[verdict.decision] += 1
    if verdict.parse.status is ParseStatus.FALLBACK:
        counted.fallbacks += 1
        counted.without_window += not request.window
        counted.unresolved.update(verdict.parse.unresolved)


def _request(words: dict[str, Any], *, project: bool) -> Request:
    return Request(
        question=words.get("question", ""),
        task=words.get("task", ""),
        window=seen([Turn(**turn) for turn in words.get("window", ())]),
        attachments=[Attachment(**one) for one in words.get("attachments", ())],
        explicit=bool(words.get("fact_keys") or words.get("topics") or words.get("entities")),
        project=project,
    )
