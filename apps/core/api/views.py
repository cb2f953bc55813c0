"""The base of every view of the API: the order in which a request is decided, and what every answer carries."""


# ruff: noqa: ANN401, ARG002 - JSON values and requests have no narrower type here; signatures are those of the libraries

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn
from uuid import UUID

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.views import APIView

from apps.core.api import rate_limit
from apps.core.api.openapi import ContractSchema
from apps.core.api.parsers import StrictJsonParser
from apps.core.api.problems import exception_handler
from apps.core.api.responses import JsonRenderer
from apps.core.errors import MethodNotAllowed, NotAuthenticated, NotFound
from apps.core.limits import LIMITS
from apps.core.text import has_control

if TYPE_CHECKING:
    from rest_framework.request import Request


class OnlyJson(BaseContentNegotiation):
    """The API speaks one language: Accept is not asked, and a body is judged by the reader of bodies."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


class ApiView(APIView):
    """Who asks is decided first, then whether they may ask so often, then whether the method exists, then what they may do.

    An answer never tells more than the step it failed at: nobody learns which paths or methods there are without a credential.
    """

    anonymous: ClassVar[bool] = False  # open to everybody; credentials are not even read

    parser_classes = (StrictJsonParser,)
    renderer_classes = (JsonRenderer,)
    permission_classes = ()
    throttle_classes = ()
    content_negotiation_class = OnlyJson
    metadata_class = None
    schema: Any = ContractSchema()
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]

    allowance: rate_limit.Allowance | None = None

    def get_exception_handler(self) -> Any:
        return exception_handler

    def get_authenticators(self) -> list[Any]:
        return [] if self.anonymous else list(super().get_authenticators())

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.format_kwarg = None
        request.accepted_renderer, request.accepted_media_type = self.perform_content_negotiation(request)
        request.version = request.versioning_scheme = None
        if not self.anonymous:
            self.perform_authentication(request)
            if request.auth is None:
                raise NotAuthenticated
            self._count(request)
        self.check_method(request, *args, **kwargs)
        self.check_access(request)
        if any(isinstance(value, str) and (len(value) > LIMITS.id_chars or has_control(value)) for value in kwargs.values()):
            raise NotFound

    def check_method(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raise MethodNotAllowed for a method that this path does not have."""
        name = str(request.method).lower()
        if name not in self.http_method_names or not hasattr(self, name):
            self.http_method_not_allowed(request, *args, **kwargs)

    def check_access(self, request: Request) -> None:
        """For views that know operations: raise OperationNotGranted when the caller lacks the one of this method."""

    def http_method_not_allowed(self, request: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise MethodNotAllowed([name.upper() for name in self.http_method_names if hasattr(self, name)])

    @property
    def default_response_headers(self) -> dict[str, str]:
        """None: an Allow header on every answer would tell one path from another in refusals that must look alike."""
        return {}

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        if self.allowance is not None:
            for name, text in self.allowance.headers().items():
                response.headers[name] = text
        return response

    def _count(self, request: Request) -> None:
        who = getattr(request.auth, "credential_id", None) or getattr(request.auth, "actor_id", None)
        if isinstance(who, UUID):
            self.allowance = rate_limit.spend(who)
            if self.allowance is not None:
                self.allowance.require()


class UnknownPath(ApiView):
    """Everything under the API that is no path: 401 for nobody, the one 404 for somebody."""

    schema = None

    def check_method(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound
