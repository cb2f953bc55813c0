"""What a request with an Idempotency-Key says: the key, and a fingerprint of everything that makes it the same request."""


# ruff: noqa: ANN401 - JSON values and REST framework's requests have no narrower type here

from __future__ import annotations

import re
from typing import Any

from apps.core.canonical import json_hash
from apps.core.errors import FieldError, ValidationFailed
from apps.core.limits import LIMITS

_KEY = re.compile(rf"[\x21-\x7e]{{1,{LIMITS.id_chars}}}", re.ASCII)


def idempotency_key(request: Any) -> str | None:
    """The value of the header, or None; raises ValidationFailed unless it is 1 to 128 printable ASCII characters, no spaces."""
    sent = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if sent is None:
        return None
    key = str(sent).strip()
    if _KEY.fullmatch(key) is None:
        detail = f"Idempotency-Key is 1 to {LIMITS.id_chars} printable ASCII characters."
        raise ValidationFailed([FieldError("", "invalid_idempotency_key", detail)])
    return key


def fingerprint(request: Any, body: Any) -> str:
    """SHA-256 of method, path, query, If-Match and the JSON value of the body; white space and order of names do not matter."""
    meta = request.META
    return json_hash([request.method, request.path, meta.get("QUERY_STRING", ""), meta.get("HTTP_IF_MATCH"), body])
