"""Versions as entity tags, and the precondition of a change (design/06 Concurrency; VH-10, VH-17)."""


# ruff: noqa: ANN401 - JSON values and REST framework's requests have no narrower type here

from __future__ import annotations

import re
from typing import Any

from apps.core.errors import FieldError, PreconditionRequired, ValidationFailed

_TAG = re.compile(r'"v([1-9][0-9]{0,17})"', re.ASCII)


def etag_of(version: int) -> str:
    """``"v3"``, quotes included."""
    return f'"v{version}"'


def expected_version(request: Any, in_body: int | None) -> int:
    """The version a change expects, from the body or from If-Match.

    Raises PreconditionRequired when neither is given, and ValidationFailed when If-Match is no single tag of a version or says
    another version than the body. Whether the object has that version is checked under its lock, not here.
    """
    header = request.META.get("HTTP_IF_MATCH")
    if header is None:
        if in_body is None:
            raise PreconditionRequired
        return in_body
    found = _TAG.fullmatch(header.strip())
    if found is None:
        raise ValidationFailed([FieldError("", "invalid_precondition", 'If-Match must be one tag such as "v3".')])
    version = int(found[1])
    if in_body is not None and in_body != version:
        raise ValidationFailed(
            [FieldError("/expected_version", "precondition_mismatch", "expected_version and If-Match name different versions.")]
        )
    return version
