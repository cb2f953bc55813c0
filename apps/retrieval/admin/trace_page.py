"""What the page of a trace tells beyond its columns: the way of the query in words, the funnel, the room, and the candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from apps.retrieval.admin import candidate_rows, funnel, words
from apps.retrieval.models import TraceCandidate
from apps.retrieval.vocabulary import Stage
from apps.tenants.console import values
from apps.tenants.console.links import Links

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.http import HttpRequest
    from django.utils.safestring import SafeString
    from django_stubs_ext import StrOrPromise

    from apps.retrieval.models import RetrievalTrace
    from apps.tenants.console.site import GovernanceAdminSite


@dataclass(frozen=True, slots=True)
class Room:
    """The budget: what the packet took of it, and how long the bars are."""

    used: int
    limit: int
    unit: str
    tokenizer: str
    exact: bool
    truncated: bool
    too_big: int  # records that found no room

    @property
    def percent(self) -> int:
        return min(100, round(100 * self.used / self.limit)) if self.limit else 0


Fact = tuple["StrOrPromise", "SafeString | str"]


def told(site: GovernanceAdminSite, request: HttpRequest, trace: RetrievalTrace) -> dict[str, Any]:
    """The context of the page. No text is loaded: ids, codes and counts."""
    links = Links(site, request)
    lost = TraceCandidate.objects.filter(tenant_id=trace.tenant_id, trace_id=trace.id, chosen=False)
    stages = list(lost.values_list("components__stage", "reason"))
    drawn = funnel.draw(trace.funnel, [stage or "" for stage, _reason in stages])
    return {
        "outcome": values.state(trace.outcome, words.said(words.OUTCOMES, trace.outcome)),
        "funnel": drawn,
        "funnel_lines": [(bar, *_named(bar)) for bar in drawn.bars] if drawn is not None else [],
        "lines": candidate_rows.lines_of(trace, links),
        "parse": list(_parse(trace)),
        "asked_with": list(_asked(trace)),
        "room": _room(trace, sum(reason.endswith("over_budget") for _stage, reason in stages)),
        "roles": [(number, role) for number, role in enumerate(trace.window_roles, start=1)],
        "hints": [(code, words.said(words.WARNINGS, code)) for code in trace.warnings],
        "timings": [(name, spent) for name, spent in trace.timings_ms.items() if isinstance(spent, (int, float))],
        "timing_words": {"triage": _("triage"), "fetch": _("reading"), "decide": _("rules")},
    }


def _named(bar: funnel.Bar) -> tuple[StrOrPromise, StrOrPromise]:
    """What a step is called, and what it means."""
    if bar.key == "found":
        return _("Reached by a lane"), _("What keys, names, words and rules lead to.")
    if bar.key == "read":
        return _("Read from the authority"), _("With what belongs beside them: other sides, earlier decisions.")
    return words.said(words.STAGES, bar.key), {
        Stage.AUTHORITY: _("May it be read, is it alive, and did it hold at that time?"),
        Stage.RECALL: _("Does it share enough with the question?"),
        Stage.APPLICABILITY: _("Do its conditions fit what the agent said about its surroundings?"),
        Stage.RELATIONS: _("Not twice the same, both sides of a dispute, a decision before its predecessor."),
        Stage.RANKING: _("As many as were asked to be considered."),
        Stage.PACKING: _("As many as were asked for, as far as the budget goes."),
    }[Stage(bar.key)]


def _parse(trace: RetrievalTrace) -> Iterable[Fact]:
    """What triage made of the question."""
    found: Mapping[str, Any] = trace.triage if isinstance(trace.triage, dict) else {}
    named = (
        ("divergence", _("Difference"), words.DIVERGENCES),
        ("ground", _("Because"), words.GROUNDS),
        ("status", _("Question"), words.PARSES),
        ("task_type", _("Task"), words.TASKS),
        ("time_view", _("About"), words.TIMES),
    )
    yield _("Decision"), values.state(trace.decision, words.said(words.DECISIONS, trace.decision))
    for name, title, vocabulary in named:
        if found.get(name):
            yield title, str(capfirst(words.said(vocabulary, found[name])))


def _asked(trace: RetrievalTrace) -> Iterable[Fact]:
    """What the query was asked with besides its words."""
    asked: Mapping[str, Any] = trace.asked if isinstance(trace.asked, dict) else {}
    if asked.get("decision"):
        yield _("Who decided"), str(capfirst(words.said(words.ASKED, asked["decision"])))
    if "max_items" in asked:
        yield (
            _("At most"),
            _("%(items)s given, %(candidates)s considered")
            % {
                "items": asked["max_items"],
                "candidates": asked["max_candidates"],
            },
        )
    if asked.get("types"):
        yield _("Types"), values.words(asked["types"])
    if asked.get("style"):
        yield _("Rendered"), str(capfirst(words.said(words.STYLES, asked["style"])))
    if asked.get("profile"):
        yield words.CIRCUMSTANCES["profile"], str(capfirst(words.said(words.PROFILES, asked["profile"])))


def _room(trace: RetrievalTrace, too_big: int) -> Room | None:
    budget: Mapping[str, Any] = trace.budget if isinstance(trace.budget, dict) else {}
    if not {"limit", "used", "unit"} <= budget.keys():
        return None
    return Room(
        used=budget["used"],
        limit=budget["limit"],
        unit=str(words.said(words.UNITS, budget["unit"])),
        tokenizer=budget.get("tokenizer", "") if budget["unit"] == "tokens" else "",
        exact=bool(budget.get("exact", True)),
        truncated=bool(budget.get("truncated")),
        too_big=too_big,
    )
