"""Who am I, and lending tokens (design/06 Identity)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import orjson

from apps.core.api.fields import choice, identifier, integer, items, key
from apps.core.api.openapi import IDEMPOTENCY_KEY, contract
from apps.core.api.responses import respond
from apps.core.api.schema import Body, Query
from apps.core.limits import LIMITS
from apps.tenants.api.authentication import bearer_token
from apps.tenants.api.views import AgentRequest, GovernedView
from apps.tenants.delegations import Delegated, create_delegation, revoke_delegation, token_of
from apps.tenants.models import Operation

if TYPE_CHECKING:
    from django.http import HttpResponse

_LIFETIME = 3600
_LONGEST_LIFETIME = 86400
_MOST_PROJECTS = 1000


@dataclass(frozen=True, slots=True)
class ReachableNamespace:
    scope: str
    scope_id: str
    read: bool
    write: bool


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom the server takes the caller for, and what that reaches."""

    tenant: str
    agent: str
    subject: str | None
    session: str | None
    projects: list[str]
    operations: list[str]
    namespaces: list[ReachableNamespace]
    limits: dict[str, int]


class WhoAmI(GovernedView):
    operation = {"GET": None}
    ungated = frozenset({"GET"})

    @contract(answers={200: Identity}, summary="Who the server takes you for")
    def get(self, request: AgentRequest) -> HttpResponse:
        Query.parse(request)
        access = request.access
        return respond(
            Identity(
                tenant=access.tenant_key,
                agent=access.actor,
                subject=access.subject,
                session=access.session_id,
                projects=[name for _, name in access.projects],
                operations=sorted(access.operations),
                namespaces=[ReachableNamespace(one.scope, one.scope_id, one.read, one.write) for one in access.namespaces],
                limits=asdict(LIMITS),
            )
        )


class DelegationIn(Body):
    subject: str = identifier(help="Whom the token speaks for.")
    projects: tuple[str, ...] = items(key(), max_items=_MOST_PROJECTS, default=(), help="Some of the host's projects.")
    operations: tuple[Operation, ...] = items(
        choice(Operation), max_items=len(Operation), help="Some of the host's operations, never delegate."
    )
    session_id: str = identifier(help="The conversation that the token is for.")
    ttl_seconds: int = integer(minimum=1, maximum=_LONGEST_LIFETIME, default=_LIFETIME)


@dataclass(frozen=True, slots=True)
class DelegationMade:
    token: str
    delegation_id: str
    expires_at: datetime


class Delegations(GovernedView):
    operation = {"POST": Operation.DELEGATE.value}
    ungated = frozenset({"POST"})

    @contract(
        request=DelegationIn,
        answers={201: DelegationMade},
        problems=(409,),
        headers=(IDEMPOTENCY_KEY,),
        summary="Lend a token for one subject",
    )
    def post(self, request: AgentRequest) -> HttpResponse:
        body = DelegationIn.parse(request)
        token = bearer_token(request)
        done = self.once(request, body, lambda: respond(_delegate(request, body, token), status=201))
        # Only now the token: what an Idempotency-Key remembers must not hold a secret.
        made = orjson.loads(done.content)
        return respond({"token": token_of(request.access, made["delegation_id"], token), **made}, status=done.status_code)


class DelegationDetail(GovernedView):
    operation = {"DELETE": Operation.DELEGATE.value}
    ungated = frozenset({"DELETE"})

    @contract(answers={204: None}, summary="End a delegation at once")
    def delete(self, request: AgentRequest, delegation_id: str) -> HttpResponse:
        Query.parse(request)
        revoke_delegation(request.access, delegation_id)
        return respond(None)


def _delegate(request: AgentRequest, body: DelegationIn, token: str) -> Delegated:
    return create_delegation(
        request.access,
        host_token=token,
        subject=body.subject,
        projects=body.projects,
        operations=body.operations,
        session_id=body.session_id,
        lifetime=timedelta(seconds=body.ttl_seconds),
    )
