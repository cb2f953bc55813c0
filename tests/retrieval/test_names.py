"""What calls a memory: whole names in order, one slip, labels; and what only looks like it (design/04 lane `named`)."""

from __future__ import annotations

import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.names import called, index_keys, labels_in, lengths_of, names_of, question_keys, strength, within_one_slip
from apps.retrieval.stemming import FUNCTION_WORDS

pytestmark = pytest.mark.requirement("RK-35", "LB-02")


def strength_of(question: str, key: str, *aliases: str, unknown: str = "") -> int:
    """How well the question calls a memory; the index has to propose it whenever it does."""
    words = replace(called(question), unknown=frozenset(unknown.split()))
    names = names_of(key, aliases)
    found = strength(words, names)
    proposed = not question_keys(words, lengths_of(names, labelled=False)).isdisjoint(index_keys(names))
    assert proposed or not found
    return found


@pytest.mark.parametrize(
    ("question", "key", "aliases"),
    [
        ("How do we clean the brass lantern?", "lamp.brass_lantern", ()),
        ("the BRASS-LANTERN, please", "lamp.brass_lantern", ()),
        ("where is Big Blue now", "x.y1", ("Big Blue",)),
        ("two brass lanterns", "lamp.brass_lantern", ()),
        ("Mara's father", "person.mara", ()),
        ("what does rt-7 say", "x.y1", ("rt7", "RT 7")),
        ("is it C++ or not", "x.y1", ("C++",)),
        ("老蓝本放在哪里了？", "x.y1", ("老蓝本",)),
        ("找天文台队长，谢谢", "人.天文台队长", ()),
        ("Ｂｉｇ Ｂｌｕｅ", "x.y1", ("big blue",)),
        ("지민이는 어디 있어?", "x.y1", ("지민",)),
        ("ラーメンは好き?", "x.y1", ("ラーメン",)),
        ("где Лунный фонарь", "x.y1", ("лунный фонарь",)),
        ("read me 4472", "x.y1", ("4472",)),
    ],
)
def test_a_name_that_stands_there_whole_and_in_order_calls(question, key, aliases):
    assert strength_of(question, key, *aliases) > 0


@pytest.mark.parametrize(
    ("question", "key", "aliases"),
    [
        ("the lantern of brass", "lamp.brass_lantern", ()),
        ("brass", "lamp.brass_lantern", ()),
        ("brass, lantern", "lamp.brass_lantern", ()),
        ("It was big. Blue it was not", "x.y1", ("Big Blue",)),
        ("bigger bluebells", "x.y1", ("Big Blue",)),
        ("C or not", "x.y1", ("C++",)),
        ("박지민은 누구", "x.y1", ("지민",)),
        ("カップラーメン", "x.y1", ("ラーメン",)),
        ("蓝本老", "x.y1", ("老蓝本",)),
        ("what is it", "x.it", ("the", "什么")),
        ("a b c", "x.b", ("c",)),
        ("lamp", "", ()),
    ],
)
def test_what_is_not_the_whole_name_does_not_call(question, key, aliases):
    assert strength_of(question, key, *aliases) == 0


@pytest.mark.parametrize("typed", ["lanten", "lanterrn", "lantren", "lanfern", "lanter", "lanternn"])
def test_one_slip_is_forgiven_in_a_long_latin_word(typed):
    assert strength_of(f"the brass {typed}", "lamp.brass_lantern", unknown=typed) > 0
    assert strength_of(f"the {typed}", "x.y1", "Lantern", unknown=typed) > 0
    assert strength_of(f"the {typed}", "x.y1", "Lantern") == 0, "a word that somebody in scope wrote is what it is"
    whole = strength_of("the brass lantern", "lamp.brass_lantern")
    assert whole > strength_of(f"the brass {typed}", "lamp.brass_lantern", unknown=typed)


@pytest.mark.parametrize(
    ("typed", "alias"),
    [
        ("k9s", "k8s"),
        ("lxmp", "lamp"),
        ("4473", "4472"),
        ("44720", "44721"),
        ("mango", "mongo"),
        ("alntern", "lantern"),
        ("lantxrm", "lantern"),
        ("lanternal", "lantern"),
        ("老监本", "老蓝本"),
        ("ラーナン", "ラーメン"),
        ("фонорь", "фонарь"),
        ("brsas lantren", "brass lantern"),
    ],
)
def test_no_slip_in_short_codes_numbers_other_scripts_first_letters_or_twice(typed, alias):
    assert strength_of(f"see {typed} here", "x.y1", alias, unknown=typed) == 0


def test_labels_are_named_by_their_key_or_alias():
    spellings = {"field_test": "field_test", "现场测试": "field_test", "deploys": "deploys"}
    assert labels_in(called("现场测试最终选择了哪种工具"), spellings) == ("field_test",)
    assert labels_in(called("after the field tests, deploys"), spellings) == ("field_test", "deploys")
    assert labels_in(called("the test in a field"), spellings) == ()


WORD = st.text(string.ascii_lowercase[:8], min_size=3, max_size=9).filter(lambda word: word not in FUNCTION_WORDS)


def _mistyped(word: str, place: int, kind: int, letter: str) -> str:
    at = 2 + place % (len(word) - 2)
    return [
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :],
    ][kind]


@given(
    words=st.lists(WORD, min_size=1, max_size=4),
    which=st.integers(0, 3),
    place=st.integers(0, 9),
    kind=st.integers(0, 3),
    letter=st.sampled_from(string.ascii_lowercase),
)
def test_the_index_proposes_every_name_that_the_words_call(words, which, place, kind, letter):
    """Names are looked up by keys and judged by their text: the keys may propose too much, never too little."""
    typed = list(words)
    which %= len(words)
    if len(words[which]) >= 5:
        typed[which] = _mistyped(words[which], place, kind, letter)
        assert within_one_slip(words[which], typed[which])
    strength_of(f"about {' '.join(typed)} then", "x.y1", " ".join(words), unknown=" ".join(typed))


@given(st.text(max_size=300))
def test_any_text_may_ask(text):
    words = called(text)
    assert words.words <= 600
    question_keys(words, 0b1111)
