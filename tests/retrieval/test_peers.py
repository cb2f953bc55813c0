"""The comparison with other stores: its shared stub is what it says, and each adapter is at least readable without its peer."""

from __future__ import annotations

import ast
import math

import pytest

from tests.benchmarks.peers import stub
from tests.benchmarks.peers.__main__ import HERE, PEERS, _data


def test_the_stub_is_deterministic_of_length_one_and_nearer_for_more_shared_words():
    one, same, near, far = (stub.embed(text) for text in ("red boat", "RED boat", "red boat sails", "warm lamp"))
    assert one == same and len(one) == stub.DIMENSIONS
    assert math.isclose(sum(value * value for value in one), 1.0)
    likeness = [sum(a * b for a, b in zip(one, other, strict=True)) for other in (near, far)]
    assert likeness[0] > 0.6 > abs(likeness[1])


def test_a_question_is_made_of_words_of_its_source():
    data = _data(50, 10)
    assert data == _data(50, 10)
    for question, place in data["asked"]:
        assert len(set(question.split()) & set(data["texts"][place].split())) >= 3


def test_measuring_leaves_the_first_ones_out_and_counts_what_was_found():
    texts = ["a", "b"]
    figures = stub.measured(texts, [("q", 1)] * (stub.WARM + 4), lambda _question: ["b"])
    assert figures["found"] == 1.0 and 0 <= figures["p50"] <= figures["p95"]


@pytest.mark.parametrize("peer", PEERS)
def test_every_adapter_is_there_and_does_nothing_when_it_is_read(peer):
    tree = ast.parse((HERE / f"with_{peer}.py").read_text(encoding="utf-8"))
    last = tree.body[-1]
    assert isinstance(last, ast.If) and ast.unparse(last.test) == "__name__ == '__main__'"
