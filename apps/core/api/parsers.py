"""The strict reader of JSON bodies (design/06 Errors 400, 413, 415).

Refused as malformed: anything but UTF-8, a byte order mark, NaN and Infinity, numbers too large for a double, a key that stands
twice in one object, nesting deeper than 32, and surrogates that stand alone. NUL inside a string is well-formed JSON; the fields
refuse it.
"""


# ruff: noqa: ANN401, ARG002 - JSON values and requests have no narrower type here; signatures are those of the libraries

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

from django.utils.http import parse_header_parameters
from rest_framework.parsers import BaseParser

from apps.core.errors import ContentTooLarge, LengthRequired, MalformedJson, UnsupportedMediaType
from apps.core.limits import LIMITS

DEEPEST: Final = 32

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_UTF8 = {"utf-8", "utf8"}


class StrictJsonParser(BaseParser):
    """The same reader for code that asks for ``request.data``; views say ``EventIn.parse(request)``."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Read at most the bytes of an ordinary body."""
        return parse_json(_read(stream, LIMITS.body_bytes))


def read_json(request: Any, *, limit: int = LIMITS.body_bytes, empty: bool = False) -> Any:
    """The JSON value of a request's body of at most ``limit`` bytes; with ``empty``, no body stands for ``{}``.

    Raises UnsupportedMediaType, LengthRequired, ContentTooLarge, MalformedJson. No more than the limit is ever read.
    """
    meta = request.META
    length = _content_length(meta)
    if length > limit:
        raise ContentTooLarge
    if length == 0 and "HTTP_TRANSFER_ENCODING" in meta:
        raise LengthRequired
    if length == 0:
        if empty:
            return {}
        _require_json(meta.get("CONTENT_TYPE", ""), given=False)
        raise MalformedJson
    _require_json(meta.get("CONTENT_TYPE", ""), given=True)
    return parse_json(_read(getattr(request, "_request", request), limit))


def parse_json(body: bytes) -> Any:
    """The value of a JSON text; raises MalformedJson."""
    try:
        value = _DECODER.decode(body.decode("utf-8"))
    except (ValueError, RecursionError):
        # ValueError: not UTF-8, not JSON, a refusal of the hooks below, or an integer of more digits than Python reads
        raise MalformedJson from None
    if body.count(b"{") + body.count(b"[") > DEEPEST and _is_too_deep(value):
        raise MalformedJson
    if _SURROGATE.search(body) and _has_lone_surrogate(value):
        raise MalformedJson
    return value


def _content_length(meta: dict[str, Any]) -> int:
    try:
        return max(0, int(meta.get("CONTENT_LENGTH") or 0))
    except ValueError:
        return 0


def _require_json(content_type: str, *, given: bool) -> None:
    """A body is JSON; no body may leave the type out, but may not name another one."""
    if content_type == "application/json" or not (content_type or given):
        return
    try:
        kind, parameters = parse_header_parameters(content_type)
    except ValueError:  # a parameter in a character set that nobody knows
        raise UnsupportedMediaType from None
    if kind != "application/json" or parameters.get("charset", "utf-8").lower() not in _UTF8:
        raise UnsupportedMediaType


def _read(stream: Any, limit: int) -> bytes:
    """The whole body; one that turns out to be longer than the limit is refused before the rest of it is read."""
    parts: list[bytes] = []
    size = 0
    while part := stream.read(limit + 1 - size):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise ContentTooLarge
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError
    return value


def _refuse(_: str) -> NoReturn:
    raise ValueError


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_refuse)


def _is_too_deep(value: Any) -> bool:
    """Level by level, so that the answer costs one look at each container and no recursion."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(DEEPEST):
        level = [
            inner
            for container in level
            for inner in (container.values() if isinstance(container, dict) else container)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def _has_lone_surrogate(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
