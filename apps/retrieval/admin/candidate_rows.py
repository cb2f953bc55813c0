"""The candidates of a trace as lines of its page: what was given, what was left out and why, and the key of their order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.utils.dateparse import parse_datetime
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from apps.evidence.models import Evidence
from apps.memories.models import EpistemicStatus, Memory, Verdict
from apps.retrieval.admin import words
from apps.retrieval.models import TraceAdoption, TraceCandidate
from apps.retrieval.traces import fate
from apps.retrieval.vocabulary import Fate
from apps.tenants.console import values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from apps.retrieval.models import RetrievalTrace
    from apps.tenants.console.links import Links

SHOWN = 50
_UTILITY = {0: _("a limit"), 1: _("spares a search"), 2: _("ordinary")}
_TONES = {Fate.USED: "yes", Fate.NOT_USED: "no", Fate.PACKED: "pending"}


@dataclass(frozen=True, slots=True)
class Ordered:
    """The parts of the ranking key, in their order of weight."""

    applicability: str
    always: bool
    exact: bool
    fused: int
    grounds: str
    utility: str
    since: SafeString


@dataclass(frozen=True, slots=True)
class Line:
    """One candidate in words."""

    place: int
    memory: SafeString
    version: int
    chosen: bool
    fate: SafeString
    lanes: SafeString
    authority_revision: str = ""
    stage: str = ""
    reason: str = ""
    code: str = ""
    order: Ordered | None = None


@dataclass(frozen=True, slots=True)
class Lines:
    given: list[Line] = field(default_factory=list)
    left_out: list[Line] = field(default_factory=list)
    whole: bool = True  # every candidate is shown

    @property
    def ordered(self) -> list[Line]:
        return [line for line in (*self.given, *self.left_out) if line.order is not None]


def lines_of(trace: RetrievalTrace, links: Links) -> Lines:
    """What was given, whole, and the first of what was not, in the order in which the stages lost them."""
    rows = TraceCandidate.objects.filter(tenant_id=trace.tenant_id, trace_id=trace.id).order_by("-chosen", "position", "id")
    shown = list(rows[: SHOWN + 1])
    used = {
        (memory, version): flag
        for memory, version, flag in TraceAdoption.objects.filter(tenant_id=trace.tenant_id, trace_id=trace.id).values_list(
            "memory_id", "version", "used"
        )
    }
    links.want(Memory, [row.memory_id for row in shown])
    made = [_line(row, used, links) for row in shown[:SHOWN]]
    return Lines([line for line in made if line.chosen], [line for line in made if not line.chosen], len(shown) <= SHOWN)


def _line(row: TraceCandidate, used: Mapping[tuple[Any, int], bool], links: Links) -> Line:
    parts: Mapping[str, Any] = row.components
    far = fate(chosen=row.chosen, used=used.get((row.memory_id, row.version)))
    return Line(
        place=row.position,
        memory=links.show(Memory, row.memory_id),
        version=row.version,
        chosen=row.chosen,
        fate=values.state(_TONES.get(far, "over"), words.said(words.FATES, far)),
        lanes=lanes(parts.get("lanes", {})),
        authority_revision=row.authority_revision,
        stage=str(words.said(words.STAGES, parts.get("stage", ""))),
        reason=str(capfirst(words.said(words.REASONS, row.reason))),
        code=row.reason,
        order=_ordered(parts) if "fused" in parts else None,
    )


def lanes(ranks: Mapping[str, int]) -> SafeString:
    """By which lanes it was found, each with its rank there."""
    if not ranks:
        return values.NOTHING
    told = sorted(ranks.items(), key=lambda one: (one[1], one[0]))
    return format_html_join(
        " ", '<span class="word">{} {}</span>', ((words.said(words.LANES, lane), rank) for lane, rank in told)
    )


def _ordered(parts: Mapping[str, Any]) -> Ordered:
    grounds: Sequence[tuple[Any, str]] = (
        (Verdict, "verdict"),
        (EpistemicStatus, "epistemic_status"),
        (Evidence.Fidelity, "fidelity"),
    )
    told = [str(words.said(dict(kind.choices), parts[name])) for kind, name in grounds if parts.get(name)]
    began = parse_datetime(str(parts.get("valid_from") or ""))
    return Ordered(
        applicability=str(words.said(words.APPLICABILITY, parts.get("applicability", ""))),
        always=bool(parts.get("always")),
        exact=bool(parts.get("exact")),
        fused=int(parts["fused"]),
        grounds=" · ".join(told),
        utility=str(_UTILITY.get(parts.get("utility", 2), "")),
        since=values.instant(began) if began is not None else values.NOTHING,
    )


def marked(code: str, told: object) -> SafeString:
    """Words with the code that a program would branch on."""
    return format_html('<span class="reason">{} <code>{}</code></span>', told, code) if code else values.NOTHING
