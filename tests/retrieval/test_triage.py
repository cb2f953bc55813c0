"""The pure rules of triage: what is asked back, what references mean, what the parser can tell, and what no text can do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.retrieval.context import Attachment, Turn
from apps.retrieval.triage.decision import Request, Verdict, triage
from apps.retrieval.triage.vocabulary import Decision, Ground, ParseStatus, TaskType, TimeView
from apps.retrieval.triage.window import CODE_POINTS, TURNS, seen


def turns(*said: str) -> tuple[Turn, ...]:
    return seen([Turn(role=role, content=text) for role, text in (line.split(": ", 1) for line in said)])


def ask(question: str, *said: str, **fields) -> Verdict:
    return triage(Request(question=question, window=turns(*said), **fields))


# -- the question that is asked back


@pytest.mark.requirement("TR-06")
@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("What did she tell him?", "Who do you mean?"),
        ("How is the project going?", "Which project do you mean?"),
        ("Did that ever get fixed?", "Which project, event or thing do you mean?"),
        ("And then?", "What is this about: which person, project or event?"),
        ("What was it like back then?", "Which project, event or thing do you mean?"),
        ("Translate this into French.", "Which text do you mean?"),
        ("那个项目进展如何？", "你指的是哪个项目？"),
        ("她怎么说的？", "你指的是谁？"),
        ("那次吗？", "你指的是哪一次，大概在什么时候？"),
        ("它最后怎么样了？", "你指的是哪个项目、哪件事或哪样东西？"),
        ("后来呢？", "你指的是哪个人、哪个项目或哪件事？"),
        ("that one 最后怎么样了", "你指的是哪个项目、哪件事或哪样东西？"),
        ("把这句话翻译成英文", "你指的是哪段文字？"),
    ],
)
def test_one_short_question_in_the_language_of_the_request_names_what_is_missing(question, says):
    verdict = ask(question)
    assert verdict.decision is Decision.ASK
    assert verdict.clarification == says
    assert sum(says.count(sign) for sign in "?？") == 1


def test_only_asking_carries_a_question():
    assert ask("Where does the lamp stand?").clarification is None
    assert ask("Hello").clarification is None


# -- what references mean


@pytest.mark.requirement("TR-18", "TR-20")
@pytest.mark.parametrize(
    ("question", "said", "means"),
    [
        ("What happened to it?", ["user: The foghorn battery has to be replaced."], "foghorn battery"),
        (
            "What happened to it?",
            ["user: The lamp is warm.", "user: We bought a second-hand dinghy in Holm."],
            "second-hand dinghy",
        ),
        ("Did she agree?", ["user: I asked Marta whether we may use her boathouse."], "Marta"),
        ("How is the project going?", ["user: Let us talk about Project Kestrel and the roof."], "Kestrel"),
        ("它后来怎么样了？", ["user: 雾笛电池要换了。"], "雾笛电池"),
        ("那个呢？", ["user: 我们在霍尔姆买了一条二手小艇。"], "二手小艇"),
        ("And then?", ["assistant: The regatta was cancelled."], "regatta"),
    ],
)
def test_a_reference_means_what_was_talked_about_last(question, said, means):
    verdict = ask(question, *said)
    assert (verdict.decision, verdict.ground) == (Decision.RETRIEVE, Ground.BOUND)
    assert [one.anchor.text for one in verdict.bound] == [means]
    (bound,) = verdict.bound
    assert turns(*said)[bound.turn].content[bound.anchor.start : bound.anchor.end] == means


def test_a_name_in_the_same_words_explains_the_pronoun_behind_it():
    assert ask("What did Anna say about her trip?").unbound == ()
    assert [one.text for one in ask("What did he say about the budget?").unbound] == ["he"]


def test_instructions_of_the_host_are_not_what_was_talked_about():
    assert ask("What happened to it?", "system: You are the assistant of the boat club.").decision is Decision.ASK


@pytest.mark.requirement("TR-20", "TR-21")
def test_the_window_is_cut_in_one_place():
    """Decision and trace both take what `seen` returns; what it leaves out neither of them knows."""
    long = "The foghorn battery. " + "and so on " * CODE_POINTS
    many = [Turn(role="user", content=f"turn {number}") for number in range(TURNS + 3)]
    assert [turn.content for turn in seen(many)] == [f"turn {number}" for number in range(3, TURNS + 3)]
    assert seen([Turn(role="user", content=long)])[0].content == long[-CODE_POINTS:]
    assert (
        triage(Request(question="What happened to it?", window=seen([Turn(role="user", content=long)]))).decision is Decision.ASK
    )


# -- the answer in the window


@pytest.mark.requirement("TR-01")
@pytest.mark.parametrize(
    ("question", "said", "answered"),
    [
        ("Why was the ferry cancelled?", "assistant: The ferry was cancelled because of fog.", True),
        ("Why was the ferry cancelled?", "assistant: The ferry was cancelled on Monday.", False),
        ("When does the ferry leave?", "user: The ferry leaves at 7:40.", True),
        ("When does the ferry leave?", "user: The ferry leaves from pier two.", False),
        ("When does the ferry leave?", "user: Do you know when the ferry leaves?", False),
        ("When does the ferry leave?", "user: I don't know when the ferry leaves, at 7:40 or later.", False),
        ("When does the ferry to Holm leave?", "user: The ferry to Lumen leaves at 7:40.", False),
        ("Does the ferry still leave at 7:40?", "user: The ferry leaves at 7:40 from pier two.", False),
        ("渡轮几点开？", "user: 渡轮7:40从二号码头开。", True),
        ("渡轮几点开？", "user: 我忘了渡轮是不是7:40开。", False),
    ],
)
def test_a_statement_that_holds_the_answer_makes_looking_needless(question, said, answered):
    assert (ask(question, said).ground is Ground.ANSWERED) is answered


# -- attachments


@pytest.mark.requirement("TR-13", "TR-14", "TR-15")
def test_what_was_handed_over_takes_part_word_for_word():
    """The proper phrase of the attachment is what is searched for, not a summary of it."""
    attached = [Attachment(media_type="text/plain", content="还记得我们那次 glacier custard incident 吗")]
    verdict = triage(Request(question="😂", attachments=attached))
    assert verdict.decision is Decision.RETRIEVE and "glacier custard incident" in verdict.handed_over


@pytest.mark.requirement("TR-13")
def test_an_attachment_that_nobody_asks_about_takes_no_part():
    attached = [Attachment(media_type="text/plain", content="Remember the glacier custard incident?")]
    verdict = triage(Request(question="What is 17 times 23?", attachments=attached))
    assert (verdict.decision, verdict.handed_over) == (Decision.SKIP, "")


def test_signs_with_a_neutral_attachment_ask_for_nothing():
    attached = [Attachment(media_type="text/plain", content="A cat on a mat.")]
    assert triage(Request(question="😺", attachments=attached)).decision is Decision.SKIP
    encoded = [Attachment(media_type="image/png", content="iVBORw0KGgo" * 40)]
    assert triage(Request(question="😺", attachments=encoded)).handed_over == ""


# -- names, keys, tasks, other languages


def test_a_known_name_turns_general_knowledge_into_memory():
    assert ask("Explain beekeeping").names_matter
    assert ask("Explain beekeeping", names=["beekeeping"]).decision is Decision.RETRIEVE
    assert not ask("Where does the lamp stand?").names_matter


def test_a_name_in_a_text_to_work_on_says_nothing():
    """Whose text it is does not matter, so looking would only expose what is private (TR-04)."""
    assert ask("Translate into Dutch: beekeeping is hard.", names=["beekeeping"]).ground is Ground.GIVEN_TEXT
    assert ask("Translate the beekeeping note into Dutch: it is hard.", names=["beekeeping"]).decision is Decision.RETRIEVE


def test_a_name_in_other_forms_of_its_words_counts():
    verdict = ask("Explain field-testing", names=["field_test"])
    assert (verdict.decision, next(one.text for one in verdict.anchors)) == (Decision.RETRIEVE, "field_test")


def test_keys_and_labels_beside_the_words_are_anchors():
    assert ask("So how did it turn out?", explicit=True).decision is Decision.RETRIEVE


def test_a_project_explains_the_project_and_nothing_else():
    assert ask("How is the project going?", project=True).decision is Decision.RETRIEVE
    for question in ("And then?", "What was the outcome?", "结果如何？", "So how did it turn out?"):
        assert ask(question, project=True).decision is Decision.ASK


def test_the_task_says_what_the_question_leaves_out():
    task = "Answer the user's question about the field test."
    assert triage(Request(question="So how did it turn out?", task=task)).decision is Decision.RETRIEVE
    assert triage(Request(question="What is 17 times 23?", task=task)).decision is Decision.SKIP


@pytest.mark.parametrize("question", ["それはどうなりましたか？", "그거 어떻게 됐어?", "Что с этим стало?", "ما الذي حدث؟"])
def test_a_language_without_rules_is_retrieved(question):
    assert (ask(question).decision, ask(question).ground) == (Decision.RETRIEVE, Ground.UNREADABLE)


# -- the parser


@pytest.mark.requirement("EL-06")
@pytest.mark.parametrize(
    ("question", "task", "time", "target"),
    [
        ("Which tool did we choose for the field test?", TaskType.LOOKUP, TimeView.PAST, ("event", "field test")),
        ("Why do we deploy on Fridays?", TaskType.REASON, TimeView.CURRENT, ("date", "on Fridays")),
        ("How do I restart the generator?", TaskType.PROCEDURE, TimeView.CURRENT, ("thing", "generator")),
        ("Continue with Python generators.", TaskType.CONTINUATION, TimeView.CURRENT, ("thing", "Python generators")),
        ("Does Petra still work at the aquarium?", TaskType.CHECK, TimeView.CURRENT, ("name", "Petra")),
        ("Summarize what we know about the pump.", TaskType.OVERVIEW, TimeView.CURRENT, ("artefact", "pump")),
        ("上个月我主要用什么语言？", TaskType.LOOKUP, TimeView.PAST, ("artefact", "语言")),
        ("现场测试最终选择了哪种工具，为什么？", TaskType.REASON, TimeView.PAST, ("event", "现场测试")),
        ("Who is looking after the goats next week?", TaskType.LOOKUP, TimeView.FUTURE, ("thing", "goats")),
    ],
)
def test_what_can_be_told_is_told(question, task, time, target):
    parse = ask(question).parse
    assert (parse.status, parse.task_type, parse.time_view) == (ParseStatus.PARSED, task, time)
    assert (parse.target.kind, parse.target.text) == target


@pytest.mark.requirement("EL-06", "EL-08")
@pytest.mark.parametrize(
    ("question", "unresolved"),
    [
        ("zzgrk blorp qwx", ("task_type",)),
        ("What happened to that one?", ("target",)),
        ("What was it like back then?", ("time_view", "target")),
        ("", ("task_type", "target")),
    ],
)
def test_what_cannot_be_told_is_a_fallback(question, unresolved):
    parse = ask(question).parse
    assert (parse.status, parse.unresolved) == (ParseStatus.FALLBACK, unresolved)


@pytest.mark.requirement("TR-22")
def test_without_its_window_a_request_is_read_without_it():
    with_window = ask("What happened to it?", "user: The foghorn battery has to be replaced.")
    assert with_window.parse.status is ParseStatus.PARSED
    assert ask("What happened to it?").parse.unresolved == ("target",)


# -- any text


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=400), st.text(max_size=200), st.text(max_size=200))
def test_any_text_gets_a_decision_and_the_same_one_again(question, task, said):
    request = Request(
        question=question,
        task=task,
        window=turns(f"user: {said}"),
        attachments=[Attachment(media_type="text/plain", content=said)],
    )
    first = triage(request)
    assert triage(request) == first
    assert (first.clarification is not None) == (first.decision is Decision.ASK)
    for bound in first.bound:
        assert bound.anchor.text


@pytest.mark.parametrize(
    "text",
    [
        "a" * 60_000,
        "1 " * 30_000,
        "-" * 60_000,
        "(" * 20_000,
        "的" * 20_000,
        "哈" * 20_000,
        "that " * 10_000,
        '"' * 5_000,
        "x.y" * 10_000,
    ],
)
def test_long_and_odd_texts_are_read_in_one_go(text):
    """Patterns that go back and forth would not end here."""
    assert triage(Request(question=text, window=turns(*[f"user: {text}"] * TURNS))).decision in set(Decision)
