"""Measuring the real pipeline on a data set: import, ask every question, see where the records that answer it stand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from apps.core.canonical import sha256_hex
from apps.core.ids import public_id
from apps.core.isolation import tenant_context
from apps.evidence.drafts import Draft
from apps.evidence.ingestion import Accepted, accept_events
from apps.evidence.models import SourceType
from apps.memories.candidates import propose
from apps.memories.importing.verb import Imported, import_turns
from apps.memories.models import Candidate, EpistemicStatus, Memory, MemoryType, Relation
from apps.memories.proposals import Proposal, ProposedRelation
from apps.retrieval.context import Budget
from apps.retrieval.evaluation.ablation import ablations
from apps.retrieval.evaluation.metrics import Tally
from apps.retrieval.pipeline import answer_query
from apps.retrieval.question import Question
from apps.retrieval.traces import get_trace
from apps.retrieval.vocabulary import Lane
from apps.tenants.models import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from apps.retrieval.evaluation.datasets import Query, Record, World
    from apps.retrieval.traces import TraceView
    from apps.tenants.access import Access

DEPTH = 20
_ROOM = 200_000  # the packet's budget must not decide what recall is measured on
_ID_DIGITS = 32
FUSED = "fused"
NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of one group of questions in one ranking: that of the packet, or of one lane before any rule."""

    group: str
    ranking: str
    questions: int
    figures: dict[str, float]


@dataclass(frozen=True, slots=True)
class Report:
    """The figures, and what was wrong with packets: counted, each under one name (EL-09).

    ``missed``: records that answer and were not given, by the reason in the trace or ``not_found``. ``leaked`` and
    ``near_leaks``: records of another place than the one that was asked, in packets and among candidates.
    """

    measured: list[Measured]
    sufficient: int  # questions whose packet holds everything that answers
    missed: Mapping[str, int]
    leaked: int
    near_leaks: int


@dataclass(slots=True)
class _Sums:
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    sufficient: int = 0
    missed: Counter[str] = field(default_factory=Counter)
    leaked: int = 0
    near_leaks: int = 0

    def add(self, groups: Iterable[str], ranking: str, ranked: list[str], query: Query) -> None:
        for group in groups:
            self.tallies.setdefault((group, ranking), Tally()).add(ranked, query.relevant, query.stale, query.forbidden)

    def judge(self, query: Query, given: Collection[str], trace: TraceView | None, keys: Mapping[str, str]) -> None:
        """What is wrong with one packet; ``keys`` are all records of the place that was asked."""
        self.sufficient += query.relevant <= set(given)
        rows = trace.candidates if trace is not None else []
        reasons = {keys[row["memory_id"]]: row["reason"] for row in rows if row["memory_id"] in keys and not row["chosen"]}
        self.missed.update(reasons.get(key, NOT_FOUND) for key in query.relevant.difference(given))
        strangers = [row for row in rows if row["memory_id"] not in keys]
        self.leaked += sum(row["chosen"] for row in strangers)
        self.near_leaks += len(strangers)

    def report(self) -> Report:
        ordered = sorted(
            self.tallies.items(),
            key=lambda entry: (entry[0][0] != "all", entry[0][0], _RANKINGS.get(entry[0][1].partition(" ")[0], 1)),
        )
        measured = [Measured(group, ranking, tally.questions, tally.figures()) for (group, ranking), tally in ordered]
        return Report(measured, self.sufficient, dict(self.missed), self.leaked, self.near_leaks)


_RANKINGS = {FUSED: 0, "every": 2, "without": 3}  # the packet, each lane, then the order without one of its signals


def import_dataset(access: Access, worlds: Iterable[World], project_of: Callable[[str], str]) -> Imported:
    """Bring every record in; ``project_of`` names the project of a world. What is there already stays as it is."""
    sums = Imported()
    for world in worlds:
        project = project_of(world.name)
        for done in (import_turns(access, world.turns, project=project), _import_records(access, world.records, project)):
            sums = Imported(*(getattr(sums, one.name) + getattr(done, one.name) for one in fields(Imported)))
    return sums


