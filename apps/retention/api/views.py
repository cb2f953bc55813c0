"""Asking for a deletion, and looking how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.core.api.openapi import contract
from apps.core.api.responses import respond
from apps.core.api.schema import Query
from apps.retention.api.bodies import CancellationIn, DeletionIn, ResumptionIn
from apps.retention.cancellations import CancellationView, request_cancellation
from apps.retention.certificates import CertificateView, read_certificate
from apps.retention.deletion import AcceptedDeletion, DeletionRequest, request_deletion
from apps.retention.reads import DeletionView, read_deletion
from apps.retention.resumption import resume_deletion
from apps.tenants.api.views import AgentRequest, GovernedView

if TYPE_CHECKING:
    from django.http import HttpResponse


class Deletions(GovernedView):
    operation = {"POST": "memory:delete"}
    ungated = frozenset({"POST"})

    @contract(
        request=DeletionIn,
        answers={202: AcceptedDeletion, 200: AcceptedDeletion},
        problems=(409, 410),
        summary="Delete a memory, an event, a session, a subject's data or a namespace",
    )
    def post(self, request: AgentRequest) -> HttpResponse:
        body = DeletionIn.parse(request)
        done = request_deletion(
            request.access,
            DeletionRequest(
                deletion_request_id=body.deletion_request_id,
                kind=body.target.kind.value,
                target=body.target.id,
                cover_sources=body.cover_sources,
                suppress_future=body.suppress_future,
                reason=body.reason,
            ),
        )
        return respond(done, status=200 if done.replayed else 202)


class Certificate(GovernedView):
    operation = {"GET": ("memory:delete", "memory:read")}
    ungated = frozenset({"GET"})

    @contract(answers={200: CertificateView}, summary="The signed result of a completed deletion")
    def get(self, request: AgentRequest, job_id: str) -> HttpResponse:
        Query.parse(request)
        return respond(read_certificate(request.access, job_id))


class Resumption(GovernedView):
    operation = {"POST": "deletions:resume"}
    ungated = frozenset({"POST"})

    @contract(request=ResumptionIn, answers={202: AcceptedDeletion}, summary="Go on with a deletion that was blocked or failed")
    def post(self, request: AgentRequest, job_id: str) -> HttpResponse:
        body = ResumptionIn.parse(request)
        return self.once(request, body, lambda: respond(resume_deletion(request.access, job_id), status=202))


class DeletionDetail(GovernedView):
    operation = {"GET": ("memory:delete", "memory:read")}
    ungated = frozenset({"GET"})

    @contract(answers={200: DeletionView}, summary="How far a deletion is, layer by layer")
    def get(self, request: AgentRequest, job_id: str) -> HttpResponse:
        Query.parse(request)
        return respond(read_deletion(request.access, job_id))


class Cancellations(GovernedView):
    operation = {"POST": "memory:read"}
    ungated = frozenset({"POST"})

    @contract(
        request=CancellationIn,
        answers={202: CancellationView},
        summary="Ask that what a trace or a session was given is used no further",
    )
    def post(self, request: AgentRequest) -> HttpResponse:
        body = CancellationIn.parse(request)
        return self.once(
            request,
            body,
            lambda: respond(request_cancellation(request.access, session_id=body.session_id, trace_id=body.trace_id), status=202),
        )
