from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.applicability import classify, describe
from apps.retrieval.vocabulary import Applicability

TABLE = [
    ({"backend": {"not": "cuda"}}, {"backend": "cpu"}, "applicable"),
    ({"backend": {"not": "cuda"}}, {"backend": "cuda"}, "incompatible"),
    ({"backend": {"not": "cuda"}}, {}, "unknown"),
    ({"backend": {"not": "cuda"}}, {"backend": "unknown"}, "unknown"),
    ({"backend": {"not": "cuda"}}, {"backend": 5}, "unknown"),
    ({"backend": {"not": ["cuda", "rocm"]}}, {"backend": "cpu"}, "applicable"),
    ({"backend": {"not": {"prefix": "cu"}}}, {"backend": "cpu"}, "unknown"),
    ({}, {"backend": "cpu"}, "applicable"),
    ({}, {}, "applicable"),
    ({"backend": {"resembles": "cuda"}}, {"backend": "cpu"}, "unknown"),
    ({"backend": {"resembles": "cuda"}}, {"backend": "cuda"}, "unknown"),
    ({"backend": {}}, {"backend": "cuda"}, "unknown"),
    ({"backend": "cuda"}, {"backend": "cuda"}, "applicable"),
    ({"backend": "cuda"}, {"backend": "cpu"}, "incompatible"),
    ({"backend": "cuda"}, {"backend": None}, "unknown"),
    ({"backend": "cuda"}, {"backend": {"name": "cuda"}}, "unknown"),
    ({"backend": ["cuda", "rocm"]}, {"backend": "rocm"}, "applicable"),
    ({"backend": []}, {"backend": "rocm"}, "incompatible"),
    ({"backend": ["cuda", 5]}, {"backend": "rocm"}, "unknown"),
    ({"backend": {"in": ["cuda", "rocm"]}}, {"backend": "cpu"}, "incompatible"),
    ({"backend": {"in": "cuda"}}, {"backend": "cuda"}, "unknown"),
    ({"version": {"gte": "2.4.0"}}, {"version": "2.10.1"}, "applicable"),
    ({"version": {"lt": "2.4.0"}}, {"version": "2.10.1"}, "incompatible"),
    ({"version": {"gte": "2.4.0"}}, {"version": "v2.4"}, "applicable"),
    ({"version": {"gte": "2.4.0"}}, {"version": "2.4.0-rc.1"}, "incompatible"),
    ({"version": {"gt": "2.4.0-rc.2"}}, {"version": "2.4.0-rc.10"}, "applicable"),
    ({"version": {"gte": "2.0", "lt": "3.0"}}, {"version": "2.9"}, "applicable"),
    ({"version": {"gte": "2.0", "lt": "3.0"}}, {"version": "3.0"}, "incompatible"),
    ({"version": {"gte": "2.0", "near": "3.0"}}, {"version": "2.9"}, "unknown"),
    ({"version": {"gte": "2.0"}}, {"version": "latest"}, "unknown"),
    ({"version": {"gte": "2.0"}}, {"version": "9" * 5000}, "unknown"),
    ({"version": {"gte": 2}}, {"version": "2.4.0"}, "unknown"),
    ({"commit": {"prefix": "0862"}}, {"commit": "0862527"}, "applicable"),
    ({"commit": {"prefix": "0862"}}, {"commit": "9862527"}, "incompatible"),
    ({"commit": {"prefix": ""}}, {"commit": "9862527"}, "unknown"),
    ({"commit": {"prefix": "0862"}}, {"commit": 862}, "unknown"),
    ({"build": {"gte": "2024-03-01"}}, {"build": "2024-02-29"}, "incompatible"),
    ({"build": {"gte": "2024-03-01"}}, {"build": "2024-03-01T00:00:00Z"}, "applicable"),
    ({"build": {"gte": "2024-03-01"}}, {"build": "2024-03-01T01:00:00+02:00"}, "incompatible"),
    ({"build": {"gte": "2024-03-01"}}, {"build": "2024-03-01T00:00:00"}, "unknown"),
    ({"build": {"gte": "2024-03-01"}}, {"build": "2024-13-45"}, "unknown"),
    ({"build": {"gte": "2024-03-01"}}, {"build": "3000.1"}, "unknown"),
    ({"batch": {"gt": 8}}, {"batch": 16}, "applicable"),
    ({"batch": {"lte": 8}}, {"batch": 8.0}, "applicable"),
    ({"batch": {"lt": 8}}, {"batch": True}, "unknown"),
    ({"batch": 10}, {"batch": 10.0}, "applicable"),
    ({"batch": 10}, {"batch": "10"}, "unknown"),
    ({"flag": True}, {"flag": True}, "applicable"),
    ({"flag": 1}, {"flag": True}, "unknown"),
    ({"backend": "cuda", "branch": "main"}, {"backend": "cuda"}, "unknown"),
    ({"backend": "cuda", "branch": "main"}, {"branch": "dev"}, "incompatible"),
    ({"backend": "cuda"}, {"backend": ["cuda", "cpu"]}, "conditional"),
    ({"backend": "cuda"}, {"backend": ["rocm", "cpu"]}, "incompatible"),
    ({"backend": ["cuda", "cpu"]}, {"backend": ["cuda", "cpu"]}, "applicable"),
    ({"backend": "cuda"}, {"backend": ["cuda"]}, "unknown"),
]


