"""Problem documents (RFC 9457) for everything that goes wrong under ``/api/``, whoever notices it.

Views raise domain errors, Django raises its own, and some answers are made before a view is found. All of them leave as one
shape, and none of them carries the text of an exception: it may hold a row of a table or a field of a body.
"""


# ruff: noqa: ANN401 - JSON values and REST framework's requests have no narrower type here

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path
from typing import Any

from django.core import exceptions as django_exceptions
from django.db import InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.views import defaults
from rest_framework import exceptions as rest_exceptions

from apps.core import errors
from apps.core.api import request_ids
from apps.core.api.responses import dumps

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
API_ROOT = "/api/"
_TYPE = "urn:memory-platform:problem:"
_FRAMES = 6
_SERVER_ERROR = 500
_READ_ONLY = "25006"  # we still talk to a server that has become a standby

_BY_STATUS: dict[int, type[errors.DomainError]] = {
    400: errors.BadRequest,
    401: errors.NotAuthenticated,
    403: errors.NotPermitted,
    404: errors.NotFound,
    405: errors.MethodNotAllowed,
    413: errors.ContentTooLarge,
    415: errors.UnsupportedMediaType,
    503: errors.AuthorityUnavailable,
}
_BY_KIND: tuple[tuple[tuple[type[Exception], ...], type[errors.DomainError]], ...] = (
    # The server is away, starting, full, or gave up on a lock: the same request may work a moment later.
    ((OperationalError, InterfaceError), errors.AuthorityUnavailable),
    ((Http404, django_exceptions.ObjectDoesNotExist), errors.NotFound),
    ((django_exceptions.RequestDataTooBig,), errors.ContentTooLarge),
    ((UnreadablePostError, django_exceptions.SuspiciousOperation, django_exceptions.BadRequest), errors.BadRequest),
    ((django_exceptions.PermissionDenied,), errors.NotPermitted),
    ((rest_exceptions.ParseError,), errors.MalformedJson),
)


def problem(error: errors.DomainError, request: Any) -> HttpResponse:
    """The answer that a domain error becomes."""
    body = {
        "type": _TYPE + error.code,
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
        "code": error.code,
        "request_id": request_ids.of(request),
        **error.extras(),
    }
    return HttpResponse(dumps(body), content_type=MEDIA_TYPE, status=error.status, headers=error.headers())


def exception_handler(exception: Exception, context: dict[str, Any]) -> HttpResponse:
    """REST framework's handler: what a view raised becomes a problem document; faults of ours are logged without their text."""
    request = context["request"]
    error = as_domain_error(exception)
    if isinstance(error, errors.InternalError):
        log_fault(exception, request)
    elif isinstance(error, errors.AuthorityUnavailable):
        logger.warning("authority unavailable: %s, request %s", _kind(exception), request_ids.of(request))
    return problem(error, request)


def as_domain_error(exception: BaseException) -> errors.DomainError:
    """The domain error that says the same as an exception of Django, REST framework or the database."""
    if isinstance(exception, errors.DomainError):
        return exception
    if isinstance(exception, InternalError) and getattr(exception.__cause__, "sqlstate", "") == _READ_ONLY:
        return errors.AuthorityUnavailable()
    for kinds, error in _BY_KIND:
        if isinstance(exception, kinds):
            return error()
    if isinstance(exception, rest_exceptions.APIException):
        return error_of_status(exception.status_code)
    return errors.InternalError()


def error_of_status(status: int) -> errors.DomainError:
    """The most general error of a status; statuses that the contract does not know are told apart by class only."""
    if status in _BY_STATUS:
        return _BY_STATUS[status]()
    return errors.InternalError() if status >= _SERVER_ERROR else errors.BadRequest()


def log_fault(exception: BaseException, request: Any) -> None:
    """Note where a fault came from: types of the exception and its causes, and the last frames; never a message or a value."""
    frames = traceback.extract_tb(exception.__traceback__)[-_FRAMES:]
    place = " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames))
    logger.error("fault: %s at %s, request %s", _kind(exception), place, request_ids.of(request))


def _kind(exception: BaseException) -> str:
    """Types of the exception and of its causes, with the state code of the database if there is one."""
    names: list[str] = []
    cause: BaseException | None = exception
    while cause is not None and len(names) < _FRAMES:
        state = getattr(cause, "sqlstate", None)
        names.append(type(cause).__qualname__ + (f"[{state}]" if state else ""))
        cause = cause.__cause__
    return " from ".join(names)


# -- Django's own handlers, named in the root URL configuration


def is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith(API_ROOT)


def handler400(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Bad hosts, suspicious paths, bodies that are too large for Django."""
    return problem(as_domain_error(exception), request) if is_api(request) else defaults.bad_request(request, exception)


def handler403(request: HttpRequest, exception: Exception) -> HttpResponse:
    return problem(errors.NotPermitted(), request) if is_api(request) else defaults.permission_denied(request, exception)


def handler404(request: HttpRequest, exception: Exception) -> HttpResponse:
    return problem(errors.NotFound(), request) if is_api(request) else defaults.page_not_found(request, exception)


def handler500(request: HttpRequest) -> HttpResponse:
    """Faults outside of a view, such as a middleware whose database is away."""
    if not is_api(request):
        return defaults.server_error(request)
    exception = sys.exc_info()[1]
    return problem(errors.InternalError() if exception is None else as_domain_error(exception), request)
