"""The endpoints that are watched instead of used."""

from __future__ import annotations

import ipaddress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpResponse
from django.utils.crypto import constant_time_compare
from prometheus_client import CONTENT_TYPE_LATEST

from apps.core.api.openapi import contract
from apps.core.api.responses import respond
from apps.core.api.schema import Query
from apps.core.api.views import ApiView
from apps.core.errors import NotAuthenticated
from memory_platform.operations import metrics
from memory_platform.operations.health import NotReady, Readiness, readiness

if TYPE_CHECKING:
    from rest_framework.request import Request

# Set by a proxy on the same machine, whose address would otherwise pass for the caller's.
_PASSED_ON = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")


@dataclass(frozen=True, slots=True)
class Alive:
    status: str


class Live(ApiView):
    """The process answers; nothing else is asked."""

    anonymous = True

    @contract(answers={200: Alive}, summary="Whether the process answers")
    def get(self, request: Request) -> HttpResponse:
        Query.parse(request)
        return respond(Alive("ok"))


class Ready(ApiView):
    """The database answers and its schema is there; the worker and the index are named."""

    anonymous = True

    @contract(answers={200: Readiness}, summary="Whether requests can be served")
    def get(self, request: Request) -> HttpResponse:
        Query.parse(request)
        found = readiness()
        if not found.ready:
            raise NotReady({name: state for name, state in asdict(found).items() if name != "status"})
        return respond(found)


class Metrics(ApiView):
    """For a scraper on this machine, or one with the metrics token."""

    anonymous = True

    @contract(answers={200: {"type": "string", "description": "Prometheus text format."}}, summary="Figures for Prometheus")
    def get(self, request: Request) -> HttpResponse:
        if not _may_scrape(request):
            raise NotAuthenticated
        Query.parse(request)
        return HttpResponse(metrics.render(), content_type=CONTENT_TYPE_LATEST)


def _may_scrape(request: Request) -> bool:
    kind, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if settings.METRICS_TOKEN and kind.lower() == "bearer" and constant_time_compare(token.strip(), settings.METRICS_TOKEN):
        return True
    return _is_loopback(request.META.get("REMOTE_ADDR", "")) and not any(request.META.get(name) for name in _PASSED_ON)


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
