"""The triage stage of a query: what the pure rules say, with the names of the allowed scope, and what becomes of it (TR-01..21).

The caller's own decision stands. Where triage would have asked or skipped, that is written down as a divergence and nothing more;
references are bound all the same, because they say what to search for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from apps.core.prepared import fetch_prepared
from apps.retrieval.triage.decision import Request, Verdict, triage
from apps.retrieval.triage.naming import spellings
from apps.retrieval.triage.vocabulary import Asked, Decision, Divergence, Ground
from apps.retrieval.vocabulary import Trigger, WarningCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.retrieval.context import QueryContext
    from apps.tenants.access import Access

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
        if self.decision is not Decision.RETRIEVE:
            return None
        if self.verdict.unbound:
            return WarningCode.UNBOUND_REFERENCE, UNBOUND
        return (WarningCode.UNBOUND_REFERENCE, NOTHING_NAMED) if self.verdict.ground is Ground.NO_ANCHOR else None


def decide(access: Access, context: QueryContext) -> Triaged:
    """Run triage on a query; reads at most the names of the caller's scope, and only where one could change the decision."""
    request = Request(
        question=context.question,
        task=context.task,
        window=context.window,
        attachments=context.attachments,
        explicit=bool(context.fact_keys or context.topics or context.entities) or context.trigger is not Trigger.QUERY,
        project=context.project is not None,
    )
    verdict = triage(request)
    if verdict.names_matter:
        names = _known_names(access, context, f"{context.question}\n{context.task}")
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
    """The parse as the packet shows it to the caller, in the caller's own words."""
    verdict = triaged.verdict
    parse = verdict.parse
    return {
        "status": parse.status,
        "task_type": parse.task_type,
        "time_view": parse.time_view,
        "target": {"kind": parse.target.kind, "text": parse.target.text} if parse.target else None,
        "unresolved": list(parse.unresolved),
        "ground": verdict.ground,
        "anchors": [{"kind": one.kind, "text": one.text} for one in verdict.anchors],
        "references": [
            *({"text": one.reference.text if one.reference else None, "bound_to": one.anchor.text} for one in verdict.bound),
            *({"text": one.text, "bound_to": None} for one in verdict.unbound),
        ],
    }


def codes(triaged: Triaged) -> dict[str, Any]:
    """The same for the trace: codes, and places in the window that is kept with the words of the request; no words."""
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


def _known_names(access: Access, context: QueryContext, text: str) -> Sequence[str]:
    """Labels of the tenant and fact keys of the allowed scope that the words spell, as they spell them."""
    spelled = spellings(text)
    if not spelled:
        return ()
    rows = fetch_prepared(
        _NAMES,
        {
            "tenant": access.tenant_id,
            "spelled": list(spelled),
            "namespaces": list(context.namespaces),
            "policies": list(access.policies),
        },
    )
    return [spelled[name] for (name,) in rows if name in spelled]


_NAMES = """
SELECT name FROM memories_label l CROSS JOIN LATERAL unnest(array_append(l.aliases, l.key)) AS name
WHERE l.tenant_id = %(tenant)s AND name = ANY(%(spelled)s::text[])
UNION
SELECT fact_key FROM memories_memory
WHERE tenant_id = %(tenant)s AND namespace_id = ANY(%(namespaces)s::uuid[]) AND fact_key = ANY(%(spelled)s::text[])
    AND state = 'active' AND (access_policy_id IS NULL OR access_policy_id = ANY(%(policies)s::uuid[]))
"""
