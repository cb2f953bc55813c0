"""Running cases through the real pipeline: made with the verbs that agents use, asked as an agent asks, and taken back.

Each case runs in one transaction of a tenant of its own that is rolled back at its end, so nothing of a case meets another one
and nothing stays. What went wrong is said in a closed set of kinds (EL-09).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from apps.core import clock
from apps.core.errors import DomainError, ValidationFailed
from apps.core.isolation import system_context, tenant_context
from apps.evidence.drafts import Draft
from apps.evidence.ingestion import accept_event
from apps.memories.candidates import propose
from apps.memories.labels import apply_labels, parse_labels
from apps.memories.proposals import Proposal, ProposedRelation
from apps.memories.revision import withdraw_memory
from apps.retrieval.evaluation.tenants import CASES
from apps.retrieval.pipeline import answer_query
from apps.retrieval.traces import get_trace
from apps.tenants.console_access import command_access, service_access
from apps.tenants.models import Namespace, Scope, Tenant
from apps.tenants.namespaces import create_project
from apps.tenants.people import create_subject
from apps.tenants.provisioning import provision
from apps.tenants.provisioning_file import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from uuid import UUID

    from apps.retrieval.evaluation.cases import Case, Statement
    from apps.retrieval.packet import Packet
    from apps.retrieval.traces import TraceView
    from apps.tenants.access import Access


class Fault(StrEnum):
    """Kinds of failure, so that many of one kind show where the weakness is."""

    MISSING_TARGET = "missing_target"
    FORBIDDEN_CANDIDATE = "forbidden_candidate"
    PRIVATE_LEAK = "private_leak"
    WRONG_ORDER = "wrong_order"
    NOT_ADJACENT = "not_adjacent"
    WRONG_REASON = "wrong_reason"
    OVER_BUDGET = "over_budget"
    WRONG_DECISION = "wrong_decision"
    WRONG_OUTCOME = "wrong_outcome"
    WRONG_PRESENTATION = "wrong_presentation"
    WRONG_REFUSAL = "wrong_refusal"
    UNEXPLAINED = "unexplained"
    UNSTABLE = "unstable"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Failure:
    fault: Fault
    detail: str


@dataclass(frozen=True, slots=True)
class Result:
    case: Case
    failures: tuple[Failure, ...]

    @property
    def green(self) -> bool:
        return not self.failures


class _TakenBackError(Exception):
    """Ends the transaction of a case."""


def run_cases(cases: Iterable[Case], *, progress: Callable[[int], None] = lambda _count: None) -> list[Result]:
    """Run every case; a case that cannot be run at all is red, never an exception."""
    tenant_id = _tenant()
    results = []
    for number, case in enumerate(cases, start=1):
        results.append(run_case(tenant_id, case))
        progress(number)
    return results


def _tenant() -> UUID:
    provision(json.dumps({"tenants": [{"key": CASES}]}))
    with system_context():
        return Tenant.objects.get(key=CASES).id


def run_case(tenant_id: UUID, case: Case) -> Result:
    """One case in one transaction that does not last."""
    found: list[Failure] = []
    try:
        _run(tenant_id, case, found)
    except _TakenBackError:
        pass
    except DomainError as trouble:
        found.append(Failure(Fault.ERROR, f"{trouble.code}: {trouble.detail}"))
    return Result(case, tuple(found))


def _run(tenant_id: UUID, case: Case, found: list[Failure]) -> None:
    with tenant_context(tenant_id):
        found += _Run(tenant_id, case).failures()
        raise _TakenBackError


@dataclass(frozen=True, slots=True)
class _Made:
    """What became of a statement."""

    memory_id: str
    version: int
    source: str
    by: str
    project: str | None


class _Run:
    def __init__(self, tenant_id: UUID, case: Case) -> None:
        self.tenant_id = tenant_id
        self.case = case
        self.made: dict[str, _Made] = {}
        self.found: list[Failure] = []

    def failures(self) -> list[Failure]:
        self._furnish()
        for number, statement in enumerate(self.case.world):
            self._say(number, statement)
        packet = answer_query(self._access(self.case.by), self.case.question)
        again = answer_query(self._access(self.case.by), self.case.question)
        if _keys(packet) != _keys(again):
            self._fault(Fault.UNSTABLE, "the same question got another packet")
        if packet.trace_id is None:
            self._fault(Fault.ERROR, "there is no trace")
        else:
            self._judge(packet, get_trace(self._access(self.case.by), packet.trace_id))
        return self.found

    def _fault(self, fault: Fault, detail: str) -> None:
        self.found.append(Failure(fault, detail))

    # -- the world

    def _furnish(self) -> None:
        operator = command_access(self.tenant_id, actor="evaluate")
        apply_labels(operator, parse_labels(dict(self.case.labels) or None, Place("labels")))
        for key in sorted(self.case.projects):
            create_project(operator, key=key, name=key)
        for key in sorted(self.case.subjects):
            create_subject(operator, key=key, projects=sorted(self.case.projects))

    def _access(self, subject: str) -> Access:
        """What an agent has that speaks for this person: their own namespace, every project of the case, the organization."""
        rows = Namespace.objects.filter(tenant_id=self.tenant_id).values_list("id", "scope", "scope_id")
        mine = [key for key, scope, scope_id in rows if scope != Scope.USER or scope_id == subject]
        return service_access(self.tenant_id, mine, actor="evaluate")

    def _say(self, number: int, statement: Statement) -> None:
        access = self._access(statement.by)
        source = f"{statement.name}-source-{number}"
        scope: dict[str, Any] = {"scope": "project", "scope_id": statement.project} if statement.project else {"scope": "user"}
        at = statement.fields.get("valid_from") or clock.now()
        if statement.source:
            accept_event(
                access,
                Draft(
                    event_id=source, source_type="user_message", occurred_at=min(at, clock.now()), content=statement.name, **scope
                ),
            )
        proposal = Proposal(
            candidate_id=f"candidate-{number}",
            memory_type=statement.memory_type,
            fact_key=statement.fact_key,
            content=statement.content,
            source_event_ids=(source,) if statement.source else (),
            relations=tuple(ProposedRelation(kind, self.made[name].memory_id) for kind, name in statement.relations.items()),
            **scope,
            **statement.fields,
        )
        try:
            outcome = propose(access, proposal).outcome
        except ValidationFailed as trouble:
            self._refused(statement, {error.pointer: error.code for error in trouble.errors})
            return
        if statement.refused is not None or outcome.memory_id is None or outcome.version is None:
            self._fault(Fault.WRONG_REFUSAL, f"{statement.name} was {outcome.status} ({', '.join(outcome.reasons)})")
            return
        self.made[statement.name] = _Made(
            outcome.memory_id, outcome.version, source if statement.source else "-", statement.by, statement.project
        )
        if statement.withdrawn:
            withdraw_memory(access, outcome.memory_id, expected_version=outcome.version, reason="a case")

    def _refused(self, statement: Statement, errors: dict[str, str]) -> None:
        wanted = statement.refused
        if wanted is None or errors.get(wanted["at"]) != wanted["code"]:
            self._fault(Fault.WRONG_REFUSAL, f"{statement.name} was refused: {errors}")

    # -- the packet

    def _judge(self, packet: Packet, trace: TraceView) -> None:
        self._judge_items(packet)
        self._judge_reasons(trace)
        self._judge_answer(packet)
        self._judge_presentation(packet)
        for item in packet.items:
            if (item.scope, item.scope_id) == ("user", self.case.by) or item.scope != "user":
                continue
            self._fault(Fault.PRIVATE_LEAK, f"{item.memory_id} is somebody else's")
        if packet.budget.used > packet.budget.limit:
            self._fault(Fault.OVER_BUDGET, f"{packet.budget.used} of {packet.budget.limit}")
        for row in trace.candidates:
            if not row["chosen"] and not row["reason"]:
                self._fault(Fault.UNEXPLAINED, f"{row['memory_id']} is neither chosen nor rejected")

    def _key(self, name: str) -> tuple[str, int]:
        made = self.made.get(name)
        return (made.memory_id, made.version) if made else (name, 0)

    def _names(self, packet: Packet) -> list[str]:
        by_key = {self._key(name): name for name in self.made}
        return [by_key.get(key, key[0]) for key in _keys(packet)]

    def _judge_items(self, packet: Packet) -> None:
        wanted, names = self.case.expected, self._names(packet)
        needed = {*wanted.must_include, *(wanted.exactly or ())}
        barred = {*wanted.must_exclude} if wanted.exactly is None else {*wanted.must_exclude, *names} - {*wanted.exactly}
        for name in sorted(needed - set(names)):
            self._fault(Fault.MISSING_TARGET, name)
        for name in sorted(barred & set(names)):
            self._fault(Fault.FORBIDDEN_CANDIDATE, name)
        places = [names.index(name) if name in names else -1 for name in wanted.order]
        if -1 in places or places != sorted(places):
            self._fault(Fault.WRONG_ORDER, f"{' → '.join(names) or 'nothing'}, wanted {' → '.join(wanted.order)}")
        for first, second in wanted.adjacent:
            if first not in names or names[names.index(first) + 1 :][:1] != [second]:
                self._fault(Fault.NOT_ADJACENT, f"{second} does not follow {first}: {', '.join(names) or 'nothing'}")

    def _judge_reasons(self, trace: TraceView) -> None:
        given = {(row["memory_id"], row["version"]): row["reason"] for row in trace.candidates}
        for name, reason in self.case.expected.reasons.items():
            if given.get(self._key(name)) != reason:
                self._fault(Fault.WRONG_REASON, f"{name}: {given.get(self._key(name), 'no candidate')}, wanted {reason}")

    def _judge_answer(self, packet: Packet) -> None:
        wanted = self.case.expected
        if wanted.decision is not None and packet.decision != wanted.decision:
            self._fault(Fault.WRONG_DECISION, f"{packet.decision}, wanted {wanted.decision}")
        if wanted.divergence is not None and packet.triage.divergence != wanted.divergence:
            self._fault(Fault.WRONG_DECISION, f"divergence {packet.triage.divergence}, wanted {wanted.divergence}")
        if wanted.asks is not None and packet.clarification != wanted.asks:
            self._fault(Fault.WRONG_DECISION, f"asked {packet.clarification!r}")
        if wanted.outcome is not None and packet.outcome != wanted.outcome:
            self._fault(Fault.WRONG_OUTCOME, f"{packet.outcome}, wanted {wanted.outcome}")
        codes = tuple(sorted(warning.code for warning in packet.warnings))
        if wanted.warnings is not None and codes != wanted.warnings:
            self._fault(Fault.WRONG_PRESENTATION, f"warnings {', '.join(codes) or 'none'}")

    def _judge_presentation(self, packet: Packet) -> None:
        wanted = self.case.expected
        items = {(item.memory_id, item.version): item for item in packet.items}
        for name in {*wanted.sections, *wanted.labels, *wanted.spans, *wanted.rationale}:
            item = items.get(self._key(name))
            if item is None:
                self._fault(Fault.MISSING_TARGET, name)
                continue
            shown = {
                "section": (wanted.sections.get(name), item.section),
                "labels": (wanted.labels.get(name), tuple(item.evidence_labels)),
                "spans": (wanted.spans.get(name), tuple(item.why.spans)),
                "rationale": (wanted.rationale.get(name), item.rationale),
            }
            for what, (want, got) in shown.items():
                if want is not None and want != got:
                    self._fault(Fault.WRONG_PRESENTATION, f"{what} of {name}: {got}, wanted {want}")
        if wanted.lines is not None:
            filled = [line.format_map(self.made) for line in wanted.lines]
            given = [line for line in (packet.text or "").split("\n") if line.startswith("[")]
            if given != filled:
                self._fault(Fault.WRONG_PRESENTATION, f"lines {given}, wanted {filled}")


def _keys(packet: Packet) -> list[tuple[str, int]]:
    return [(item.memory_id, item.version) for item in packet.items]
