"""The order of a packet: one lexicographic key whose every part is named in the trace (design/04 stage 7; C12, RK-01..17).

No part is a score that a model wrote, and no two parts are added. The order is total: the last part is the id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from apps.retrieval.vocabulary import Applicability, Lane

if TYPE_CHECKING:
    from collections.abc import Iterable

    from apps.retrieval.context import JsonValue, Judged, Ranked

_APPLICABILITY = {
    Applicability.APPLICABLE: 0,
    Applicability.CONDITIONAL: 1,
    Applicability.UNKNOWN: 2,
    Applicability.NEEDS_REVALIDATION: 3,
    Applicability.INCOMPATIBLE: 4,
}
_VERDICT = {"supported": 0, None: 1, "not_applicable": 1, "provisional": 2, "contested": 3, "refuted": 4}
_EPISTEMIC = {"validated": 0, "explicit": 1, "observed": 1, "inferred": 2}
_FIDELITY = {"visible_transcript": 0, "transcript_snapshot": 1, "hybrid": 2, "summary": 3, "projection": 4}
_FIDELITY_UNSTATED = 2
# What saves most if it is known: a limit that must not be broken, then what spares a repeated search (RK-05).
_UTILITY = {"constraint": 0, "finding": 1, "decision": 1, "procedural": 1}
_ORDINARY = 2

SortKey: TypeAlias = tuple[int, int, int, int, tuple[int, int, int], int, float, str, int]


def sort_key(ranked: Ranked) -> SortKey:
    """Parts in order of weight; smaller is better."""
    candidate = ranked.candidate
    started = candidate.valid_from
    return (
        _APPLICABILITY[ranked.applicability],
        0 if candidate.retrieval_policy == "always" else 1,
        candidate.recall.lanes.get(Lane.EXACT, 0) or _LAST,
        -ranked.fused,
        (
            _VERDICT.get(candidate.verdict, _ORDINARY),
            _EPISTEMIC.get(candidate.epistemic_status, _ORDINARY),
            _FIDELITY.get(candidate.fidelity or "", _FIDELITY_UNSTATED),
        ),
        _UTILITY.get(candidate.memory_type, _ORDINARY),
        -started.timestamp() if started is not None else float("inf"),
        candidate.public_id,
        -candidate.version,
    )


_LAST = 1_000_000  # after every asked key


def order(ranked: Iterable[Ranked]) -> list[Ranked]:
    """Best first. Equal inputs give equal orders, whatever order they came in."""
    return sorted(ranked, key=sort_key)


def components(standing: Ranked | Judged) -> dict[str, JsonValue]:
    """Every part of the key by name, as the trace keeps it (RK-10)."""
    candidate = standing.candidate
    recall = candidate.recall
    return {
        "applicability": standing.applicability.value,
        "always": candidate.retrieval_policy == "always",
        "exact": Lane.EXACT in recall.lanes,
        "fused": standing.fused,
        "lanes": {lane.value: rank for lane, rank in recall.lanes.items()},
        "matched_terms": recall.matched_terms,
        "matched_weight": recall.matched_weight,
        **({"distance": recall.distance, "near": recall.near} if recall.distance is not None else {}),
        "verdict": candidate.verdict,
        "epistemic_status": candidate.epistemic_status,
        "fidelity": candidate.fidelity,
        "utility": _UTILITY.get(candidate.memory_type, _ORDINARY),
        "valid_from": candidate.valid_from.isoformat() if candidate.valid_from is not None else None,
    }
