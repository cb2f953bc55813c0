"""The view that every governed endpoint extends: which operation a method needs, and who is asking."""

# ruff: noqa: ANN401 - bodies and REST framework's requests have no narrower type here

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import orjson
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from rest_framework.request import Request

from apps.core.api.idempotency import fingerprint, idempotency_key
from apps.core.api.responses import JSON, dumps
from apps.core.api.views import ApiView
from apps.core.errors import OperationNotGranted
from apps.tenants.gates import require_open
from apps.tenants.idempotency import Answer, answer_once
from apps.tenants.models import Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from apps.tenants.access import Access

OperationNeeded: TypeAlias = str | tuple[str, ...] | None

_METHODS = ("get", "post", "put", "patch", "delete")
_KEPT_HEADERS = ("ETag", "Location")


class AgentRequest(Request):
    """The request as a governed view gets it: ``access`` is set before any handler runs."""

    access: Access


class GovernedView(ApiView):
    """``operation`` names for each method what the credential must be good for: one operation, one of several, or None for any
    valid token. It is checked before the body is parsed and before anything is read (design/06 Errors 403).

    ``ungated`` names the methods that are answered also while the revocation barrier is not known to be whole: those that give
    nothing out. All others are 503 then.
    """

    operation: ClassVar[Mapping[str, OperationNeeded]] = {}
    ungated: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        """An endpoint that does not say what it needs must not start."""
        super().__init_subclass__(**options)
        handlers = {name.upper() for name in _METHODS if hasattr(cls, name)}
        if handlers != set(cls.operation):
            msg = f"{cls.__module__}.{cls.__qualname__} must declare an operation for exactly {sorted(handlers)}"
            raise ImproperlyConfigured(msg)
        unknown = {name for needed in cls.operation.values() for name in _names(needed)} - set(Operation.values)
        if unknown:
            msg = f"{cls.__module__}.{cls.__qualname__} names unknown operations: {sorted(unknown)}"
            raise ImproperlyConfigured(msg)

    def check_access(self, request: Any) -> None:
        """Set ``request.access``; raise OperationNotGranted unless the caller has the operation of this method."""
        access: Access = request.auth
        request.access = access
        method = "GET" if request.method == "HEAD" else str(request.method)
        needed = self.operation[method]
        if needed is not None and not any(access.has(name) for name in _names(needed)):
            raise OperationNotGranted
        if method not in self.ungated:
            require_open()

    def once(self, request: AgentRequest, body: Any, effect: Callable[[], HttpResponse]) -> HttpResponse:
        """Answer a POST or PATCH; with an Idempotency-Key a repeated request gets the first answer and has no second effect.

        ``effect`` does its work through verbs and returns ``respond(…)`` with ids, codes, numbers and instants only: the answer
        is stored. Raises IdempotencyKeyReuse, IdempotencyInProgress, and whatever the effect raises (which is not stored).
        """
        key = idempotency_key(request)
        if key is None:
            return effect()
        done = answer_once(
            request.access,
            route=f"{request.method} {_route(request)}",
            key=key,
            body_sha256=fingerprint(request, None if body is None else orjson.loads(dumps(body))),
            effect=lambda: _answer(effect()),
        )
        return HttpResponse(dumps(done.body), content_type=JSON, status=done.status, headers=done.headers)


def _names(needed: OperationNeeded) -> tuple[str, ...]:
    if needed is None:
        return ()
    return (needed,) if isinstance(needed, str) else needed


def _route(request: Request) -> str:
    """The path with its placeholders; which object was meant is part of the fingerprint."""
    match = request.resolver_match
    return "" if match is None else str(match.route)


def _answer(response: HttpResponse) -> Answer:
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    return Answer(response.status_code, orjson.loads(response.content) if response.content else None, headers)
