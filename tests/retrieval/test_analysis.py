from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.analysis import index_terms, query_terms, term_hash, term_hashes
from apps.retrieval.scripts import fold
from apps.retrieval.stemming import stem


def finds(question: str, text: str) -> bool:
    return bool(index_terms(text) & set(query_terms(question).terms))


@pytest.mark.requirement("RK-11")
@pytest.mark.parametrize(
    ("question", "hit"),
    [
        ("rust", True),
        ("RUST", True),
        ("Rust!", True),
        ("memory", True),
        ("memories", True),
        ("memo", False),
        ("rus", False),
        ("trust", False),
        ("SAFE?", True),
        ("memory:safe", True),
        ("rust OR 1=1", True),
        ("ru*", False),
        ("r_st", False),
        ("%", False),
    ],
)
def test_latin_words_are_matched_whole_without_case_and_without_operators(question, hit):
    assert finds(question, "Rust is memory safe") is hit


@pytest.mark.requirement("RK-12")
@pytest.mark.parametrize(
    ("question", "hit"),
    [("部署窗口", True), ("窗口改为", True), ("周四", True), ("晚上部署", True), ("周五", False), ("周", True), ("五", False)],
)
def test_chinese_is_matched_by_adjacent_pairs_and_a_lone_character_by_itself(question, hit):
    assert finds(question, "部署窗口改为周四晚上") is hit


@pytest.mark.requirement("RK-12")
def test_a_single_character_of_a_longer_run_is_not_a_query_term():
    assert query_terms("周五").terms == ("周五",)
    assert query_terms("周").terms == ("周",)


@pytest.mark.parametrize("question", ["Python生成器", "Python 生成器", "生成器 python", "ｐｙｔｈｏｎ", "继续讲 Python"])
def test_scripts_separate_words_and_wide_letters_are_letters(question):
    assert finds(question, "Python 生成器")


def test_spacing_between_scripts_makes_no_difference():
    assert index_terms("Python生成器") == index_terms("Python 生成器")


@pytest.mark.parametrize(
    "question", ["the of and", "What is it?", "为什么？", "的", "NOT", "?!", "", " \n\t", "&|!", "don't", "🚀"]
)
def test_a_question_without_a_word_of_subject_has_no_terms(question):
    assert not query_terms(question)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("see feild_test", "feild_test"),
        ("see feild_test", "test"),
        ("run 4472 helped", "4472"),
        ("run-4472 helped", "4472"),
        ("since v2.4.0", "2.4.0"),
        ("since 2.4.0", "v2.4.0"),
        ("at 20:00 sharp", "20:00"),
        ("costs 1,500 crowns", "1500"),
        ("on 2024-03-01", "2024"),
        ("Caroline's dog", "caroline"),
        ("Caroline’s dog", "caroline"),
        ("written in C++", "c++"),
        ("write to bob@example.org", "bob@example.org"),
        ("café in São Paulo", "cafe sao"),
        ("Москва зимой", "москва"),
        ("मैं हिन्दी बोलता हूँ", "हिन्दी"),
        ("한국어를 공부", "한국어"),
        ("ひらがなを書く", "ひらがな"),
        ("ภาษาไทย", "ไทย"),
        ("zero\u200dwidth", "zerowidth"),
        ("reports were written", "report write"),
        ("two glacier custard incidents", "incident"),
    ],
)
def test_a_name_or_inflected_word_is_found(text, question):
    assert finds(question, text)


@pytest.mark.parametrize(
    ("text", "question"), [("berth 4 is free", "2.4.0"), ("at 20:00", "20"), ("car", "care"), ("universe", "university")]
)
def test_what_only_looks_alike_is_not_found(text, question):
    assert not finds(question, text)


@given(st.text(max_size=300))
def test_analysis_is_a_pure_function_of_the_text(text):
    assert query_terms(text) == query_terms(text)
    terms = query_terms(text).terms
    assert len(set(terms)) == len(terms) and all(terms)


@given(st.text(max_size=200))
def test_a_text_is_found_by_itself(text):
    """Whatever a question may look up is indexed, but for the single characters of longer runs."""
    assert set(query_terms(text).terms) <= index_terms(text)


@given(st.text(max_size=120), st.text(max_size=120))
def test_more_text_never_hides_terms(first, second):
    assert index_terms(first) | index_terms(second) <= index_terms(f"{first}\n{second}")


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=200))
def test_folding_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet=string.ascii_lowercase, max_size=20))
def test_a_stem_is_a_word_and_stays_short(word):
    assert len(stem(word)) <= len(word) + 2
    assert bool(stem(word)) is bool(word)


HOSTILE = {
    "marks": "a" + "\u0301\u0316" * 32_767,
    "ligatures": "\ufdfa" * 21_845,
    "joined": "a_" * 32_768,
    "apostrophes": "a'" * 32_768,
    "digits": "1," * 32_768,
    "one word": "a" * 65_536,
    "endings": "ing" * 21_845,
    "scripts": "a现" * 32_768,
    "emoji": "👩‍👩‍👧‍👦" * 9_000,
    "plus": "+" * 65_536,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_costs_no_more_than_its_length(kind):
    """Work is counted, not timed: twice the text makes at most about twice the calls."""
    import sys

    def steps(text: str) -> int:
        count = 0

        def hook(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(hook)
        try:
            index_terms(text)
        finally:
            sys.setprofile(None)
        return count

    whole = HOSTILE[kind]
    half = steps(whole[: len(whole) // 2])
    assert steps(whole) <= 2.5 * half + 200


def test_normalisation_never_sees_a_long_run_of_marks(monkeypatch):
    """Sorting marks is quadratic in the run, so pieces are bounded; ordinary text is not changed by that."""
    import unicodedata

    from apps.retrieval import scripts

    seen = []

    class Watched:
        combining = staticmethod(unicodedata.combining)

        @staticmethod
        def normalize(form, text):
            seen.append(len(text))
            return unicodedata.normalize(form, text)

    monkeypatch.setattr(scripts, "unicodedata", Watched)
    scripts.fold(HOSTILE["marks"])
    assert max(seen) <= 600
    text = "Ångström 한국어 ｶﾞ हिन्दी résumé " * 400
    assert scripts.fold(text) == scripts.fold(text[: len(text) // 400]) * 400


def test_term_hashes_are_keyed_signed_and_64_bit():
    key, other = b"k" * 32, b"o" * 32
    terms = index_terms("部署窗口 glacier custard v2.4.0")
    hashes = term_hashes(key, terms)
    assert hashes == {term: term_hash(key, term) for term in terms}
    assert all(-(2**63) <= number < 2**63 for number in hashes.values())
    assert set(hashes.values()).isdisjoint(term_hashes(other, terms).values())


def test_some_hashes_are_negative():
    """A bigint column is signed: the whole range is used."""
    numbers = term_hashes(b"k" * 32, [f"w{n}" for n in range(50)]).values()
    assert min(numbers) < 0 < max(numbers)