def measure(
    access: Access,
    worlds: Iterable[World],
    project_of: Callable[[str], str],
    *,
    ablate: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Report:
    """Ask every question in the project of its world, and count in the packet and in each lane alone.

    ``ablate``: also in the order of its candidates, whole and without each of its signals.
    """
    asked = [(world, query) for world in worlds for query in world.questions]
    sums = _Sums()
    keys: dict[str, Mapping[str, str]] = {}
    for number, (world, query) in enumerate(asked, start=1):
        project = project_of(world.name)
        if project not in keys:
            keys[project] = _keys(access, project)
        packet = answer_query(access, _asked(query.text, project))
        groups = ("all", query.group) if query.group != "all" else ("all",)
        given = [item.fact_key or "" for item in packet.items]
        trace = get_trace(access, packet.trace_id) if packet.trace_id is not None else None
        sums.add(groups, FUSED, given, query)
        sums.judge(query, given, trace, keys[project])
        rankings = _lanes(trace) if trace is not None else {}
        rankings |= ablations(trace.candidates) if ablate and trace is not None else {}
        for name, ranked in rankings.items():
            sums.add(("all",), name, [keys[project].get(one, one) for one in ranked[:DEPTH]], query)
        progress(number, len(asked))
    return sums.report()


def _asked(question: str, project: str) -> Question:
    return Question(
        question=question,
        project=project,
        max_candidates=DEPTH * 2,
        max_items=DEPTH,
        budget=Budget(limit=_ROOM),
    )


def _lanes(trace: TraceView) -> dict[str, list[str]]:
    """What each lane found, in its own order; the phrase lane is known for those that came as far as the order."""
    found = {lane.value: list(trace.lanes.get(lane.value, ())) for lane in (Lane.LEXICAL, Lane.NAMED)}
    found |= {lane: list(names) for lane, names in trace.lanes.items() if lane == Lane.SEMANTIC}
    spoken = [(row["components"].get("lanes", {}).get(Lane.PHRASE.value), row["memory_id"]) for row in trace.candidates]
    found[Lane.PHRASE.value] = [name for rank, name in sorted((rank, name) for rank, name in spoken if rank is not None)]
    return found


def _keys(access: Access, project: str) -> dict[str, str]:
    namespace = access.project_namespace(project)
    with tenant_context(access.tenant_id):
        rows = Memory.objects.filter(tenant_id=access.tenant_id, namespace_id=namespace.id).values_list("id", "fact_key")
        return {public_id("mem", key): fact_key for key, fact_key in rows}


# -- records


def _import_records(access: Access, records: tuple[Record, ...], project: str) -> Imported:
    if not records:
        return Imported()
    there = _proposed(access, [_name(record, project) for record in records])
    fresh = [record for record in records if _name(record, project) not in there]
    results = accept_events(access, [_event(record, project) for record in fresh])
    stored = sum(1 for result in results if isinstance(result, Accepted) and not result.replayed)
    ids = dict(there.values())
    made = 0
    for record in fresh:
        outcome = propose(access, _proposal(record, project, ids)).outcome
        if outcome.memory_id is not None:
            ids[record.key] = outcome.memory_id
        made += outcome.status == Candidate.Status.COMMITTED
    return Imported(
        turns=len(records), events=stored, episodes=made, present=len(records) - len(fresh), refused=len(fresh) - made
    )


def _proposed(access: Access, ids: list[str]) -> dict[str, tuple[str, str]]:
    """Fact key and memory of each of these candidates that came to something, by candidate id."""
    with tenant_context(access.tenant_id):
        made = Candidate.objects.filter(tenant_id=access.tenant_id, candidate_id__in=ids).exclude(memory=None)
        rows = made.values_list("candidate_id", "fact_key", "memory_id")
        return {name: (fact_key, public_id("mem", memory)) for name, fact_key, memory in rows}


def _name(record: Record, project: str) -> str:
    """The id of a record's event and candidate: another data set may have a world and a record of the same names."""
    return f"record:{sha256_hex(f'{project}/{record.key}')[:_ID_DIGITS]}"


def _event(record: Record, project: str) -> Draft:
    return Draft(
        event_id=_name(record, project),
        scope=Scope.PROJECT,
        scope_id=project,
        source_type=SourceType.IMPORT,
        occurred_at=record.at,
        content=record.text,
    )


def _proposal(record: Record, project: str, ids: Mapping[str, str]) -> Proposal:
    replaced = ids.get(record.replaces) if record.replaces is not None else None
    return Proposal(
        candidate_id=_name(record, project),
        scope=Scope.PROJECT,
        scope_id=project,
        memory_type=MemoryType.FACT,
        fact_key=record.key,
        content=record.text,
        aliases=record.aliases,
        relations=(ProposedRelation(Relation.Type.SUPERSEDES, replaced),) if replaced is not None else (),
        epistemic_status=EpistemicStatus.OBSERVED,
        source_event_ids=(_name(record, project),),
        valid_from=record.at,
        observed_at=record.at,
        origin="import",
    )
