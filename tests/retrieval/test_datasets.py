"""Data sets: the form is read strictly, measured through the real pipeline, and what changed once is not told any more."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from apps.memories.importing.turns import LayoutError
from apps.retrieval.evaluation.datasets import read_dataset
from apps.retrieval.evaluation.metrics import Tally, stands_above
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
                {"text": "What is big blue made of?", "relevant": ["r3"]},
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
    table = _evaluated(path)
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
