"""The description of the API as a document, and as a page to read and try it."""


# ruff: noqa: ANN401, ARG002 - JSON values and requests have no narrower type here; signatures are those of the libraries

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

from apps.core.api.responses import dumps
from apps.core.api.views import ApiView

OPENAPI = "application/vnd.oai.openapi+json"


@cache
def schema_document() -> bytes:
    """OpenAPI 3.1 as JSON (which is YAML as well), made once per process: it depends on code alone and takes a second."""
    return dumps(SchemaGenerator().get_schema(request=None, public=True))  # type: ignore[no-untyped-call]


class SchemaView(ApiView):
    """``GET /api/v1/schema``, open to everybody: it says what can be asked, never what is there."""

    anonymous: ClassVar[bool] = True
    schema = None

    def get(self, request: Any) -> HttpResponse:
        return HttpResponse(schema_document(), content_type=OPENAPI)


@require_safe
def docs_page(request: HttpRequest) -> HttpResponse:
    """``GET /api/v1/docs``: Swagger UI from our own static files, under the same policy as every other page."""
    return render(request, "core/api_docs.html")
