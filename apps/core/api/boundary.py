"""The outermost middleware: every answer under ``/api/`` has a request id, is not cached, and is JSON even when it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.core import errors
from apps.core.api import rate_limit, request_ids
from apps.core.api.problems import MEDIA_TYPE, as_domain_error, error_of_status, is_api, log_fault, problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponseBase

_FIRST_ERROR = 400
_KEPT = ("Allow", "Retry-After", "WWW-Authenticate")


class ApiBoundary:
    """Put first in MIDDLEWARE: what any other middleware answers still passes through here."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = request_ids.begin(request)
        try:
            response = self.get_response(request)
            if is_api(request):
                response = self._finish(request, response)
            response.headers[request_ids.HEADER] = request_ids.of(request)
            return response
        finally:
            request_ids.end(token)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """A plain Django view under the API raised: answered here, so that Django does not log the exception with its text."""
        if not is_api(request):
            return None
        error = as_domain_error(exception)
        if isinstance(error, errors.InternalError):
            log_fault(exception, request)
        return problem(error, request)

    def _finish(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code >= _FIRST_ERROR and not response.headers.get("Content-Type", "").startswith(MEDIA_TYPE):
            replaced = problem(error_of_status(response.status_code), request)
            for name in _KEPT:
                if name in response.headers:
                    replaced.headers[name] = response.headers[name]
            response.close()
            response = replaced
        response.headers.setdefault("Cache-Control", "no-store")
        for name, text in rate_limit.policy_headers().items():
            response.headers.setdefault(name, text)
        return response
