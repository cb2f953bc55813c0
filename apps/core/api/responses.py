"""Answers: compact JSON in UTF-8, times in UTC with Z, ids as text."""


# ruff: noqa: ANN401, ARG002 - JSON values and requests have no narrower type here; signatures are those of the libraries

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.renderers import BaseRenderer

from apps.core.api.etags import etag_of

JSON = "application/json"
_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
_NO_CONTENT = 204


def dumps(value: Any) -> bytes:
    """JSON of plain values, frozen dataclasses, enumerations, UUIDs and aware times."""
    return orjson.dumps(value, default=_plain, option=_OPTIONS)


def respond(value: Any, *, status: int = 200, etag: int | None = None, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """The answer of a view: the result of its verb as JSON; None is an empty 204. ``etag`` is the version of the object shown."""
    response = HttpResponse(status=_NO_CONTENT) if value is None else HttpResponse(dumps(value), content_type=JSON, status=status)
    if value is None:
        del response.headers["Content-Type"]
    if etag is not None:
        response.headers["ETag"] = etag_of(etag)
    for name, text in (headers or {}).items():
        response.headers[name] = text
    return response


def instant_text(moment: datetime) -> str:
    """RFC 3339 in UTC with Z; microseconds only if there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


class JsonRenderer(BaseRenderer):
    """The same JSON for views that return a DRF Response."""

    media_type = JSON
    format = "json"
    charset = None
    render_style = "binary"

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        return b"" if data is None else dumps(data)


def _plain(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