@pytest.mark.requirement("AP-01", "AP-02", "AP-04", "AP-05", "AP-06", "AP-07", "RP-04", "RP-12")
@pytest.mark.parametrize(("conditions", "environment", "expected"), TABLE, ids=str)
def test_the_table_of_conditions(conditions, environment, expected):
    assert classify(conditions, environment, project=None) == expected


def test_a_project_condition_asks_the_request_not_the_environment():
    conditions = {"project": "kiosk"}
    assert classify(conditions, {"project": "kiosk"}, project="lighthouse") == Applicability.INCOMPATIBLE
    assert classify(conditions, {}, project="kiosk") == Applicability.APPLICABLE
    assert classify(conditions, {}, project=None) == Applicability.UNKNOWN


@pytest.mark.requirement("AP-03")
def test_what_waits_for_review_is_not_called_applicable_but_a_contradiction_stays_one():
    assert classify({}, {}, project=None, revalidate=True) == Applicability.NEEDS_REVALIDATION
    assert classify({"a": 1}, {"a": 2}, project=None, revalidate=True) == Applicability.INCOMPATIBLE


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3), max_leaves=6
)
OPERATORS = st.sampled_from(["not", "in", "gte", "gt", "lte", "lt", "prefix", "like"])


@given(
    st.dictionaries(st.sampled_from("abc"), JSON | st.dictionaries(OPERATORS, JSON, max_size=2)),
    st.dictionaries(st.sampled_from("abc"), JSON),
)
def test_any_json_is_classified_and_what_is_missing_is_never_a_match(conditions, environment):
    found = classify(conditions, environment, project=None)
    describe(conditions)
    if any(environment.get(name) is None for name in conditions):
        assert found in {Applicability.UNKNOWN, Applicability.INCOMPATIBLE}


@given(OPERATORS, JSON, JSON)
def test_a_negation_of_the_untold_is_untold(operator, operand, actual):
    plain = classify({"a": operand}, {"a": actual}, project=None)
    negated = classify({"a": {"not": operand}}, {"a": actual}, project=None)
    if plain == Applicability.UNKNOWN and not isinstance(operand, dict):
        assert negated == Applicability.UNKNOWN


def test_conditions_are_described_in_one_line():
    assert describe({"commit": {"prefix": "0862"}, "v": {"gte": "2", "lt": "3"}, "b": ["a", True]}) == (
        "b in a, true; commit starts with 0862; v ≥ 2 and < 3"
    )
    assert describe({}) == ""
