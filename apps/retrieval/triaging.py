"""The triage stage of a query: what the pure rules say, with the names of the allowed scope, and what becomes of it (TR-01..21).

The caller's own decision stands. Where triage would have asked or skipped, that is written down as a divergence and nothing more;
references are bound all the same, because they say what to search for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from apps.retrieval.names import called, labels_in
from apps.retrieval.recall import names_reached
from apps.retrieval.triage.decision import Request, Verdict, triage
from apps.retrieval.triage.vocabulary import Asked, Decision, Divergence, Ground
from apps.retrieval.vocabulary import Trigger, WarningCode

if TYPE_CHECKING:
    from apps.retrieval.context import QueryContext
    from apps.retrieval.hints import Labels

_DIVERGENCES = {Decision.ASK: Divergence.ASK_SUPPRESSED, Decision.SKIP: Divergence.SKIP_SUPPRESSED}
UNBOUND = "Something is pointed at, and nothing says what it is."
NOTHING_NAMED = "The question does not say what it is about."


@dataclass(frozen=True, slots=True)
class Triaged:
    """The decision that holds, the verdict behind it, and where the two part."""

    decision: Decision
    verdict: Verdict
    divergence: Divergence | None

    @property
    def warning(self) -> tuple[WarningCode, str] | None:
        """A hint for a query that is answered although something in it points nowhere."""
        if self.decision is not Decision.RETRIEVE or self.verdict.ground is Ground.EXPLICIT:
            return None  # keys and labels beside the words say what is meant
        if self.verdict.unbound:
            return WarningCode.UNBOUND_REFERENCE, UNBOUND
        return (WarningCode.UNBOUND_REFERENCE, NOTHING_NAMED) if self.verdict.ground is Ground.NO_ANCHOR else None


def decide(context: QueryContext, key: bytes | None, labels: Labels, *, project_named: bool = False) -> Triaged:
    """Run triage on a query. Labels and the index of names are asked only where a name could change the decision.

    ``key`` is that of the tenant's index; without it only labels are asked. ``project_named``: the request says which project it
    is about, so that "the project" means that one.
    """
    request = Request(
        question=context.question,
        task=context.task,
        window=context.window,
        attachments=context.attachments,
        explicit=bool(context.fact_keys or context.topics or context.entities) or context.trigger is not Trigger.QUERY,
        project=project_named,
    )
    verdict = triage(request)
    if verdict.names_matter:
        names = _known_names(context, key, labels)
        if names:
            verdict = triage(replace(request, names=names))
    if context.decision == Asked.AUTO:
        return Triaged(verdict.decision, verdict, None)
    return Triaged(Decision.RETRIEVE, verdict, _DIVERGENCES.get(verdict.decision))


def searched(context: QueryContext, triaged: Triaged) -> QueryContext:
    """The context with what its references mean and what was handed over as part of what recall searches for."""
    verdict = triaged.verdict
    bound = tuple(dict.fromkeys(one.anchor.text for one in verdict.bound))
    return replace(context, bound=bound, handed_over=verdict.handed_over)


def shown(triaged: Triaged) -> dict[str, Any]:
    """The parse as the packet shows it: what the trace keeps of it, so that no answer repeats the words of a question."""
    return {name: value for name, value in codes(triaged).items() if name not in {"suggested", "divergence"}}


def codes(triaged: Triaged) -> dict[str, Any]:
    """The verdict for packet and trace: codes, and places in the window that is kept with the words of the request; no words."""
    verdict = triaged.verdict
    parse = verdict.parse
    return {
        "suggested": verdict.decision,
        "divergence": triaged.divergence,
        "ground": verdict.ground,
        "status": parse.status,
        "task_type": parse.task_type,
        "time_view": parse.time_view,
        "target": parse.target.kind if parse.target else None,
        "unresolved": list(parse.unresolved),
        "anchors": sorted({one.kind.value for one in verdict.anchors}),
        "bound": [
            {
                "reference": one.reference.kind if one.reference else None,
                "turn": one.turn,
                "start": one.anchor.start,
                "length": one.anchor.end - one.anchor.start,
            }
            for one in verdict.bound
        ],
        "unbound": [one.kind.value for one in verdict.unbound],
    }


def _known_names(context: QueryContext, key: bytes | None, labels: Labels) -> list[str]:
    """Labels and names of memories in the allowed scope that the words spell. No memory is read, only the index of names."""
    words = called(context.text)
    spelled = [label for spellings in labels.spellings.values() for label in labels_in(words, spellings)]
    return [*spelled, *names_reached(context, key)] if key is not None else spelled
