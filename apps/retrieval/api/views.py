"""Asking for a packet, reading its trace, and saying what was used of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from apps.core.api.openapi import IDEMPOTENCY_KEY, contract
from apps.core.api.responses import respond
from apps.core.api.schema import Query
from apps.retrieval.adoptions import Reported, report_adoptions
from apps.retrieval.api.bodies import AdoptionsIn, QueryIn
from apps.retrieval.packet import Packet
from apps.retrieval.pipeline import answer_query
from apps.retrieval.traces import TraceView, get_trace
from apps.tenants.api.views import AgentRequest, GovernedView

if TYPE_CHECKING:
    from django.http import HttpResponse


class MemoryQuery(GovernedView):
    operation: ClassVar = {"POST": "memory:read"}
    ungated = frozenset({"POST"})

    @contract(request=QueryIn, answers={200: Packet}, problems=(409,), summary="Ask for a bounded, authorised, explained packet")
    def post(self, request: AgentRequest) -> HttpResponse:
        return respond(answer_query(request.access, QueryIn.parse(request).question_asked()))


class Trace(GovernedView):
    operation: ClassVar = {"GET": "traces:read"}

    @contract(answers={200: TraceView}, summary="Why a packet holds what it holds")
    def get(self, request: AgentRequest, trace_id: str) -> HttpResponse:
        Query.parse(request)
        return respond(get_trace(request.access, trace_id))


class Adoptions(GovernedView):
    operation: ClassVar = {"POST": "traces:read"}

    @contract(
        request=AdoptionsIn,
        answers={200: Reported},
        problems=(409,),
        headers=(IDEMPOTENCY_KEY,),
        summary="Say what was used of a packet and what was not",
    )
    def post(self, request: AgentRequest, trace_id: str) -> HttpResponse:
        body = AdoptionsIn.parse(request)
        return self.once(request, body, lambda: respond(report_adoptions(request.access, trace_id, body.reported())))
