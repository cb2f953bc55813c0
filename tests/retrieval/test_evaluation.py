"""``manage.py evaluate regression | challenge``: cases are read strictly, run for real, leave nothing, and tell what is wrong."""

from __future__ import annotations

import json
from io import StringIO

import pytest
import yaml
from django.core.management import CommandError, call_command

from apps.core.isolation import system_context
from apps.memories.models import Memory
from apps.retrieval.evaluation.case_runs import Fault
from apps.retrieval.evaluation.cases import Case, CaseError, Suite, read_suite
from apps.retrieval.evaluation.tenants import CASES
from apps.retrieval.models import RetrievalTrace
from apps.tenants.models import Project, Subject


def evaluate(suite: str, *arguments: str) -> tuple[int, dict]:
    out = StringIO()
    try:
        call_command("evaluate", suite, "--json", *arguments, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), json.loads(out.getvalue())
    return 0, json.loads(out.getvalue())


@pytest.fixture(scope="module")
def promises() -> list[Case]:
    return read_suite(Suite.REGRESSION)


# -- what is promised


@pytest.mark.django_db
@pytest.mark.requirement("EL-01", "EL-13", "EL-14", "SP-05", "SP-06")
def test_the_regression_suite_is_green_and_leaves_nothing():
    code, done = evaluate("regression")
    assert [result for result in done["results"] if not result["green"]] == []
    assert (code, done["green"]) == (0, done["cases"])
    with system_context():
        for model in (Memory, RetrievalTrace, Subject, Project):
            assert not model.objects.filter(tenant__key=CASES).exists(), model


@pytest.mark.django_db
@pytest.mark.requirement("EL-02")
def test_known_weaknesses_are_told_and_do_not_pose_as_green():
    """One that is green by now is no weakness: it belongs to the promises (EL-03)."""
    code, done = evaluate("challenge")
    assert code == 0 and done["cases"] >= 5
    assert [result["id"] for result in done["results"] if result["green"]] == []
    assert all(result["known"] and result["failures"] for result in done["results"])


def test_every_example_of_the_documents_is_a_promise(promises):
    ids = " ".join(case.id for case in promises)
    for example in ("field_log", "phrase", "labels.a_typo", "background.kotlin", "learning", "ledger"):
        assert example in ids
    assert all(case.proves and case.why for case in promises)


# -- what goes wrong is told


RECORD = {"say": "lamp", "key": "lamp.place", "text": "The lamp stands by the door", "since": "2025-01-01"}


def suite(tmp_path, *cases: dict) -> str:
    (tmp_path / "regression").mkdir(exist_ok=True)
    given = [
        {"id": f"c{number}", "why": "a test", "world": [RECORD], "query": {"question": "lamp"}, **case}
        for number, case in enumerate(cases)
    ]
    (tmp_path / "regression" / "cases.yaml").write_text(yaml.safe_dump({"cases": given}))
    return str(tmp_path)


@pytest.mark.django_db
@pytest.mark.requirement("EL-09")
@pytest.mark.parametrize(
    ("case", "fault"),
    [
        ({"must_include": ["lamp"], "query": {"question": "kettle"}}, Fault.MISSING_TARGET),
        ({"must_exclude": ["lamp"]}, Fault.FORBIDDEN_CANDIDATE),
        ({"exactly": []}, Fault.FORBIDDEN_CANDIDATE),
        ({"order": ["lamp"], "query": {"question": "kettle"}}, Fault.WRONG_ORDER),
        ({"adjacent": [["lamp", "lamp"]]}, Fault.NOT_ADJACENT),
        ({"reasons": {"lamp": "expired"}}, Fault.WRONG_REASON),
        ({"outcome": "no_match"}, Fault.WRONG_OUTCOME),
        ({"decision": "SKIP"}, Fault.WRONG_DECISION),
        ({"divergence": "ask_suppressed"}, Fault.WRONG_DECISION),
        ({"warnings": ["unknown_label"]}, Fault.WRONG_PRESENTATION),
        ({"sections": {"lamp": "history"}}, Fault.WRONG_PRESENTATION),
        (
            {"lines": ["[{lamp.memory_id} nothing]"], "query": {"question": "lamp", "format": "text", "style": "slots"}},
            Fault.WRONG_PRESENTATION,
        ),
        ({"world": [{**RECORD, "refused": {"at": "/topics/0", "code": "unknown_label"}}]}, Fault.WRONG_REFUSAL),
        ({"world": [{**RECORD, "topics": ["nonsense"]}]}, Fault.WRONG_REFUSAL),
        (
            {
                "query": {"question": "lamp", "project": "nowhere", "by": "lin"},
                "world": [{**RECORD, "project": "elsewhere", "by": "lin"}],
                "must_include": ["lamp"],
            },
            Fault.MISSING_TARGET,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_a_red_case_says_what_is_wrong_and_ends_with_1(tmp_path, case, fault):
    code, done = evaluate("regression", "--cases", suite(tmp_path, case))
    (result,) = done["results"]
    assert code == 1 and not result["green"]
    assert fault in {failure["fault"] for failure in result["failures"]}


@pytest.mark.django_db
def test_the_text_names_the_red_ones_and_counts_them(tmp_path):
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command(
            "evaluate", "regression", "--cases", suite(tmp_path, {"must_include": ["lamp"]}, {"exactly": []}), stdout=out
        )
    text = out.getvalue()
    assert "green  c0" in text and "red    c1" in text
    assert "regression: 1 of 2 green, 1 red, forbidden_candidate 1" in text


@pytest.mark.parametrize(
    "case",
    [
        {"must_inclde": ["lamp"]},
        {"must_include": ["nobody"]},
        {"reasons": {"lamp": "just_because"}},
        {"query": {"question": "lamp", "as_off": "2025-01-01"}},
        {"world": [{**RECORD, "tpye": "fact"}]},
        {"world": [{**RECORD, "type": "wisdom"}]},
        {"id": "twice"},
    ],
    ids=",".join,
)
def test_a_slip_in_a_case_is_an_error_and_no_green(tmp_path, case):
    folder = suite(tmp_path, case, {"id": "twice"})
    with pytest.raises(CaseError):
        read_suite(Suite.REGRESSION, tmp_path)
    with pytest.raises(CommandError) as refused:
        call_command("evaluate", "regression", "--cases", folder)
    assert refused.value.returncode == 2


def test_no_case_is_wrong_usage(tmp_path):
    with pytest.raises(CommandError) as refused:
        call_command("evaluate", "regression", "--only", "no such case", "--cases", suite(tmp_path, {}))
    assert refused.value.returncode == 2
