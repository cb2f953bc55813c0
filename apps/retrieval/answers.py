"""What leaves the pipeline: the packet of an attempt that worked, and the one that says why there is none (FF-01..06)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.db import InterfaceError, InternalError, OperationalError

from apps.core import clock
from apps.core.ids import public_id
from apps.retrieval.applicability import describe
from apps.retrieval.context import Candidate, Rejected, Warned
from apps.retrieval.packet import BudgetOut, Conflict, Hint, Omitted, Packet, TriageOut, item_of
from apps.retrieval.recall import NOTHING_RECALLED, Recalled
from apps.retrieval.selection import Selection, nothing
from apps.retrieval.traces import TraceNote, asked_with, write_trace
from apps.retrieval.triage.vocabulary import Decision
from apps.retrieval.triaging import Triaged, codes, shown
from apps.retrieval.vocabulary import BudgetUnit, Outcome, PacketFormat, Reason, Stage, WarningCode
from apps.tenants.transactions import revision_token, tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.retrieval.context import QueryContext
    from apps.retrieval.question import Question
    from apps.retrieval.recall import Found
    from apps.tenants.access import Access, NamespaceGrant

FALLBACK = Warned(
    code=WarningCode.INDEX_FALLBACK,
    detail="The index cannot be used at the moment; the newest memories of the same scope were read instead.",
)
WITHOUT_MEANING = Warned(
    code=WarningCode.INDEX_FALLBACK,
    detail="Meaning cannot be looked up at the moment; keys, names and words were.",
)
# What the database or its driver raise when something cannot be read now. A statement that is wrong is a fault and stays one.
UNREADABLE = (OperationalError, InterfaceError, InternalError)


@dataclass(slots=True)
class Attempt:
    """One query on its way, with what is known of it so far."""

    access: Access
    question: Question
    project: NamespaceGrant | None
    context: QueryContext | None = None
    triaged: Triaged | None = None
    recalled: Recalled = NOTHING_RECALLED
    without_index: bool = False

    @property
    def asked(self) -> tuple[QueryContext, Triaged]:
        """Context and triage of an attempt that came so far."""
        if self.context is None or self.triaged is None:
            message = "the query has not been looked at yet"
            raise RuntimeError(message)
        return self.context, self.triaged


def packet_of(
    attempt: Attempt,
    selection: Selection,
    outcome: str,
    trace_id: UUID,
    *,
    conflicts: Sequence[Conflict] = (),
    warnings: Sequence[Hint] = (),
) -> Packet:
    """The packet of a query that was decided."""
    context, triaged = attempt.asked
    budget = context.budget
    return Packet(
        decision=triaged.decision,
        outcome=outcome,
        snapshot_revision=revision_token(context.snapshot_revision) if context.snapshot_revision is not None else None,
        as_of=context.as_of,
        items=[
            item_of(row, rank=rank, applicability=describe(row.candidate.conditions), rule_version=context.rule_version)
            for rank, row in enumerate(selection.chosen, start=1)
        ],
        conflicts=list(conflicts),
        warnings=list(warnings),
        omitted=[Omitted(name, reason) for name, reason in selection.omitted],
        truncated_by_budget=selection.truncated,
        budget=BudgetOut(
            limit=budget.limit,
            used=selection.used,
            unit=budget.unit,
            tokenizer=budget.tokenizer if budget.unit == BudgetUnit.TOKENS else None,
            exact=selection.exact,
        ),
        text=selection.text if context.format == PacketFormat.TEXT else None,
        clarification=triaged.verdict.clarification if triaged.decision is Decision.ASK else None,
        triage=TriageOut(triaged.decision, triaged.divergence, shown(triaged)),
        trace_id=public_id("trc", trace_id),
    )


def unavailable(attempt: Attempt) -> Packet:
    """No memory and the outcome that says so; the agent goes on without. A trace is left if that much still works."""
    question, context = attempt.question, attempt.context
    budget = question.budget
    trace_id = _trace(attempt)
    return Packet(
        decision=Decision.RETRIEVE,
        outcome=Outcome.UNAVAILABLE,
        snapshot_revision=None,
        as_of=context.as_of if context is not None else question.as_of or clock.now(),
        items=[],
        conflicts=[],
        warnings=[],
        omitted=[],
        truncated_by_budget=False,
        budget=BudgetOut(
            limit=budget.limit,
            used=0,
            unit=budget.unit,
            tokenizer=budget.tokenizer if budget.unit == BudgetUnit.TOKENS else None,
            exact=True,
        ),
        text="" if question.format == PacketFormat.TEXT else None,
        clarification=None,
        triage=TriageOut(Decision.RETRIEVE, None, shown(attempt.triaged) if attempt.triaged is not None else {}),
        trace_id=public_id("trc", trace_id) if trace_id is not None else None,
    )


def _trace(attempt: Attempt) -> UUID | None:
    context = attempt.context
    if context is None:
        return None
    lost = [_unread(context, found) for found in attempt.recalled.found]
    selection = replace(nothing(context, Outcome.UNAVAILABLE), rejected=tuple(lost))
    note = TraceNote(
        decision=Decision.RETRIEVE,
        outcome=Outcome.UNAVAILABLE,
        revision=context.snapshot_revision or 0,
        funnel={"recall": len(lost)},
        timings_ms={},
        project_id=attempt.project.project_id if attempt.project else None,
        triage=codes(attempt.triaged) if attempt.triaged is not None else {},
        asked=asked_with(attempt.access, attempt.question, context, (len(context.topics), len(context.entities))),
    )
    try:
        with tenant_transaction(attempt.access):
            return write_trace(attempt.access, context, attempt.recalled, selection, note)
    except UNREADABLE:
        return None


def _unread(context: QueryContext, found: Found) -> Rejected:
    """A memory that recall reached and the authority could not be asked about: nothing but its id is known."""
    candidate = Candidate(
        memory_id=found.memory_id,
        public_id=public_id("mem", found.memory_id),
        version=found.version or 0,
        namespace_id=min(context.namespaces),
        scope="",
        scope_id=None,
        memory_type="",
        content="",
        state="",
        epistemic_status="",
    )
    return Rejected(candidate=candidate, stage=Stage.AUTHORITY, reason=Reason.AUTHORITY_UNAVAILABLE)
