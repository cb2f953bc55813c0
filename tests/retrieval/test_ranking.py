from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.context import Ranked, Recall
from apps.retrieval.fusion import competition_ranks, fused, idf, term_weight
from apps.retrieval.ranking import components, order
from apps.retrieval.relevance import KnownTerms, RelevanceRule, passes
from apps.retrieval.vocabulary import Applicability, Lane, Profile
from tests.retrieval.rows import ask, contents, day, name, reasons, row


def ranked(number: int = 1, applicability: str = "applicable", fused_rank: int = 0, **fields) -> Ranked:
    return Ranked(candidate=row(number, **fields), applicability=Applicability(applicability), fused=fused_rank)


def ids(items) -> list[int]:
    return [item.candidate.memory_id.int for item in items]


@pytest.mark.requirement("RK-01", "RK-02", "RK-04", "RK-05", "RK-07", "RK-15", "RK-16")
def test_each_part_of_the_key_decides_only_when_all_before_it_tie():
    steps = [
        ranked(1),
        ranked(9, "applicable", retrieval_policy="always"),
        ranked(8, recall=Recall(lanes={Lane.EXACT: 1})),
        ranked(7, fused_rank=10),
        ranked(6, verdict="supported"),
        ranked(5, memory_type="constraint"),
        ranked(4, valid_from=day("2025-01-01")),
        ranked(2),
        ranked(3, verdict="refuted"),
        ranked(11, "conditional", retrieval_policy="always", recall=Recall(lanes={Lane.EXACT: 1}), fused_rank=99),
        ranked(12, "unknown", fused_rank=100),
        ranked(13, "needs_revalidation", fused_rank=100),
    ]
    expected = [9, 8, 7, 6, 5, 4, 1, 2, 3, 11, 12, 13]
    for seed in range(20):
        shuffled = random.Random(seed).sample(steps, len(steps))
        assert ids(order(shuffled)) == expected


FIELDS = st.fixed_dictionaries(
    {
        "verdict": st.sampled_from([None, "supported", "refuted", "strange"]),
        "retrieval_policy": st.sampled_from(["always", "relevant"]),
        "memory_type": st.sampled_from(["fact", "constraint", "finding"]),
        "fidelity": st.sampled_from([None, "summary", "hybrid"]),
        "valid_from": st.sampled_from([None, day("2024-01-01"), day("2025-01-01")]),
    }
)


@pytest.mark.requirement("RK-17")
@given(st.lists(FIELDS, max_size=8), st.randoms(use_true_random=False))
def test_the_order_is_total_whatever_order_rows_come_in(given, shuffle):
    items = [ranked(n, **fields) for n, fields in enumerate(given)]
    first = order(items)
    shuffle.shuffle(items)
    assert order(items) == first


@pytest.mark.requirement("RK-10")
def test_every_part_is_named_in_the_trace():
    names = set(components(ranked(1)))
    assert names >= {"applicability", "always", "exact", "fused", "lanes", "verdict", "fidelity", "utility", "valid_from"}


@pytest.mark.requirement("RK-18", "RK-13")
@pytest.mark.parametrize("profile", list(Profile))
def test_progress_precedes_the_goal(profile):
    rows = [
        row(1, "主要写 Java", valid_from=day("2024-01-01")),
        row(2, "Python", memory_type="goal", valid_from=day("2024-02-01")),
        row(3, "Python 生成器", memory_type="progress", valid_from=day("2024-03-01")),
    ]
    assert contents(ask(rows, "Python", profile=profile)) == ["Python 生成器", "Python"]
    assert contents(ask(rows, "Rust", profile=profile)) == []


@pytest.mark.requirement("RK-19")
def test_newer_is_not_better_than_closer():
    rows = [
        row(1, "The harbour crane needs new oil", valid_from=day("2020-01-01")),
        row(2, "The harbour is closed", valid_from=day("2024-06-01")),
    ]
    assert contents(ask(rows, "harbour crane oil"))[0] == "The harbour crane needs new oil"


@pytest.mark.requirement("RK-16")
def test_equal_words_and_times_come_by_id():
    rows = [row(n, f"Berth {n} is free") for n in range(12)]
    found = ask(random.Random(1).sample(rows, 12), "berth free")
    assert [item.candidate.public_id for item in found.chosen] == [name(n) for n in range(12)]


@pytest.mark.requirement("TM-15")
@given(st.sampled_from(["2024-02-01", "2024-08-01", "2025-01-01"]), st.sampled_from(["2024-02-02", "2026-01-01"]))
def test_the_rank_does_not_move_with_the_date(first, second):
    rows = [
        row(1, "The parcel is with customs", memory_type="state", expected_resolution_at=day("2024-03-01")),
        row(2, "The parcel is insured at customs", valid_from=day("2023-01-01")),
        row(3, "The parcel list is at the customs desk", valid_from=day("2023-06-01")),
    ]
    one, other = (ask(rows, "parcel customs", as_of=day(at)) for at in (first, second))
    assert contents(one) == contents(other)
    assert [item.fused for item in one.chosen] == [item.fused for item in other.chosen]


