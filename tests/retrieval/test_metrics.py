from __future__ import annotations

import pytest

from apps.retrieval.evaluation.metrics import Tally, precision_of, recall_at, reciprocal_rank


@pytest.mark.parametrize(
    ("ranked", "relevant", "recall", "reciprocal", "precision"),
    [
        (["a", "b", "c"], {"a"}, 1.0, 1.0, 1 / 3),
        (["a", "b", "c"], {"c"}, 0.0, 1 / 3, 1 / 3),
        (["a", "b"], {"a", "b", "x", "y"}, 0.5, 1.0, 1.0),
        (["a"], {"x"}, 0.0, 0.0, 0.0),
        ([], {"x"}, 0.0, 0.0, 1.0),
    ],
)
def test_figures_of_one_question(ranked, relevant, recall, reciprocal, precision):
    assert recall_at(ranked, relevant, 2) == recall
    assert reciprocal_rank(ranked, relevant) == reciprocal
    assert precision_of(ranked, relevant) == precision


def test_figures_are_means_over_questions():
    tally = Tally(depths=(1, 2))
    tally.add(["a", "b"], {"b"})
    tally.add(["a"], {"a"})
    assert tally.figures() == {"recall@1": 0.5, "recall@2": 1.0, "mrr": 0.75, "size": 1.5, "precision": 0.75}


def test_no_question_gives_zeros():
    assert set(Tally().figures().values()) == {0.0}
