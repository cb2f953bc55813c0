"""What every model must say about itself.

A test walks all models and fails on one without a declaration, so that no table can be added without deciding whose it is, how
long its rows live, which deletion layer clears them and whether changes to it are audited.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Keeps(StrEnum):
    """Which period of a retention class ends the life of a row."""

    CONTENT = "content"
    CANDIDATES = "candidates"
    INDEX = "index"
    TRACES = "traces"
    AUDIT = "audit"
    CONFIGURATION = "configuration"  # lives as long as the tenant keeps the setting
    WORK = "work"  # ends with the job it belongs to
    TOKEN = "token"  # carries its own expiry  # noqa: S105 - a word, not a secret


class Audited(StrEnum):
    """How a change of the table reaches the audit log."""

    VERB = "verb"  # the verb that writes the row records an entry in the same transaction
    PROJECTION = "projection"  # rebuilt from audited rows; has no entry of its own
    LOG = "log"  # is itself an append-only record
    SYSTEM = "system"  # technical state without governance meaning


@dataclass(frozen=True, slots=True)
class Governance:
    """``tenant``: path to the tenant row (None: shared by all). ``layer``: deletion layer that clears it (None: no text)."""

    tenant: str | None
    keeps: Keeps
    audited: Audited
    layer: str | None = None
