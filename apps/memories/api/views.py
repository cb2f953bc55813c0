"""Endpoints of candidates, memories and conflicts: parse, call one verb, render."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from apps.core.api.etags import expected_version
from apps.core.api.openapi import ETAG, IDEMPOTENCY_KEY, IF_MATCH, contract, listing
from apps.core.api.responses import respond
from apps.core.api.schema import ListQuery, Query
from apps.core.errors import DomainError
from apps.core.ids import new_id
from apps.memories import candidates, conflicts, reads, resolution, revision
from apps.memories.api.bodies import (
    CandidateFilters,
    CandidateIn,
    ConfirmIn,
    DeletionQuery,
    FreshList,
    MemoryFilters,
    Nothing,
    ResolutionIn,
    RevisionIn,
    WhichVersion,
    WithdrawIn,
)
from apps.memories.candidate_reads import CandidateDetail, CandidateOutcome, list_candidates, read_candidate
from apps.memories.conflicts import ConflictView
from apps.memories.reads import MemoryDetail, MemorySummary, VersionView
from apps.memories.resolution import Resolved
from apps.memories.revision import Revised
from apps.retention.deletion import AcceptedDeletion, DeletionRequest, request_deletion
from apps.retention.models import TargetKind
from apps.tenants.api.views import AgentRequest, GovernedView
from apps.tenants.transactions import revision_number, tenant_transaction, wait_for_revision

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.http import HttpResponse

    from apps.tenants.access import Access


@contextmanager
def existence_first(access: Access, memory_id: str) -> Iterator[None]:
    """What is wrong with a request about a memory is told only to who may know that there is one (ID-09)."""
    try:
        yield
    except DomainError:
        with tenant_transaction(access):
            reads.require_readable(access, memory_id)
        raise


def _await(request: AgentRequest, query: FreshList | WhichVersion) -> None:
    """Read-your-writes: the answer is at least as new as the revision that the caller has seen (RY-02, RY-04)."""
    wait_for_revision(request.access, revision_number(query.min_revision), wait_ms=query.wait_ms)


class Candidates(GovernedView):
    operation = {"POST": "candidates:write", "GET": "memory:read"}

    @contract(
        request=CandidateIn, answers={201: CandidateOutcome, 200: CandidateOutcome}, problems=(409,), summary="Propose a memory"
    )
    def post(self, request: AgentRequest) -> HttpResponse:
        done = candidates.propose(request.access, CandidateIn.parse(request).proposal())
        return respond(done.outcome, status=200 if done.replayed else 201)

    @contract(query=CandidateFilters, answers={200: listing(CandidateDetail)}, summary="List candidates")
    def get(self, request: AgentRequest) -> HttpResponse:
        filters = CandidateFilters.parse(request)
        return respond(list_candidates(request.access, filters, status=filters.status))


class CandidateById(GovernedView):
    operation = {"GET": "memory:read"}

    @contract(answers={200: CandidateDetail}, summary="Read a candidate")
    def get(self, request: AgentRequest, candidate_id: str) -> HttpResponse:
        Query.parse(request)
        return respond(read_candidate(request.access, candidate_id))


class CandidateWithdrawal(GovernedView):
    operation = {"POST": "candidates:write"}

    @contract(
        request=Nothing,
        answers={200: CandidateOutcome},
        problems=(409,),
        headers=(IDEMPOTENCY_KEY,),
        summary="Take a waiting candidate back",
    )
    def post(self, request: AgentRequest, candidate_id: str) -> HttpResponse:
        try:
            body = Nothing.parse(request)
        except DomainError:
            read_candidate(request.access, candidate_id)
            raise
        return self.once(request, body, lambda: respond(candidates.withdraw_candidate(request.access, candidate_id)))


class Memories(GovernedView):
    operation = {"GET": "memory:read"}

    @contract(query=MemoryFilters, answers={200: listing(MemorySummary)}, problems=(409,), summary="List memories")
    def get(self, request: AgentRequest) -> HttpResponse:
        filters = MemoryFilters.parse(request)
        _await(request, filters)
        return respond(reads.list_memories(request.access, filters.wanted(), filters))


class MemoryById(GovernedView):
    operation = {"GET": "memory:read", "PATCH": "memory:write", "DELETE": "memory:delete"}
    ungated = frozenset({"DELETE"})

    @contract(query=WhichVersion, answers={200: MemoryDetail}, problems=(409, 410), headers=(ETAG,), summary="Read a memory")
    def get(self, request: AgentRequest, memory_id: str) -> HttpResponse:
        with existence_first(request.access, memory_id):
            which = WhichVersion.parse(request)
        _await(request, which)
        found = reads.read_memory(request.access, memory_id, version=which.version, as_of=which.as_of)
        return respond(found, etag=found.current_version)

    @contract(
        request=RevisionIn,
        answers={200: Revised},
        problems=(409, 410, 428),
        headers=(IF_MATCH, IDEMPOTENCY_KEY),
        summary="Revise a memory",
    )
    def patch(self, request: AgentRequest, memory_id: str) -> HttpResponse:
        with existence_first(request.access, memory_id):
            body = RevisionIn.parse(request)
            version = expected_version(request, body.expected_version)

        def effect() -> HttpResponse:
            done = revision.revise_memory(
                request.access, memory_id, expected_version=version, change=body.change(), reason=body.reason
            )
            return respond(done, etag=done.version)

        return self.once(request, body, effect)

    @contract(query=DeletionQuery, answers={202: AcceptedDeletion, 200: AcceptedDeletion}, problems=(409, 410))
    def delete(self, request: AgentRequest, memory_id: str) -> HttpResponse:
        with existence_first(request.access, memory_id):
            asked = DeletionQuery.parse(request)
        done = request_deletion(
            request.access,
            DeletionRequest(
                deletion_request_id=asked.deletion_request_id or f"auto-{new_id()}",
                kind=TargetKind.MEMORY.value,
                target=memory_id,
                cover_sources=asked.cover_sources,
                suppress_future=asked.suppress_future,
                reason=asked.reason,
            ),
        )
        return respond(done, status=200 if done.replayed else 202)


class MemoryVersions(GovernedView):
    operation = {"GET": "memory:read"}

    @contract(query=FreshList, answers={200: listing(VersionView)}, problems=(409, 410), summary="Versions of a memory")
    def get(self, request: AgentRequest, memory_id: str) -> HttpResponse:
        with existence_first(request.access, memory_id):
            query = FreshList.parse(request)
        _await(request, query)
        return respond(reads.list_versions(request.access, memory_id, query))


class MemoryConfirmation(GovernedView):
    operation = {"POST": "memory:write"}

    @contract(
        request=ConfirmIn,
        answers={200: Revised},
        problems=(409, 410),
        headers=(IF_MATCH, IDEMPOTENCY_KEY),
        summary="Confirm that the same state was seen again",
    )
    def post(self, request: AgentRequest, memory_id: str) -> HttpResponse:
        with existence_first(request.access, memory_id):
            body = ConfirmIn.parse(request)
            conditional = body.expected_version is not None or "HTTP_IF_MATCH" in request.META
            version = expected_version(request, body.expected_version) if conditional else None

        def effect() -> HttpResponse:
            done = revision.confirm_memory(request.access, memory_id, observed_at=body.observed_at, expected_version=version)
            return respond(done, etag=done.version)

        return self.once(request, body, effect)


class MemoryWithdrawal(GovernedView):
    operation = {"POST": "memory:write"}

    @contract(
        request=WithdrawIn,
        answers={200: Revised},
        problems=(409, 410, 428),
        headers=(IF_MATCH, IDEMPOTENCY_KEY),
        summary="Take a memory out of use",
    )
    def post(self, request: AgentRequest, memory_id: str) -> HttpResponse:
        with existence_first(request.access, memory_id):
            body = WithdrawIn.parse(request)
            version = expected_version(request, body.expected_version)

        def effect() -> HttpResponse:
            done = revision.withdraw_memory(request.access, memory_id, expected_version=version, reason=body.reason)
            return respond(done, etag=done.version)

        return self.once(request, body, effect)


class Conflicts(GovernedView):
    operation = {"GET": "memory:read"}

    @contract(query=ListQuery, answers={200: listing(ConflictView)}, summary="List open conflicts")
    def get(self, request: AgentRequest) -> HttpResponse:
        return respond(conflicts.list_conflicts(request.access, ListQuery.parse(request)))


class ConflictById(GovernedView):
    operation = {"GET": "memory:read"}

    @contract(answers={200: ConflictView}, summary="Read an open conflict")
    def get(self, request: AgentRequest, conflict_id: str) -> HttpResponse:
        Query.parse(request)
        return respond(conflicts.read_conflict(request.access, conflict_id))


class ConflictResolution(GovernedView):
    operation = {"POST": "conflicts:resolve"}

    @contract(
        request=ResolutionIn,
        answers={200: Resolved},
        problems=(409,),
        headers=(IDEMPOTENCY_KEY,),
        summary="Settle a conflict",
    )
    def post(self, request: AgentRequest, conflict_id: str) -> HttpResponse:
        try:
            body = ResolutionIn.parse(request)
            settlement = body.settlement()
        except DomainError:
            with tenant_transaction(request.access):
                resolution.visible_conflict(request.access, conflict_id)
            raise
        return self.once(request, body, lambda: respond(resolution.resolve_conflict(request.access, conflict_id, settlement)))
