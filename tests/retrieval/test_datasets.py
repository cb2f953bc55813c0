"""Data sets: the form is read strictly, measured through the real pipeline, and what changed once is not told any more."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from apps.core.isolation import system_context
from apps.memories.candidates import propose
from apps.memories.importing.turns import LayoutError
from apps.memories.models import Candidate
from apps.retrieval.evaluation.datasets import read_dataset
from apps.retrieval.evaluation.metrics import Tally, stands_above
from apps.retrieval.evaluation.tenants import DATASETS
from apps.tenants.console_access import command_access
from apps.tenants.models import Tenant
from apps.tenants.people import create_subject
from tests.memories.sayings import proposal
from tests.retrieval.updates import dataset

SMALL = {
    "worlds": [
        {
            "name": "harbour",
            "records": [
                {"id": "r1", "text": "The tide gauge stands at the old pier", "at": "2026-02-03"},
                {"id": "r2", "text": "The tide gauge was moved to the north quay", "at": "2026-05-01", "replaces": "r1"},
                {"id": "r3", "text": "Rope and tar", "at": "2026-05-01T10:00:00+02:00", "aliases": ["Big Blue"]},
            ],
            "questions": [
                {"text": "Where is the tide gauge?", "relevant": ["r2"], "stale": ["r1"], "group": "gauge"},
                {"text": "What is big blue made of?", "relevant": ["r3"], "forbidden": ["r1"]},
            ],
        }
    ]
}


def _file(folder, value):
    path = folder / "harbour.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def _changed(*path, value):
    document = json.loads(json.dumps(SMALL))
    place = document["worlds"][0]
    for step in path[:-1]:
        place = place[step]
    if value is None:
        place.pop(path[-1])
    else:
        place[path[-1]] = value
    return document


@pytest.mark.parametrize(
    "value",
    [
        "not json",
        {"world": []},
        {"worlds": [5]},
        _changed("name", value=""),
        _changed("records", 0, "at", value="yesterday"),
        _changed("records", 0, "text", value=None),
        _changed("records", 0, "colour", value="red"),
        _changed("records", 1, "id", value="r1"),
        _changed("questions", 0, "relevant", value=["nobody"]),
        _changed("questions", 0, "text", value=None),
        _changed("extra", value=[]),
    ],
)
def test_another_form_is_refused_without_repeating_its_text(tmp_path, value):
    with pytest.raises(LayoutError) as refused:
        read_dataset(_file(tmp_path, value))
    assert "gauge" not in str(refused.value)


def test_no_question_spells_the_key_of_a_record(tmp_path):
    [world] = read_dataset(_file(tmp_path, SMALL))
    keys = [record.key for record in world.records]
    assert len(set(keys)) == 3 and all(key.startswith("record.") and len(key) > 20 for key in keys)
    assert world.records[1].replaces == keys[0]


@pytest.mark.parametrize(
    ("ranked", "above"), [(["new", "old"], True), (["old", "new"], False), (["x", "new"], True), (["x"], False), ([], False)]
)
def test_the_answer_has_to_be_there_and_above_what_was_true_once(ranked, above):
    assert stands_above(ranked, {"new"}, {"old"}) is above


def test_updates_are_counted_among_questions_that_have_one():
    tally = Tally()
    tally.add(["new", "a", "b", "c", "d", "old"], {"new"}, {"old"})
    tally.add(["old", "new"], {"new"}, {"old"})
    tally.add(["x"], {"x"})
    assert (tally.figures()["stale@5"], tally.figures()["above"]) == (0.5, 0.5)
    plain = Tally()
    plain.add(["x"], {"x"})
    assert "stale@5" not in plain.figures()


@pytest.mark.requirement("EL-09")
def test_forbidden_records_are_counted_among_questions_that_name_one():
    tally = Tally()
    tally.add(["a", "b"], {"a"}, forbidden={"b"})
    tally.add(["a"], {"a"}, forbidden={"b"})
    tally.add(["a"], {"a"})
    assert tally.figures()["forbidden"] == 0.5


def test_what_answers_may_not_be_forbidden(tmp_path):
    question = {"text": "Where?", "relevant": ["r2"], "forbidden": ["r2"]}
    with pytest.raises(LayoutError):
        read_dataset(_file(tmp_path, _changed("questions", value=[question])))


def _evaluated(path, **options):
    said = io.StringIO()
    call_command("evaluate", "retrieval", dataset=path, stdout=said, **options)
    return said.getvalue()


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("EL-09")
def test_the_command_measures_the_packet_and_each_lane(tmp_path):
    path = _file(tmp_path, SMALL)
    for _ in range(2):  # the second time everything is there
        rows = {(row["group"], row["ranking"]): row for row in json.loads(_evaluated(path, json=True))}
    assert rows["all", "fused"]["questions"] == 2 and rows["all", "fused"]["recall@5"] == 1.0
    assert rows["all", "named"]["recall@5"] == 0.5 == rows["all", "lexical"]["recall@5"]
    assert (rows["gauge", "fused"]["stale@5"], rows["gauge", "fused"]["above"]) == (0.0, 1.0)
    first = json.loads(_evaluated(path, json=True))[0]
    assert (first["sufficient"], first["missed"], first["leaked"], first["near_leaks"]) == (2, {}, 0, 0)
    assert rows["all", "fused"]["forbidden"] == 0.0
    table = _evaluated(path)
    assert table.splitlines()[-3:] == [
        "packets that hold everything that answers: 2 of 2",
        "records that answer and were not given: 0",
        "records of another place: 0 given, 0 among candidates",
    ]
    assert table.splitlines()[0].split() == [
        "group",
        "ranking",
        "questions",
        "recall@5",
        "recall@10",
        "recall@20",
        "mrr",
        "size",
        "stale@5",
        "above",
        "forbidden",
    ]
    with pytest.raises(CommandError):
        _evaluated(_file(tmp_path, "[]x"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("SP-10")
def test_what_changed_is_told_as_it_is_now(tmp_path):
    """Every tenth of the two hundred updates; docs/benchmarks.md has the figures of all."""
    whole = dataset()
    for world in whole["worlds"]:
        world["questions"] = world["questions"][::10]
        kept = {name for question in world["questions"] for name in (*question["relevant"], *question["stale"])}
        world["records"] = [record for record in world["records"] if record["id"] in kept]
    rows = {(row["group"], row["ranking"]): row for row in json.loads(_evaluated(_file(tmp_path, whole), json=True))}
    for language in ("en", "zh"):
        figures = rows[language, "fused"]
        assert figures["stale@5"] <= 0.05 and figures["above"] >= 0.95 and figures["questions"] == 10, figures


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("EL-09", "EL-15")
def test_what_each_signal_is_worth_and_what_is_wrong_with_packets(tmp_path):
    document = json.loads(json.dumps(SMALL))
    # One that is called by its name alone, one that nothing leads to, and something private that an operator reads.
    document["worlds"][0]["questions"][0]["relevant"] = ["r2", "r3"]
    path = _file(tmp_path, document)
    _evaluated(path)
    with system_context():
        tenant_id = Tenant.objects.get(key=DATASETS).id
    remember_of(command_access(tenant_id), "anna", "The tide gauge is painted red")
    rows = {(row["group"], row["ranking"]): row for row in json.loads(_evaluated(path, json=True, ablation=True))}
    first = rows["all", "fused"]
    assert (first["sufficient"], first["missed"], first["leaked"]) == (1, {"not_found": 1}, 1)
    assert first["near_leaks"] == first["leaked"]
    assert rows["all", "every signal"]["recall@5"] == first["recall@5"] == 0.75
    assert rows["all", "without named"]["recall@5"] == 0.25 and rows["all", "without phrase"]["recall@5"] == 0.75
    named = {ranking for group, ranking in rows if group == "all" and ranking.startswith("without")}
    assert len(named) == 11  # five lanes, and the parts of the key but that of asked keys, which is a lane
    table = _evaluated(path, ablation=True)
    assert "without evidence quality" in table and "records of another place: 1 given, 1 among candidates" in table


def remember_of(access, subject, text):
    """A private record of somebody, which no data set holds."""
    create_subject(access, key=subject)
    access = command_access(access.tenant_id)  # which reaches what is there now
    assert propose(access, proposal(text, scope_id=subject)).outcome.status == Candidate.Status.COMMITTED
