"""The order without one of its signals: worked out from what a trace keeps, with the same key as the real one."""

from __future__ import annotations

from typing import Any

from apps.retrieval.context import Ranked
from apps.retrieval.evaluation.ablation import ALL, PARTS, ablations
from apps.retrieval.fusion import WEIGHTS, fused
from apps.retrieval.ranking import sort_key
from apps.retrieval.vocabulary import Applicability, Lane
from tests.retrieval.rows import row as record


def row(name: str, lanes: dict[str, int], **parts: Any) -> dict[str, Any]:
    held = {Lane(lane): rank for lane, rank in lanes.items()}
    known = {
        "applicability": "applicable",
        "always": False,
        "exact": "exact" in lanes,
        "fused": fused(held),
        "lanes": lanes,
        "verdict": None,
        "epistemic_status": "explicit",
        "fidelity": None,
        "utility": 2,
        "valid_from": "2026-01-01T00:00:00+00:00",
    }
    return {"memory_id": name, "version": 1, "components": {**known, **parts}}


def test_a_lane_that_is_taken_away_takes_with_it_what_only_it_had_found():
    rows = [row("mem_a", {"lexical": 1}), row("mem_b", {"named": 1, "lexical": 2}), row("mem_c", {"named": 2})]
    found = ablations(rows)
    assert found[ALL] == ["mem_b", "mem_a", "mem_c"]
    assert found["without named"] == ["mem_a", "mem_b"]
    assert found["without lexical"] == ["mem_b", "mem_c"]
    assert found["without semantic"] == found["without phrase"] == found[ALL]


def test_each_part_of_the_key_decides_where_those_before_it_are_equal():
    better: dict[str, dict[str, Any]] = {
        "applicability": {"applicability": "conditional"},
        "evidence quality": {"epistemic_status": "inferred"},
        "utility": {"utility": 2},
        "recency": {"valid_from": "2020-01-01T00:00:00+00:00"},
    }
    for part, worse in better.items():
        first = row("mem_z", {"lexical": 1}, **({"utility": 0} if part == "utility" else {}))
        second = row("mem_a", {"lexical": 1}, **worse)
        found = ablations([second, first])
        assert found[ALL] == ["mem_z", "mem_a"], part
        assert found[f"without {part}"] == ["mem_a", "mem_z"], part  # only the id is left to decide
        assert all(order == found[ALL] for name, order in found.items() if name != f"without {part}" and len(order) == 2), part


def test_a_standing_rule_and_an_asked_key_come_first():
    rule, asked, near = row("mem_c", {"always": 1}, always=True), row("mem_b", {"exact": 1}), row("mem_a", {"lexical": 1})
    found = ablations([rule, asked, near])
    assert found[ALL] == ["mem_c", "mem_b", "mem_a"]
    assert found["without exact"] == ["mem_c", "mem_a"]
    assert found["without always"] == ["mem_b", "mem_a", "mem_c"]
    assert found["without fused"][:2] == ["mem_c", "mem_b"]


def test_a_phrase_of_a_view_that_counted_half_counts_half_again():
    lanes = {"lexical": 1, "phrase": 1}
    half = row("mem_a", lanes, fused=fused({Lane(name): 1 for name in lanes}, derived=True))
    whole = row("mem_b", lanes)
    assert ablations([half, whole])[ALL] == ["mem_b", "mem_a"]
    assert ablations([half, whole])["without lexical"] == ["mem_b", "mem_a"]
    assert ablations([half, whole])["without phrase"] == ["mem_a", "mem_b"]


def test_what_never_came_to_the_order_is_not_ordered():
    lost = {"memory_id": "mem_b", "version": 1, "components": {"stage": "authority"}}
    assert set(map(tuple, ablations([row("mem_a", {"always": 1}), lost]).values())) == {("mem_a",)}


def test_the_parts_are_those_of_the_key():
    assert len(sort_key(Ranked(candidate=record(), applicability=Applicability.APPLICABLE, fused=0))) == len(PARTS) + 2
    assert set(WEIGHTS) == set(Lane)
