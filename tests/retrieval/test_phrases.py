from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.phrases import phrase_lane, phrase_ranks, span_query, spans_in
from apps.retrieval.stemming import FUNCTION_WORDS

GLACIER = {
    "exact": "The glacier custard incident was solved with salt.",
    "reversed": "An incident about custard, then a glacier.",
    "joined": "See file glacier-custard-incident in the cabinet.",
    "longer": "Two glacier custard incidents were reported later.",
}


@pytest.mark.requirement("RK-20", "RK-24", "RK-25", "RK-26", "RK-27", "RK-34")
def test_the_group_of_seed_002():
    found = phrase_lane(span_query("glacier custard incident"), GLACIER)
    assert found == {"exact": ("glacier custard incident",), "longer": ("glacier custard",)}
    assert phrase_ranks(found) == {"exact": 1, "longer": 2}


@pytest.mark.requirement("RK-23")
@pytest.mark.parametrize("question", ["glacier", "glacier?", "the glacier", "glacier of"])
def test_a_single_word_is_no_span(question):
    assert spans_in(span_query(question), GLACIER["exact"]) == ()


@pytest.mark.requirement("RK-29")
def test_function_words_stand_inside_a_span_only():
    text = "We met on the glacier for the custard of the glacier in May."
    assert spans_in(span_query("custard of the glacier in"), text) == ("custard of the glacier",)
    assert spans_in(span_query("on the glacier"), text) == ()


@pytest.mark.requirement("RK-21", "RK-28")
def test_a_common_phrase_is_no_anchor():
    texts = {n: f"Weekly status meeting number {n} took place" for n in range(9)}
    assert phrase_lane(span_query("status meeting"), texts, cap=8) == {}
    assert len(phrase_lane(span_query("status meeting"), texts, cap=9)) == 9


@pytest.mark.requirement("RK-32")
def test_writing_without_spaces_forms_no_span_and_ends_one():
    assert not span_query("我们那次的现场测试 最后 怎么样")
    query = span_query("我们那次的 glacier custard incident 最近好不好呀")
    assert spans_in(query, "那次叫 glacier custard incident 后来用盐解决。") == ("glacier custard incident",)
    assert spans_in(query, "glacier 和 custard incident") == ("custard incident",)


@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("the glacier\n  custard", True),
        ("the “glacier” custard", True),
        ("the GLACIER Custard", True),
        ("the glacier, custard", False),
        ("the glacier. Custard", False),
        ("the glaciers custard", False),
        ("the glacier-custard", False),
        ("the glacier cold custard", False),
    ],
)
def test_words_must_stand_next_to_each_other(text, hit):
    assert spans_in(span_query("glacier custard"), text) == (("glacier custard",) if hit else ())


WORDS = st.lists(st.sampled_from(["glacier", "custard", "incident", "of", "the", "salt", "a-b", "现场"]), max_size=12).map(
    " ".join
)


@given(WORDS, WORDS)
def test_a_span_is_in_both_texts_and_has_two_words_of_subject_at_its_ends(question, text):
    for span in spans_in(span_query(question), text):
        words = span.split()
        assert len(words) >= 2 and not {words[0], words[-1]} & FUNCTION_WORDS
        assert f" {span} " in f" {question} " and f" {span} " in f" {text} "


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_may_be_asked_of_any_text(question, text):
    spans_in(span_query(question), text)
