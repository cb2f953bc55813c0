"""Sending events, and looking what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from apps.core.api.openapi import contract
from apps.core.api.responses import respond
from apps.core.api.schema import Query
from apps.core.errors import DomainError, ValidationFailed
from apps.evidence.api.bodies import EventBatchIn, EventIn, EventQuery
from apps.evidence.ingestion import Accepted, accept_event, accept_events
from apps.evidence.reads import EventDetail, read_event
from apps.tenants.api.views import AgentRequest, GovernedView

if TYPE_CHECKING:
    from django.http import HttpResponse

REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One event of a batch; ``code`` is null for one that was accepted, now or before."""

    event_id: str | None
    status: str
    code: str | None = None
    sequence: int | None = None
    job_id: str | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class BatchResult:
    results: list[BatchItem]


class Events(GovernedView):
    operation = {"POST": "events:write"}

    @contract(request=EventIn, answers={202: Accepted, 200: Accepted}, problems=(409, 410), summary="Send one source event")
    def post(self, request: AgentRequest) -> HttpResponse:
        Query.parse(request)
        done = accept_event(request.access, EventIn.parse(request).draft)
        return respond(done, status=200 if done.replayed else 202)


class EventBatch(GovernedView):
    operation = {"POST": "events:write"}

    @contract(request=EventBatchIn, answers={200: BatchResult}, summary="Send up to 500 source events")
    def post(self, request: AgentRequest) -> HttpResponse:
        Query.parse(request)
        sent = EventBatchIn.parse(request).events
        read = [_read(item) for item in sent]
        done = iter(accept_events(request.access, [one.draft for one in read if isinstance(one, EventIn)]))
        return respond(
            BatchResult(
                [_item(item, next(done) if isinstance(one, EventIn) else one) for item, one in zip(sent, read, strict=True)]
            )
        )


class EventById(GovernedView):
    operation = {"GET": ("memory:read", "events:write")}

    @contract(query=EventQuery, answers={200: EventDetail}, problems=(410,), summary="One event and how far it is processed")
    def get(self, request: AgentRequest, event_id: str) -> HttpResponse:
        query = EventQuery.parse(request)
        return respond(read_event(request.access, event_id, include_content=query.include == "content"))


def _read(item: object) -> EventIn | ValidationFailed:
    try:
        return EventIn.of(item)
    except ValidationFailed as error:
        return error


def _item(sent: Any, result: Accepted | DomainError) -> BatchItem:  # noqa: ANN401 - any JSON value may stand in a batch
    if isinstance(result, Accepted):
        return BatchItem(result.event_id, result.status, None, result.sequence, result.job_id, result.replayed)
    event_id = sent.get("event_id") if isinstance(sent, dict) else None
    code = result.errors[0].code if isinstance(result, ValidationFailed) else result.code
    return BatchItem(event_id if isinstance(event_id, str) else None, REJECTED, code)
