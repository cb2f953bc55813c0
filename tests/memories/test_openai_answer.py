"""What a model answers is looked at like a request of somebody hostile: rules without a server and without a database."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.memories.extractors.base import EVENT, FORBIDDEN_MATERIAL, SUBJECT, TASK_SCOPED, SourceText, Unusable
from apps.memories.extractors.guarding import guarded
from apps.memories.extractors.openai_compatible.answer import proposals_of
from apps.memories.extractors.openai_compatible.prompt import FIELDS
from apps.memories.extractors.openai_compatible.vocabulary import KNOWN, MOST_MEMORIES
from tests.memories.model_server import envelope, memory

AT = datetime(2024, 1, 2, tzinfo=UTC)
TEXT = "I live by the sea in Whitby these days. My sister hates tea. 我们的仓库用的是 PostgreSQL，因为它稳定。"
SEA = "I live by the sea in Whitby these days."


def said(text: str = TEXT, source_type: str = "user_message") -> SourceText:
    return SourceText(text=text, source_type=source_type, occurred_at=AT)


def read(*items: object, source: SourceText | None = None):
    source = source or said()
    return proposals_of(json.dumps(envelope({"memories": list(items)})).encode(), source, source.text)


def one(item: object, **fields: object):
    (found,) = read(item, **fields).proposals
    return found


# -- what is taken up


def test_known_keys_are_those_of_the_rules():
    found = one(memory("I live by the sea in Whitby", key="residence", subject=""))
    assert (found.fact_key, found.memory_type, found.belongs_to, found.epistemic_status) == (
        "residence",
        "fact",
        SUBJECT,
        "explicit",
    )
    assert set(KNOWN.values()) == {"preference", "fact"}


@pytest.mark.parametrize(("quote", "whole"), [("sister hates tea", "My sister hates tea."), ("hates", "My sister hates tea.")])
def test_a_quote_is_taken_with_its_whole_sentence(quote, whole):
    assert one(memory(quote, subject="sister drinks")).content == whole


def test_a_part_cannot_turn_a_sentence_into_its_opposite():
    source = said("I do not like tea.")
    assert one(memory("like tea", kind="preference", subject="hot drinks"), source=source).content == "I do not like tea."


def test_reasons_are_quotes_as_well():
    item = memory(
        "仓库用的是 PostgreSQL", kind="decision", subject="warehouse database", reason="因为它稳定", about_the_speaker=False
    )
    found = one(item)
    assert (found.content, found.rationale, found.belongs_to) == (
        "我们的仓库用的是 PostgreSQL，因为它稳定。",
        "因为它稳定",
        EVENT,
    )
    assert read({**item, "reason": "because everybody says so"}).refused == 1


def test_a_guess_is_an_inference_and_a_finding_never_more_than_provisional():
    guess = one(memory(SEA, standing="guessed"))
    finding = one(memory(SEA, kind="finding", subject="sea air"))
    assert guess.epistemic_status == "inferred"
    assert (finding.epistemic_status, finding.verdict) == ("inferred", "provisional")


def test_what_holds_for_this_task_alone_says_so():
    assert one(memory(SEA, only_for_this_task=True)).marks == {TASK_SCOPED}


@pytest.mark.parametrize(
    ("text", "whose"),
    [("我住在海边。", SUBJECT), ("我们用的是 Kafka。", EVENT), ("My flat is cold.", SUBJECT), ("We use Kafka.", EVENT)],
)
def test_who_speaks_of_himself_does_not_share_it_whatever_the_model_says(text, whose):
    assert one(memory(text, about_the_speaker=False), source=said(text)).belongs_to == whose


def test_a_goal_is_looked_at_again_when_its_time_has_come():
    text = "My goal is to finish the boat by 2025-06-01."
    assert one(memory(text, kind="goal", subject="boat"), source=said(text)).expected_resolution_at == datetime(
        2025, 6, 1, tzinfo=UTC
    )


# -- what is refused


BROKEN = {
    "not in the text": memory("I live in Paris"),
    "empty": memory(""),
    "blank": memory("  "),
    "between two sentences": memory("."),
    "another kind": memory(SEA, kind="episodic"),
    "unknown kind": memory(SEA, kind="truth"),
    "unknown key": memory(SEA, key="assistant.obedience"),
    "key of another kind": memory(SEA, key="assistant.reply_language"),
    "known key of somebody else": memory(SEA, key="residence", about_the_speaker=False),
    "unknown standing": memory(SEA, standing="validated"),
    "subject of nothing": memory(SEA, subject="--"),
    "no subject": memory(SEA, subject=""),
    "long subject": memory(SEA, subject="word " * 30),
    "subject of several lines": memory(SEA, subject="a\nb"),
    "hidden characters in the subject": memory(SEA, subject="sea\u202eside"),
    "a key as subject": memory(SEA, subject="ghp_" + "Zk3rQ8vNw1" * 4),
    "a password as subject": memory(SEA, subject="password: hunter2"),
    "no boolean": memory(SEA, about_the_speaker="yes"),
    "no boolean either": memory(SEA, only_for_this_task=1),
    "empty reason": memory(SEA, reason=" "),
    "a number as reason": memory(SEA, reason=5),
    "foreign ids": {**memory(SEA), "source_event_ids": ["evt-of-somebody-else"]},
    "another scope": {**memory(SEA), "scope": "organization"},
    "a memory to supersede": {**memory(SEA), "relations": [{"type": "supersedes", "memory_id": "mem_1"}]},
    "a field less": {name: value for name, value in memory(SEA).items() if name != "reason"},
    "a quote that is none": memory(SEA) | {"quote": ["a"]},
    "a string": SEA,
    "nothing": None,
    "a list": [memory(SEA)],
}


@pytest.mark.requirement("CA-22")
@pytest.mark.parametrize("name", BROKEN)
def test_a_proposal_that_breaks_a_rule_is_dropped_and_counted(name):
    found = read(BROKEN[name], memory("My sister hates tea.", subject="sister drinks"))
    assert [one.content for one in found.proposals] == ["My sister hates tea."] and found.refused == 1


def test_the_same_thing_twice_is_proposed_once():
    found = read(memory(SEA), memory(SEA), memory("My sister hates tea."))
    assert len(found.proposals) == 1 and found.refused == 2  # one key, one value


def test_no_more_than_a_few_are_taken_of_one_text():
    text = " ".join(f"The box number {number} is red." for number in range(40))
    found = read(*(memory(f"The box number {n} is red.", subject=f"box {n}") for n in range(40)), source=said(text))
    assert len(found.proposals) == MOST_MEMORIES and found.refused == 40 - MOST_MEMORIES


def test_many_sentences_are_no_statement():
    text = "One is red. Two is red. Three is red. Four is red."
    assert read(memory(text), source=said(text)).refused == 1
    long = "The house " + "very " * 150 + "old is red."
    assert read(memory(long), source=said(long)).refused == 1


@pytest.mark.parametrize(
    ("source_type", "kind"),
    [("document", "fact"), ("document", "decision"), ("import", "preference"), ("decision_log", "finding")],
)
def test_a_source_gives_only_its_own_kinds(source_type, kind):
    assert read(memory(SEA, kind=kind), source=said(TEXT, source_type)).refused == 1


@pytest.mark.parametrize(
    ("source_type", "best"), [("document", "observed"), ("import", "observed"), ("decision_log", "explicit")]
)
def test_a_statement_is_no_surer_than_its_source(source_type, best):
    source = said("The gate is open.", source_type)
    found = read(memory("The gate is open.", kind="state", about_the_speaker=False), source=source)
    assert found.proposals[0].epistemic_status == best


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3), max_leaves=4
)
ITEMS = st.dictionaries(
    st.sampled_from((*FIELDS, "scope", "id")), VALUES | st.sampled_from((SEA, "fact", "other", "residence", "said")), max_size=10
)


@settings(max_examples=200, deadline=None)
@given(st.lists(ITEMS | VALUES, max_size=30))
def test_whatever_is_answered_is_a_quote_or_refused(items):
    found = read(*items)
    assert len(found.proposals) + found.refused == len(items)
    assert all(TEXT[one.start : one.start + one.length] == one.content for one in found.proposals)


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=60)
    | VALUES.map(lambda value: json.dumps(value).encode())
    | VALUES.map(lambda value: json.dumps(envelope(value)).encode())
)
def test_whatever_is_no_answer_is_said_to_be_none(body):
    try:
        found = proposals_of(body, said(), TEXT)
    except Unusable:
        return
    assert found.proposals == ()


# -- held against the text by the rules


def guard(text: str, *items: object, source_type: str = "user_message", read_by_rules: bool = False):
    source = said(text, source_type)
    return guarded(source, read(*items, source=source), read_by_rules=read_by_rules)


@pytest.mark.requirement("CA-14", "ID-32")
@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("If I lived in Oslo, I would ski.", "I lived in Oslo"),
        ("Do I live in Oslo?", "I live in Oslo"),
        ("She said “I live in Oslo” to him. I was there.", "I live in Oslo"),
        ("> I live in Oslo now.", "I live in Oslo now."),
        ("```\nI live in Oslo now.\n```", "I live in Oslo now."),
        ("I live on the moon. Just kidding!", "I live on the moon."),
        ("如果我住在奥斯陆，我会滑雪。", "我住在奥斯陆"),
        ("我住在奥斯陆吗？", "我住在奥斯陆"),
    ],
)
def test_what_the_text_does_not_state_is_no_memory(text, quote):
    found = guard(text, memory(quote))
    assert [one for one in found.proposals if "slo" in one.content or "moon" in one.content or "奥斯陆" in one.content] == [] or (
        found.proposals[0].content.startswith("She said")  # the sentence itself is a statement, and stays a quotation
    )


@pytest.mark.requirement("CA-12", "CA-06")
@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Write this report in English.", TASK_SCOPED),
        ("这次报告用英文。", TASK_SCOPED),
        ("My password is [redacted:password].", FORBIDDEN_MATERIAL),
    ],
)
def test_what_the_rules_see_in_a_sentence_stays_with_it(text, mark):
    found = guard(text, memory(text, kind="preference", subject="language"), read_by_rules=True)
    assert [mark in one.marks for one in found.proposals] == [True]


def test_what_the_rules_have_read_is_theirs():
    text = "I work as a carpenter. The shed is painted green."
    items = (memory("I work as a carpenter.", subject="work"), memory("The shed is painted green."))
    assert [one.content for one in guard(text, *items, read_by_rules=True).proposals] == ["The shed is painted green."]
    assert len(guard(text, *items).proposals) == 2


def test_an_extractor_that_makes_words_up_is_not_believed():
    """Whatever comes from outside, not only from this extractor."""
    source = said("The shed is painted green.")
    honest = read(memory("The shed is painted green."), source=source)
    (good,) = honest.proposals
    for change in (
        {"content": "The shed is painted red."},
        {"start": 3},
        {"start": -1},
        {"length": 0},
        {"memory_type": "truth"},
        {"epistemic_status": "certain"},
        {"verdict": "proved"},
        {"retrieval_policy": "always"},
        {"rationale": "because I say so"},
    ):
        found = guarded(source, replace(honest, proposals=(replace(good, **change),)), read_by_rules=False)
        assert (found.proposals, found.refused) == ((), 1), change
    sure = replace(honest, proposals=(replace(good, epistemic_status="validated"),) * 80)
    found = guarded(source, sure, read_by_rules=False)
    assert {one.epistemic_status for one in found.proposals} == {"inferred"} and len(found.proposals) == 50
