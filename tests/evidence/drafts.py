"""Drafts and bodies of events, with everything that a test does not care about filled in."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

from apps.evidence.drafts import Draft

_numbers = itertools.count(1)
LONG_AGO = datetime(2024, 1, 1, 8, tzinfo=UTC)


def draft(content: str | None = "the lamp is warm", **fields: Any) -> Draft:
    return Draft(
        **{
            "event_id": f"evt-{next(_numbers)}",
            "scope": "user",
            "source_type": "user_message",
            "occurred_at": LONG_AGO,
            "content": content,
            **fields,
        }
    )


def body(content: str | None = "the lamp is warm", **fields: Any) -> dict[str, Any]:
    found = {
        "event_id": f"evt-{next(_numbers)}",
        "scope": "user",
        "source_type": "user_message",
        "occurred_at": "2024-01-01T08:00:00Z",
        "content": content,
        **fields,
    }
    return {name: value for name, value in found.items() if value is not None}
