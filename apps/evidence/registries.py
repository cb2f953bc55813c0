"""What this floor needs from the one above: who extracts, which labels exist, what became of an event.

Filled by apps.memories in AppConfig.ready().
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured

from apps.jobs.queue import Work

if TYPE_CHECKING:
    from apps.tenants.access import Access

LabelKind = Literal["topic", "entity"]
FurtherReaders = Callable[["Access", str, str], "tuple[Extraction, ...]"]
LabelResolver = Callable[[UUID, LabelKind, frozenset[str]], Mapping[str, str]]
CandidateFinder = Callable[[UUID, UUID], list[str]]


EXTRACT = "extract"  # the kind of job that reads new events
READING_KINDS = (EXTRACT, "extract_outside", "reextract")  # every kind that reads an event, whose keys begin with it


@dataclass(frozen=True, slots=True)
class Extraction:
    """Which extractor reads an event, under which admission policy, in which kind of job."""

    extractor: str
    version: str
    policy_version: str
    kind: str = EXTRACT

    def key(self, event_id: UUID, epoch: int) -> str:
        """The key that makes one extraction of an event once per extractor version, policy version and deletion epoch (EV-14)."""
        return f"{event_id}:{self.extractor}@{self.version}:{self.policy_version}:{epoch}"

    def work(self, event_id: UUID, epoch: int, namespace_id: UUID) -> Work:
        """The job to put down."""
        return Work(self.kind, self.key(event_id, epoch), {"event": str(event_id), "epoch": epoch}, (namespace_id,))


def reader_of(key: str) -> str:
    """The name of the extractor in the key of a job."""
    return key.split(":")[1].partition("@")[0]


@dataclass(slots=True)
class _Registered:
    extraction: Extraction | None = None
    further: FurtherReaders | None = None
    labels: LabelResolver | None = None
    candidates: CandidateFinder | None = None


_registered = _Registered()


def use_extraction(extraction: Extraction) -> None:
    """Every new event is read by this one."""
    _registered.extraction = extraction


def set_further_readers(readers: FurtherReaders) -> None:
    """``readers(access, scope, source type)``: who else reads a new event of this tenant, each in a job of its own."""
    _registered.further = readers


def set_label_resolver(resolver: LabelResolver) -> None:
    """``resolver(tenant_id, kind, labels)`` maps known labels to canonical keys; what is missing is unknown (LB-01, LB-08)."""
    _registered.labels = resolver


def set_candidate_finder(finder: CandidateFinder) -> None:
    """``finder(tenant_id, event primary key)`` lists the public ids of the candidates that came of an event."""
    _registered.candidates = finder


def extraction() -> Extraction:
    """Raises ImproperlyConfigured when no extractor is registered: an event that nobody will read must not be accepted."""
    if _registered.extraction is None:
        msg = "no extractor is registered with apps.evidence"
        raise ImproperlyConfigured(msg)
    return _registered.extraction


def further_extractions(access: Access, scope: str, source_type: str) -> tuple[Extraction, ...]:
    """Who else reads a new event of this scope and source, besides the one of :func:`extraction`."""
    return () if _registered.further is None else _registered.further(access, scope, source_type)


def canonical_labels(tenant_id: UUID, kind: LabelKind, labels: frozenset[str]) -> Mapping[str, str]:
    """Canonical keys of known labels; without a vocabulary no label is known."""
    return {} if _registered.labels is None or not labels else _registered.labels(tenant_id, kind, labels)


def candidates_of(tenant_id: UUID, event_id: UUID) -> list[str]:
    return [] if _registered.candidates is None else _registered.candidates(tenant_id, event_id)


@contextmanager
def replaced(
    *,
    extraction: Extraction | None = None,
    labels: LabelResolver | None = None,
    candidates: CandidateFinder | None = None,
) -> Iterator[None]:
    """Others for the time of a ``with`` block; for tests only."""
    before = (_registered.extraction, _registered.labels, _registered.candidates)
    _registered.extraction = extraction or before[0]
    _registered.labels = labels or before[1]
    _registered.candidates = candidates or before[2]
    try:
        yield
    finally:
        _registered.extraction, _registered.labels, _registered.candidates = before
