"""Limits of the contract (design/06 Conventions), each a setting with a safe default."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import environ

PREFIX = "MEMORY_PLATFORM_"


def _limit(default: int, help_line: str) -> int:
    value: int = field(default=default, metadata={"help": help_line})
    return value


@dataclass(frozen=True, slots=True)
class Limits:
    """Each field is the environment variable ``MEMORY_PLATFORM_<NAME IN CAPITALS>``; its help line is in its metadata."""

    body_bytes: int = _limit(1024 * 1024, "Largest body of a request, in bytes.")
    batch_body_bytes: int = _limit(40 * 1024 * 1024, "Largest body of a batch of events, in bytes: 500 full events fit.")
    batch_events: int = _limit(500, "Most events in one batch.")
    content_bytes: int = _limit(64 * 1024, "Largest content of an event or memory, in bytes of UTF-8.")
    metadata_bytes: int = _limit(8 * 1024, "Largest metadata of an event, in bytes of canonical JSON.")
    labels: int = _limit(32, "Most topics, and most entities, of one record.")
    condition_keys: int = _limit(32, "Most conditions of one memory.")
    key_chars: int = _limit(200, "Longest fact key, label or scope key, in characters.")
    id_chars: int = _limit(128, "Longest id that a caller may choose, in characters.")
    future_seconds: int = _limit(300, "How far ahead of the server an event may have occurred, in seconds.")
    page_rows: int = _limit(50, "Rows of a list page when no limit is asked for.")
    page_rows_max: int = _limit(200, "Most rows of a list page.")
    requests_per_minute: int = _limit(6000, "Requests per minute and credential; 0 switches counting off.")

    @classmethod
    def from_environment(cls) -> Limits:
        """The limits of this installation. Raises ValueError for one that is no whole number."""
        env = environ.Env()
        return cls(**{one.name: env.int(PREFIX + one.name.upper(), default=one.default) for one in fields(cls)})


LIMITS = Limits.from_environment()
