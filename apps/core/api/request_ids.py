"""The id of a request: our own, in its problem document, header and log lines. What a client calls its request is not trusted."""


# ruff: noqa: ANN401 - JSON values and REST framework's requests have no narrower type here

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Any

from apps.core.ids import new_id, public_id

HEADER = "X-Request-Id"

_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """The id of the request being answered, or "" outside one."""
    return _current.get()


def begin(request: Any) -> Token[str]:
    """Give the request a new id; hand the token to end()."""
    request.request_id = public_id("req", new_id())
    return _current.set(request.request_id)


def end(token: Token[str]) -> None:
    _current.reset(token)


def of(request: Any) -> str:
    """The id of a request, made now if it did not come through the middleware."""
    found = getattr(getattr(request, "_request", request), "request_id", "")
    return str(found) or current() or public_id("req", new_id())