@pytest.mark.requirement("RK-02")
def test_policy_always_comes_first_among_the_relevant_and_only_among_them():
    rows = [
        row(1, "Crane oil schedule for the harbour crane"),
        row(2, "Never touch the crane without gloves", memory_type="constraint", retrieval_policy="always"),
        row(3, "Soup on Tuesday", retrieval_policy="always"),
    ]
    found = ask(rows, "crane oil schedule harbour")
    assert contents(found) == ["Never touch the crane without gloves", "Crane oil schedule for the harbour crane"]


@pytest.mark.requirement("RP-32", "RK-36")
def test_fusion_takes_ranks_and_never_scores():
    assert fused({}) == 0
    assert fused({Lane.LEXICAL: 1}) > fused({Lane.LEXICAL: 2}) > 0
    assert fused({Lane.LEXICAL: 1, Lane.SEMANTIC: 1}) == 2 * fused({Lane.LEXICAL: 1})
    assert fused({Lane.EXACT: 1, Lane.ALWAYS: 1}) == 0


@pytest.mark.requirement("RK-22", "RK-30", "RK-31")
def test_the_phrase_bonus_is_bounded_and_partial_for_a_retelling():
    assert fused({Lane.LEXICAL: 2, Lane.PHRASE: 1}) > fused({Lane.LEXICAL: 1})
    assert fused({Lane.LEXICAL: 30, Lane.PHRASE: 1}) < fused({Lane.LEXICAL: 1})
    told, retold = (fused({Lane.LEXICAL: 2, Lane.PHRASE: 1}, derived=derived) for derived in (False, True))
    assert fused({Lane.LEXICAL: 2}) < retold < told


@given(st.dictionaries(st.integers(), st.integers(min_value=0, max_value=5), max_size=20))
def test_equal_scores_share_a_rank_and_better_ones_a_better_rank(scores):
    ranks = competition_ranks(scores)
    assert ranks == {key: 1 + sum(other > score for other in scores.values()) for key, score in scores.items()}


@given(st.integers(min_value=1, max_value=10**6), st.integers(min_value=0, max_value=10**6))
def test_a_rarer_term_never_weighs_less(df, extra):
    n = df + extra
    assert idf(df, n) >= idf(df + 1, n) >= 1
    assert term_weight(Profile.OVERLAP, df, n) == term_weight(Profile.OVERLAP, 1, n)


def known(weights: list[int]) -> KnownTerms:
    return KnownTerms(weights={f"term{number}": weight for number, weight in enumerate(weights)}, words=len(weights))


@pytest.mark.requirement("BU-20")
@pytest.mark.parametrize(
    ("weights", "held", "passed"),
    [
        ([5], [5], True),
        ([5, 1], [1], True),
        ([5, 5, 5, 5], [5], True),
        ([5, 5, 5, 5, 5], [5], False),
        ([5, 5, 5, 5, 5], [5, 5], True),
        ([9, 9, 1], [1], False),
        ([9, 9, 1], [9], True),
        ([5] * 200, [5, 5], True),
        ([5] * 200, [5], False),
    ],
    ids=str,
)
def test_a_record_must_hold_a_fifth_of_the_heaviest_known_terms_and_two_of_many(weights, held, passed):
    recall = Recall(lanes={Lane.LEXICAL: 1}, matched_terms=len(held), matched_weight=sum(held))
    assert passes(RelevanceRule(), known(weights), recall) is passed


def test_what_other_lanes_bring_in_is_not_judged_by_its_words():
    terms = known([5] * 6)
    weak = Recall(lanes={Lane.LEXICAL: 9}, matched_terms=1, matched_weight=5)
    assert not passes(RelevanceRule(), terms, weak)
    for lane in (Lane.EXACT, Lane.NAMED, Lane.ALWAYS):
        assert passes(RelevanceRule(), terms, replace(weak, lanes={lane: 1}))
    meant = replace(weak, lanes={Lane.SEMANTIC: 1})
    assert not passes(RelevanceRule(), terms, meant) and passes(RelevanceRule(), terms, replace(meant, near=True))
    assert not passes(RelevanceRule(), terms, replace(weak, lanes={Lane.LEXICAL: 9, Lane.PHRASE: 1}))
    assert passes(RelevanceRule(), terms, weak, policy="always") and passes(RelevanceRule(share=0), terms, weak)
    assert not passes(RelevanceRule(share=0), terms, Recall())


def test_nothing_comes_to_fill_the_packet():
    rows = [
        row(1, "Harbour crane oil schedule for May"),
        row(2, "May is warm"),
        *(row(n, f"Note {n} of May") for n in range(3, 9)),
    ]
    found = ask(rows, "harbour crane oil schedule May")
    assert contents(found) == ["Harbour crane oil schedule for May"]
    assert set(reasons(found).values()) == {"below_relevance"}
    assert len(ask(rows, "May").chosen) == 8


def test_a_word_said_again_counts_more_and_less_than_twice():
    once, twice, often = (term_weight(Profile.IDF, 3, 100, said=times) for times in (1, 2, 10_000))
    assert once < twice < 2 * once and often == 10 * once
    assert term_weight(Profile.OVERLAP, 3, 100, said=5) == term_weight(Profile.OVERLAP, 3, 100)
    rows = [row(1, "The harbour crane"), row(2, "The lamp oil")]
    assert contents(ask(rows, "harbour or lamp? It is the lamp."))[0] == "The lamp oil"
