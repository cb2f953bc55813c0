"""One line and one measurement per request: route, status and time; no path, query, body or caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from apps.core import clock
from memory_platform.operations import metrics

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponseBase

log = structlog.get_logger(__name__)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_QUIET = frozenset(
    {"api/v1/health/live", "api/v1/health/ready", "api/v1/metrics"}
)  # asked all the time; counted, not written down


class RequestLog:
    """Put directly behind ApiBoundary, which gives the request its id."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        begun = clock.monotonic()
        response = self.get_response(request)
        seconds = clock.monotonic() - begun
        route = route_of(request)
        method = request.method if request.method in _METHODS else "OTHER"
        metrics.observe(str(method), route, response.status_code, seconds)
        if route not in _QUIET:
            log.info("request", method=method, route=route, status=response.status_code, ms=round(seconds * 1000, 2))
        return response


def route_of(request: HttpRequest) -> str:
    """The pattern that the path matched, so that ids in it are not told; "unmatched" for none."""
    match = request.resolver_match
    return "unmatched" if match is None else str(match.route)
